//! Every stream, message and error that was recorded, against what the official clients made of it.

use std::path::PathBuf;

use deskhand_core::history::Wire;
use deskhand_core::model::{ModelReply, Stop};
use deskhand_core::port::ModelError;
use serde_json::{Value, json};

use super::fake::{Provider, plain, streamed};
use super::{client, request};

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts/payloads/llm"));
    let there = folder.is_dir().then_some(folder);
    if there.is_none() {
        println!("skipped: ../shared is not there");
    }
    there
}

fn json_of(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn wire_of(file: &str) -> Wire {
    if file.starts_with("anthropic") {
        Wire::Anthropic
    } else {
        Wire::OpenAi
    }
}

/// A reply in the form in which the official clients' results are written down.
fn as_official_clients_tell(reply: &ModelReply, wire: Wire) -> Value {
    let raw = &reply.raw.as_ref().expect("a raw message").message;
    let stop = match (wire, reply.stop) {
        (Wire::Anthropic, Stop::EndOfTurn) => "end_turn",
        (Wire::Anthropic, Stop::Calls) => "tool_use",
        (Wire::OpenAi, Stop::EndOfTurn) => "stop",
        (Wire::OpenAi, Stop::Calls) => "tool_calls",
        (Wire::Anthropic | Wire::OpenAi, Stop::Length | Stop::Refusal) => "other",
    };
    match wire {
        Wire::Anthropic => {
            let mut content = raw["content"].clone();
            for block in content
                .as_array_mut()
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                block.retain(|_, value| !value.is_null());
            }
            json!({"stop_reason": stop, "content": content, "output_tokens": reply.usage.output})
        }
        Wire::OpenAi => {
            let calls = raw["tool_calls"].as_array().into_iter().flatten().map(
                |call| json!({"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}),
            );
            json!({"text": reply.text, "tool_calls": calls.collect::<Vec<_>>(), "finish_reason": stop})
        }
    }
}

#[tokio::test]
async fn recorded_streams_read_as_official_clients_read_them_and_cut_ones_are_errors() {
    let Some(folder) = folder() else { return };
    let expected = &json_of(folder.join("streams_as_seen_by_official_sdks.json"))["results"];
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let file = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
            .to_owned();
        if !file.ends_with(".sse") {
            continue;
        }
        read += 1;
        let (bytes, wire, expected) = (
            std::fs::read(&path).expect("a stream"),
            wire_of(&file),
            &expected[&file],
        );
        for size in [1, 7, 100, bytes.len()] {
            let provider = Provider::start([streamed(&bytes, size)]).await;
            let mut text = String::new();
            let reply = client(wire, &provider.base).reply(&request(), &mut text).await;
            if expected["stop_reason"].is_null() && expected["finish_reason"].is_null() {
                assert!(
                    matches!(reply, Err(ModelError::Transient { .. })),
                    "{file} in {size}: {reply:?}"
                );
                continue;
            }
            let reply = reply.unwrap_or_else(|error| panic!("{file} in {size}: {error}"));
            assert_eq!(&as_official_clients_tell(&reply, wire), expected, "{file} in {size}");
            assert_eq!(text, reply.text, "{file}: the sink has the text");
        }
    }
    assert!(read >= 8, "only {read} streams were found");
}

#[tokio::test]
async fn recorded_messages_in_one_piece_are_read_too() {
    let Some(folder) = folder() else { return };
    for file in ["anthropic_message_tool_use.json", "openai_chat_tool_calls.json"] {
        let body = std::fs::read_to_string(folder.join(file)).expect("a file");
        let provider = Provider::start([plain(200, "application/json", &body, &[])]).await;
        let reply = client(wire_of(file), &provider.base)
            .reply(&request(), &mut ())
            .await
            .expect(file);
        let calls: Vec<_> = reply
            .calls
            .iter()
            .map(|call| (&*call.name, call.args.clone()))
            .collect();
        let expected = [
            ("lookup_order", json!({"order_id": "4711"})),
            ("set_priority", json!({"priority": "high"})),
        ];
        assert_eq!(calls, expected, "{file}");
        assert_eq!(reply.stop, Stop::Calls);
        assert!(reply.usage.output > 0 && reply.usage.input > 0, "{file}");
    }
}

#[tokio::test]
async fn recorded_errors_say_whether_to_try_again() {
    let Some(folder) = folder() else { return };
    for file in ["anthropic_errors.json", "openai_errors.json"] {
        for case in json_of(folder.join(file)).as_array().expect("a list") {
            let status = u16::try_from(case["status"].as_u64().expect("a status")).expect("a status");
            let headers: Vec<_> = case["headers"].as_object().into_iter().flatten().collect();
            let headers: Vec<_> = headers
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str().expect("a value")))
                .collect();
            let provider =
                Provider::start([plain(status, "application/json", &case["body"].to_string(), &headers)]).await;
            let error = client(wire_of(file), &provider.base)
                .reply(&request(), &mut ())
                .await
                .expect_err("an error");
            let code = case["body"]["error"]["code"].as_str().unwrap_or_default();
            let wait = case["headers"]["retry-after"]
                .as_str()
                .and_then(|text| text.parse().ok());
            match (status, code) {
                (413, _) | (_, "context_length_exceeded") => {
                    assert!(matches!(error, ModelError::TooLong { .. }), "{case}")
                }
                (429, "insufficient_quota") => assert!(matches!(error, ModelError::Permanent { .. }), "{case}"),
                (429 | 500.., _) => match &error {
                    ModelError::Transient { retry_after, .. } => {
                        assert_eq!(retry_after.map(|wait| wait.as_secs()), wait, "{case}");
                    }
                    ModelError::TooLong { .. } | ModelError::Permanent { .. } | ModelError::Cancelled => {
                        panic!("{case}: {error:?}")
                    }
                },
                _ => assert!(matches!(error, ModelError::Permanent { .. }), "{case}: {error:?}"),
            }
            assert_eq!(provider.seen().len(), 1, "each call is made once");
        }
    }
}
