//! What becomes of a provider's reply: text, calls, usage, why it stopped, and the raw message for replay.

use deskhand_core::history::Wire;
use deskhand_core::model::{Stop, Usage};
use serde_json::{Value, json};

use super::fake::{Provider, named, plain, streamed, unnamed};
use super::{client, request};

fn start() -> Value {
    json!({"type": "message_start", "message": {"usage": {
        "input_tokens": 10, "cache_read_input_tokens": 1500, "cache_creation_input_tokens": 7, "output_tokens": 1,
    }}})
}

fn ends(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 33}}),
        json!({"type": "message_stop"}),
    ]
}

fn begins(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn goes_on(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn thinking_text_and_calls() -> Vec<Value> {
    let mut events = vec![
        start(),
        begins(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        goes_on(0, json!({"type": "thinking_delta", "thinking": "A refund"})),
        goes_on(0, json!({"type": "thinking_delta", "thinking": ", then."})),
        goes_on(0, json!({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})),
        json!({"type": "ping"}),
        begins(1, json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        begins(2, json!({"type": "text", "text": ""})),
        goes_on(2, json!({"type": "text_delta", "text": "退"})),
        goes_on(2, json!({"type": "text_delta", "text": "款: let me look."})),
        begins(
            3,
            json!({"type": "tool_use", "id": "toolu_1", "name": "lookup_order", "input": {}}),
        ),
        goes_on(
            3,
            json!({"type": "input_json_delta", "partial_json": "{\"order_id\": \"47"}),
        ),
        goes_on(3, json!({"type": "input_json_delta", "partial_json": "11\"}"})),
        begins(4, json!({"type": "text", "text": ""})),
        begins(6, json!({"type": "text", "text": "And"})),
        goes_on(6, json!({"type": "text_delta", "text": " the rest."})),
        begins(
            5,
            json!({"type": "tool_use", "id": "toolu_2", "name": "list_tickets", "input": {}}),
        ),
        json!({"type": "something_new", "of": "tomorrow"}),
    ];
    events.extend(ends("tool_use"));
    events
}

#[tokio::test]
async fn anthropic_blocks_become_text_and_calls_and_are_kept_for_replay() {
    let stream = named(&thinking_text_and_calls());
    let with_crlf = format!(": a comment\r\n\r\n{}", stream.replace('\n', "\r\n"));
    for stream in [stream, with_crlf] {
        for size in [3, 4096] {
            let provider = Provider::start([streamed(stream.as_bytes(), size)]).await;
            let mut text = String::new();
            let reply = client(Wire::Anthropic, &provider.base)
                .reply(&request(), &mut text)
                .await
                .expect("a reply");
            assert_eq!(reply.text, "退款: let me look.\n\nAnd the rest.");
            assert_eq!(text, reply.text);
            let calls: Vec<_> = reply
                .calls
                .iter()
                .map(|call| (&*call.id, &*call.name, call.args.clone()))
                .collect();
            let expected = [
                ("toolu_1", "lookup_order", json!({"order_id": "4711"})),
                ("toolu_2", "list_tickets", json!({})),
            ];
            assert_eq!(calls, expected);
            assert_eq!(reply.stop, Stop::Calls);
            let usage = Usage {
                input: 10,
                output: 33,
                cache_read: 1500,
                cache_write: 7,
            };
            assert_eq!(reply.usage, usage);
            let raw = reply.raw.expect("a raw message");
            assert_eq!(raw.provider, "anthropic");
            let expected = json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "A refund, then.", "signature": "c2lnbmF0dXJl"},
                {"type": "redacted_thinking", "data": "b3BhcXVl"},
                {"type": "text", "text": "退款: let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "lookup_order", "input": {"order_id": "4711"}},
                {"type": "tool_use", "id": "toolu_2", "name": "list_tickets", "input": {}},
                {"type": "text", "text": "And the rest."},
            ]});
            assert_eq!(raw.message, expected);
        }
    }
}

#[tokio::test]
async fn a_reply_that_ran_out_of_tokens_says_so_and_keeps_what_was_written() {
    let mut events = vec![
        start(),
        begins(
            0,
            json!({"type": "tool_use", "id": "toolu_1", "name": "reply_customer", "input": {}}),
        ),
        goes_on(
            0,
            json!({"type": "input_json_delta", "partial_json": "{\"text\": \"Dear A"}),
        ),
    ];
    events.extend(ends("max_tokens"));
    let provider = Provider::start([streamed(named(&events).as_bytes(), 50)]).await;
    let reply = client(Wire::Anthropic, &provider.base)
        .reply(&request(), &mut ())
        .await
        .expect("a reply");
    assert_eq!(reply.stop, Stop::Length);
    assert_eq!(reply.calls[0].args, json!("{\"text\": \"Dear A"));
    let replayed = &reply.raw.expect("a raw message").message["content"][0]["input"];
    assert!(replayed.is_object(), "Anthropic takes objects only: {replayed}");
}

#[tokio::test]
async fn reasons_to_stop_are_told_apart() {
    for (reason, expected) in [
        ("end_turn", Stop::EndOfTurn),
        ("stop_sequence", Stop::EndOfTurn),
        ("refusal", Stop::Refusal),
        ("model_context_window_exceeded", Stop::Length),
        ("a_new_reason", Stop::EndOfTurn),
    ] {
        let mut events = vec![start(), begins(0, json!({"type": "text", "text": "ok"}))];
        events.extend(ends(reason));
        let provider = Provider::start([streamed(named(&events).as_bytes(), 64)]).await;
        let reply = client(Wire::Anthropic, &provider.base)
            .reply(&request(), &mut ())
            .await
            .expect("a reply");
        assert_eq!((reply.stop, &*reply.text), (expected, "ok"), "{reason}");
    }
    for (reason, expected) in [
        ("stop", Stop::EndOfTurn),
        ("length", Stop::Length),
        ("content_filter", Stop::Refusal),
        ("tool_calls", Stop::EndOfTurn),
    ] {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": reason}]});
        let provider = Provider::start([streamed(unnamed(&[chunk]).as_bytes(), 64)]).await;
        let reply = client(Wire::OpenAi, &provider.base)
            .reply(&request(), &mut ())
            .await
            .expect("a reply");
        assert_eq!((reply.stop, &*reply.text), (expected, "ok"), "{reason}");
    }
}

#[tokio::test]
async fn compatible_servers_may_leave_out_numbers_ids_and_the_end_mark() {
    let delta = |delta: Value| json!({"choices": [{"delta": delta, "finish_reason": null}]});
    let stream = unnamed(&[
        json!({"choices": [], "prompt_filter_results": []}),
        delta(json!({"role": "assistant", "content": null})),
        delta(json!({"tool_calls": [{"function": {"name": "lookup_order", "arguments": "{\"order_id\": \"4711\"}"}}]})),
        delta(json!({"tool_calls": [{"function": {"name": "set_priority", "arguments": "not json"}}]})),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 64}}}),
    ]);
    let provider = Provider::start([streamed(stream.as_bytes(), 11)]).await;
    let reply = client(Wire::OpenAi, &provider.base)
        .reply(&request(), &mut ())
        .await
        .expect("a reply");
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| (&*call.id, &*call.name, call.args.clone()))
        .collect();
    let expected = [
        ("call_1", "lookup_order", json!({"order_id": "4711"})),
        ("call_2", "set_priority", json!("not json")),
    ];
    assert_eq!(calls, expected);
    assert_eq!(reply.stop, Stop::Calls, "calls count, whatever the reason says");
    assert_eq!(
        (reply.usage.input, reply.usage.cache_read, reply.usage.output),
        (36, 64, 6)
    );
    let message = reply.raw.expect("a raw message").message;
    assert_eq!(
        message["tool_calls"][0]["function"]["arguments"], "{\"order_id\": \"4711\"}",
        "as it was written"
    );
    assert_eq!(
        message["tool_calls"][1]["function"]["arguments"],
        "{\"unparsed\":\"not json\"}"
    );
}

#[tokio::test]
async fn a_refusal_in_its_own_field_is_the_text() {
    let chunks = [
        json!({"choices": [{"index": 0, "delta": {"refusal": "I cannot do that."}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ];
    let provider = Provider::start([streamed(unnamed(&chunks).as_bytes(), 64)]).await;
    let reply = client(Wire::OpenAi, &provider.base)
        .reply(&request(), &mut ())
        .await
        .expect("a reply");
    assert_eq!((reply.stop, &*reply.text), (Stop::Refusal, "I cannot do that."));
}

#[tokio::test]
async fn a_nul_character_is_replaced_since_no_database_keeps_it() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a\u{0}b", "tool_calls": [
        {"index": 0, "id": "c", "function": {"name": "x", "arguments": "{\"n\": \"\\u0000\"}"}},
    ]}, "finish_reason": "tool_calls"}]});
    let provider = Provider::start([streamed(unnamed(&[chunk]).as_bytes(), 64)]).await;
    let reply = client(Wire::OpenAi, &provider.base)
        .reply(&request(), &mut ())
        .await
        .expect("a reply");
    assert_eq!(reply.text, "a\u{fffd}b");
    assert_eq!(reply.calls[0].args, json!({"n": "\u{fffd}"}));
}

#[tokio::test]
async fn the_models_on_offer_are_read_from_all_pages() {
    let page = |ids: &[&str], more: bool| {
        let data: Vec<Value> = ids.iter().map(|id| json!({"type": "model", "id": id})).collect();
        let page = json!({"data": data, "has_more": more, "last_id": ids.last()});
        plain(200, "application/json", &page.to_string(), &[])
    };
    let provider = Provider::start([page(&["model-b", "model-a"], true), page(&["model-c"], false)]).await;
    let offered = client(Wire::Anthropic, &provider.base).offered().await.expect("a list");
    assert_eq!(offered, ["model-a", "model-b", "model-c"]);
    let asked: Vec<String> = provider.seen().iter().map(|seen| seen.uri.to_string()).collect();
    assert_eq!(
        asked,
        ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=model-a"]
    );

    let list = json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}]}).to_string();
    let provider = Provider::start([plain(200, "application/json", &list, &[])]).await;
    assert_eq!(
        client(Wire::OpenAi, &provider.base).offered().await.expect("a list"),
        ["a", "b"]
    );
    assert_eq!(provider.seen()[0].uri, "/v1/models");
}
