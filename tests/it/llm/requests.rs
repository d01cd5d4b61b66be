//! What is sent: valid by the providers' own schemas, paired, marked for the caches, and stable within a run.

use std::path::PathBuf;

use deskhand_core::history::Wire;
use deskhand_core::model::{Answer, Call, ModelReply, ModelRequest, Part, RawReply, Stop, TicketBrief, Turn};
use deskhand_core::ticket::Author;
use serde_json::{Value, json};

use super::fake::{Provider, Seen, plain};
use super::{KEY, client, request};

/// Sends a request; the answer does not matter here.
async fn sent(wire: Wire, request: &ModelRequest) -> Seen {
    let provider = Provider::start([plain(500, "application/json", "{}", &[])]).await;
    client(wire, &provider.base)
        .reply(request, &mut ())
        .await
        .expect_err("no reply");
    provider.seen().remove(0)
}

fn call(id: &str, args: Value) -> Call {
    Call {
        id: id.to_owned(),
        name: "lookup_order".to_owned(),
        args,
    }
}

fn said(text: &str, calls: Vec<Call>, raw: Option<(&str, Value)>) -> Turn {
    Turn::Said(ModelReply {
        text: text.to_owned(),
        stop: if calls.is_empty() { Stop::EndOfTurn } else { Stop::Calls },
        calls,
        raw: raw.map(|(provider, message)| RawReply {
            provider: provider.to_owned(),
            message,
        }),
        ..ModelReply::default()
    })
}

fn answer(id: &str, text: &str, failed: bool) -> Answer {
    Answer {
        call_id: id.to_owned(),
        name: "lookup_order".to_owned(),
        text: text.to_owned(),
        failed,
    }
}

fn thoughts() -> Value {
    json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "I look.", "citations": null},
        {"type": "tool_use", "id": "toolu_1", "name": "lookup_order", "input": {"order_id": "1"}, "caller": {"type": "direct"}},
    ]})
}

/// A run with everything in it: fenced parts, raw replies, a crash, foreign and repeated ids, broken arguments.
fn eventful() -> ModelRequest {
    let mut request = request();
    let openai = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "lookup_order", "arguments": "{ \"order_id\":\"2\"}"}},
    ]});
    request.turns = vec![
        Turn::Told(vec![
            Part::Ticket(TicketBrief {
                number: "T-1001".to_owned(),
                source: "zendesk".to_owned(),
                subject: "Refund".to_owned(),
                requester: "Ada".to_owned(),
                state: "new".to_owned(),
                triage: None,
                automatic: false,
            }),
            Part::Comment {
                author: Author::Requester,
                author_name: "Ada".to_owned(),
                public: true,
                body: "退款?".to_owned(),
            },
        ]),
        said(
            "I look.",
            vec![call("toolu_1", json!({"order_id": "1"}))],
            Some(("anthropic", thoughts())),
        ),
        Turn::Outcomes(vec![answer("toolu_1", "shipped", false)]),
        said(
            "",
            vec![call("call_1", json!({"order_id": "2"}))],
            Some(("openai", openai)),
        ),
        Turn::Outcomes(vec![answer("call_1", "No order 2.", true)]),
        said(
            "",
            vec![
                call("call:1", json!("{\"bro")),
                call("call_1", json!(null)),
                call("", json!([1])),
            ],
            None,
        ),
        Turn::Told(vec![Part::Text("The run was interrupted; go on.".to_owned())]),
    ];
    request
}

fn schema_faults(file: &str, schema: &str, body: &Value) -> Option<Vec<String>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts/api-specs")).join(file);
    let Ok(spec) = std::fs::read(path) else {
        println!("skipped: ../shared is not there");
        return None;
    };
    let spec: Value = serde_json::from_slice(&spec).expect("a specification");
    let schema = json!({"$ref": format!("#/components/schemas/{schema}"), "components": spec["components"]});
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    Some(
        validator
            .iter_errors(body)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
    )
}

#[tokio::test]
async fn requests_are_valid_by_the_providers_own_schemas() {
    for (wire, file, schema) in [
        (
            Wire::Anthropic,
            "anthropic_messages_openapi.trimmed.json",
            "CreateMessageParams",
        ),
        (
            Wire::OpenAi,
            "openai_chat_completions_openapi.trimmed.json",
            "CreateChatCompletionRequest",
        ),
    ] {
        for request in [request(), eventful()] {
            let body = sent(wire, &request).await.json();
            let Some(faults) = schema_faults(file, schema, &body) else {
                return;
            };
            assert_eq!(faults, [""; 0], "{body:#}");
            let Some(faults) = schema_faults(file, schema, &json!({"model": 1})) else {
                return;
            };
            assert!(!faults.is_empty(), "the schema refuses something");
        }
    }
}

#[tokio::test]
async fn anthropic_is_asked_with_its_headers_and_cache_marks() {
    let seen = sent(Wire::Anthropic, &eventful()).await;
    assert_eq!(
        (seen.method.as_str(), seen.uri.to_string().as_str()),
        ("POST", "/v1/messages")
    );
    assert_eq!(seen.headers["x-api-key"], KEY);
    assert_eq!(seen.headers["anthropic-version"], "2023-06-01");
    let body = seen.json();
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["stream"]),
        (&json!("some-model"), &json!(1024), &json!(true))
    );
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["tools"][1]["cache_control"], mark);
    let messages = body["messages"].as_array().expect("messages");
    let last = messages.last().expect("a message")["content"]
        .as_array()
        .expect("blocks");
    assert_eq!(last.last().expect("a block")["cache_control"], mark);
    assert_eq!(
        seen.body.windows(15).filter(|w| w == b"\"cache_control\"").count(),
        3,
        "Anthropic takes four at most"
    );
}

#[tokio::test]
async fn anthropic_gets_its_own_message_back_as_it_was_and_outcomes_first() {
    let body = sent(Wire::Anthropic, &eventful()).await.json();
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().expect("a role"))
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    );
    assert_eq!(messages[1], thoughts());
    assert_eq!(
        messages[2]["content"],
        json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "shipped"}])
    );
    assert_eq!(messages[4]["content"][0]["is_error"], true);
    let ids: Vec<_> = messages[5]["content"]
        .as_array()
        .expect("blocks")
        .iter()
        .map(|block| &block["id"])
        .collect();
    assert_eq!(ids, ["call_1_2", "call_1_3", "call"]);
    let last = messages[6]["content"].as_array().expect("blocks");
    let kinds: Vec<_> = last
        .iter()
        .map(|block| block["type"].as_str().expect("a type"))
        .collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "tool_result", "text"]);
    assert!(
        last[0]["content"]
            .as_str()
            .is_some_and(|text| text.starts_with("interrupted"))
    );
}

#[tokio::test]
async fn openai_is_asked_in_its_own_shape() {
    let seen = sent(Wire::OpenAi, &eventful()).await;
    assert_eq!(
        (seen.method.as_str(), seen.uri.to_string().as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    let body = seen.json();
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["max_tokens"], 1024);
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().expect("a role"))
        .collect();
    let expected = [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
        "tool",
        "user",
    ];
    assert_eq!(roles, expected);
    assert!(
        !seen.body.windows(8).any(|w| w == b"thinking"),
        "another provider's message is not replayed"
    );
    assert_eq!(
        messages[4]["tool_calls"][0]["function"]["arguments"], "{ \"order_id\":\"2\"}",
        "its own is, verbatim"
    );
    let broken = messages[6]["tool_calls"][0]["function"]["arguments"]
        .as_str()
        .expect("arguments");
    assert!(
        serde_json::from_str::<Value>(broken).expect("JSON").is_object(),
        "{broken}"
    );
}

#[tokio::test]
async fn schemas_are_sent_as_they_are() {
    let request = request();
    let anthropic = sent(Wire::Anthropic, &request).await.json();
    let openai = sent(Wire::OpenAi, &request).await.json();
    for (i, tool) in request.tools.iter().enumerate() {
        assert_eq!(anthropic["tools"][i]["input_schema"], tool.schema);
        assert_eq!(openai["tools"][i]["function"]["parameters"], tool.schema);
    }
}

#[tokio::test]
async fn a_longer_request_begins_with_the_bytes_of_the_shorter() {
    let longer = eventful();
    for wire in Wire::ALL {
        let whole = sent(wire, &longer).await.body;
        for turns in [1, 3, 5] {
            let mut shorter = longer.clone();
            shorter.turns.truncate(turns);
            let bytes = sent(wire, &shorter).await.body;
            let end = match wire {
                // The newest turn carries the cache mark, which then moves on.
                Wire::Anthropic => bytes
                    .windows(15)
                    .rposition(|w| w == b"\"cache_control\"")
                    .expect("the mark"),
                Wire::OpenAi => bytes.len() - b"]}".len(),
            };
            assert!(whole.starts_with(&bytes[..end]), "{wire:?} after {turns} turns");
            let prefix = bytes.windows(11).position(|w| w == b"\"messages\":").expect("messages");
            assert!(prefix < end, "system and tools are within what is compared");
        }
    }
}
