//! What is no reply: cut-off streams, errors within streams, silence, pages of gateways, and a caller who goes away.

use std::time::Duration;

use axum::body::{Body, Bytes};
use deskhand_adapters::llm::Limits;
use deskhand_core::history::Wire;
use deskhand_core::port::ModelError;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};

use super::fake::{Provider, events, named, plain, stalled, streamed, unnamed};
use super::{KEY, WORDS, client, limited, request};

const WIRES: [Wire; 2] = Wire::ALL;

async fn error_of(wire: Wire, answer: axum::response::Response) -> ModelError {
    let provider = Provider::start([answer]).await;
    client(wire, &provider.base)
        .reply(&request(), &mut ())
        .await
        .expect_err("no reply")
}

fn is_transient(error: &ModelError) -> bool {
    matches!(error, ModelError::Transient { .. })
}

fn half_a_reply(wire: Wire) -> String {
    match wire {
        Wire::Anthropic => named(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block":
                {"type": "tool_use", "id": "toolu_1", "name": "reply_customer", "input": {}}}),
        ]),
        Wire::OpenAi => unnamed(&[json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": 0, "id": "call_1", "function": {"name": "reply_customer", "arguments": "{}"}},
        ]}}]})]),
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_never_a_reply() {
    for wire in WIRES {
        let half = half_a_reply(wire);
        assert!(is_transient(&error_of(wire, streamed(half.as_bytes(), 64)).await));
        assert!(is_transient(&error_of(wire, streamed(b"", 64)).await));
        let in_an_event = format!("{half}data: {{\"type\": \"mess");
        assert!(is_transient(
            &error_of(wire, streamed(in_an_event.as_bytes(), 64)).await
        ));
        let with_end_mark = format!("{half}data: [DONE]\n\n");
        assert!(is_transient(
            &error_of(Wire::OpenAi, streamed(with_end_mark.as_bytes(), 64)).await
        ));
        let broken = stream::iter([Ok(Bytes::from(half)), Err(std::io::Error::other("the cable"))]);
        assert!(is_transient(&error_of(wire, events(Body::from_stream(broken))).await));
    }
    let no_reason = named(&[
        json!({"type": "message_start", "message": {}}),
        json!({"type": "message_stop"}),
    ]);
    assert!(is_transient(
        &error_of(Wire::Anthropic, streamed(no_reason.as_bytes(), 64)).await
    ));
}

#[tokio::test]
async fn an_error_in_the_stream_is_judged_like_any_other() {
    let after_half = |wire, error: Value| {
        let tail = if wire == Wire::Anthropic {
            named(&[error])
        } else {
            unnamed(&[error])
        };
        streamed(format!("{}{tail}", half_a_reply(wire)).as_bytes(), 64)
    };
    let told = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let error = error_of(
        Wire::Anthropic,
        after_half(Wire::Anthropic, told("overloaded_error", "Overloaded")),
    )
    .await;
    assert!(
        is_transient(&error) && error.to_string().contains("overloaded_error"),
        "{error}"
    );
    let long = told("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum");
    let error = error_of(Wire::Anthropic, after_half(Wire::Anthropic, long)).await;
    assert!(matches!(error, ModelError::TooLong { .. }), "{error}");
    let vllm = json!({"object": "error", "message": "no such thing", "type": "BadRequestError", "code": 400});
    let error = error_of(Wire::OpenAi, after_half(Wire::OpenAi, vllm)).await;
    assert!(matches!(error, ModelError::Permanent { .. }), "{error}");
    let gateway =
        json!({"error": {"code": 502, "message": "upstream"}, "choices": [{"delta": {}, "finish_reason": "error"}]});
    assert!(is_transient(
        &error_of(Wire::OpenAi, after_half(Wire::OpenAi, gateway)).await
    ));
}

#[tokio::test]
async fn silence_is_an_error_while_the_reply_is_open() {
    let limits = Limits {
        idle: Duration::from_millis(100),
        ..Limits::default()
    };
    for wire in WIRES {
        let provider = Provider::start([stalled(&half_a_reply(wire))]).await;
        let error = limited(wire, &provider.base, limits)
            .reply(&request(), &mut ())
            .await
            .expect_err("silence");
        assert!(is_transient(&error) && error.to_string().contains("silent"), "{error}");
    }
    // Pings are signs of life, but not for ever.
    let pings = stream::repeat_with(|| {
        Ok::<_, std::io::Error>(Bytes::from_static(b"event: ping\ndata: {\"type\": \"ping\"}\n\n"))
    });
    let pings = pings.then(async |ping| {
        tokio::task::yield_now().await;
        ping
    });
    let limits = Limits {
        whole: Duration::from_millis(100),
        reply_bytes: usize::MAX,
        ..Limits::default()
    };
    let provider = Provider::start([events(Body::from_stream(pings))]).await;
    let error = limited(Wire::Anthropic, &provider.base, limits)
        .reply(&request(), &mut ())
        .await
        .expect_err("pings");
    assert!(is_transient(&error), "{error}");
}

#[tokio::test]
async fn a_connection_left_open_after_the_reply_does_not_spoil_it() {
    let limits = Limits {
        idle: Duration::from_millis(100),
        ..Limits::default()
    };
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]});
    let provider = Provider::start([stalled(&unnamed(&[chunk]))]).await;
    let reply = limited(Wire::OpenAi, &provider.base, limits)
        .reply(&request(), &mut ())
        .await
        .expect("a reply");
    assert_eq!(reply.text, "ok");
}

#[tokio::test]
async fn a_page_instead_of_an_answer_is_told_in_our_words() {
    let page = "<html><body>nginx is unhappy</body></html>";
    for wire in WIRES {
        let error = error_of(wire, plain(502, "text/html", page, &[("retry-after", "7")])).await;
        assert!(
            matches!(&error, ModelError::Transient { retry_after: Some(wait), .. } if wait.as_secs() == 7),
            "{error:?}"
        );
        assert!(!error.to_string().contains("nginx"), "{error}");
        let error = error_of(wire, plain(200, "text/html", page, &[])).await;
        assert!(
            matches!(&error, ModelError::Permanent { why } if why.contains("_BASE_URL")),
            "{error}"
        );
        let error = error_of(
            wire,
            plain(307, "text/html", page, &[("location", "http://elsewhere.example/")]),
        )
        .await;
        assert!(
            matches!(&error, ModelError::Permanent { why } if why.contains("_BASE_URL")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_wrong_key_or_model_names_the_setting() {
    for (wire, key) in [(Wire::Anthropic, "ANTHROPIC_API_KEY"), (Wire::OpenAi, "OPENAI_API_KEY")] {
        for status in [401, 403] {
            let error = error_of(wire, plain(status, "application/json", "{}", &[])).await;
            assert!(
                matches!(&error, ModelError::Permanent { why } if why.contains(key)),
                "{error}"
            );
        }
        let error = error_of(wire, plain(404, "application/json", "{}", &[])).await;
        assert!(error.to_string().contains("DESKHAND_MODEL"), "{error}");
    }
}

#[tokio::test]
async fn no_error_repeats_the_key_or_the_request() {
    for wire in WIRES {
        for status in [400, 401, 403, 404, 413, 422, 429, 500] {
            let message = format!("Cannot validate {{'input': '{WORDS}'}} of Bearer {KEY}");
            let body = json!({"error": {"type": "invalid_request_error", "message": message}}).to_string();
            let shown = format!(
                "{:?}",
                error_of(wire, plain(status, "application/json", &body, &[])).await
            );
            assert!(!shown.contains("Ada") && !shown.contains("4f0c1d77a9"), "{shown}");
        }
    }
}

#[tokio::test]
async fn a_reply_without_bounds_is_given_up() {
    for (wire, event) in [
        (Wire::Anthropic, "data: {\"type\": \"ping\"}\n\n"),
        (Wire::OpenAi, "data: {\"choices\": []}\n\n"),
    ] {
        let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(Bytes::from_static(event.as_bytes())));
        let error = error_of(wire, events(Body::from_stream(endless))).await;
        assert!(
            matches!(&error, ModelError::Permanent { why } if why.contains("larger")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_place_where_nobody_listens_is_a_transient_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let error = client(Wire::Anthropic, &base)
        .reply(&request(), &mut ())
        .await
        .expect_err("nobody");
    assert!(
        is_transient(&error) && error.to_string().contains("ANTHROPIC_BASE_URL"),
        "{error}"
    );
    assert!(
        !error.to_string().contains(&base),
        "addresses may hold secrets: {error}"
    );
}

/// Tells when it is dropped: when the server noticed that nobody reads any more.
struct Noticed(Option<tokio::sync::oneshot::Sender<()>>);

impl Drop for Noticed {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

#[tokio::test]
async fn dropping_the_future_ends_the_request() {
    struct Began(Option<tokio::sync::oneshot::Sender<()>>);
    impl deskhand_core::port::Sink for Began {
        fn text(&mut self, _delta: &str) {
            if let Some(sender) = self.0.take() {
                let _ = sender.send(());
            }
        }
    }
    let (noticed, is_noticed) = tokio::sync::oneshot::channel();
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let guard = Noticed(Some(noticed));
    let chunk = unnamed(&[json!({"choices": [{"index": 0, "delta": {"content": "ok"}}]})]);
    let silence = stream::pending::<Result<Bytes, std::io::Error>>().map(move |chunk| {
        let _held_until_dropped = &guard;
        chunk
    });
    let body = stream::iter([Ok(Bytes::from(chunk))]).chain(silence);
    let provider = Provider::start([events(Body::from_stream(body))]).await;
    let model = client(Wire::OpenAi, &provider.base);
    let asking = tokio::spawn(async move { model.reply(&request(), &mut Began(Some(began))).await.map(|_| ()) });
    has_begun.await.expect("the reply begins");
    asking.abort();
    is_noticed.await.expect("the server notices");
}
