//! A request as chat completions take it.

use deskhand_core::history::{self, Wire};
use deskhand_core::model::{ModelReply, ModelRequest, Part, Turn};
use deskhand_core::port::ModelError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::llm::scrub;

/// What the bound of a reply's length is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

/// The fields in the order in which they are sent: what changes comes last.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    stream_options: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Value>,
}

pub(super) fn of(request: &ModelRequest, model: &str, limit: LimitField) -> Result<Vec<u8>, ModelError> {
    let (max_tokens, max_completion_tokens) = match limit {
        LimitField::MaxTokens => (Some(request.max_tokens), None),
        LimitField::MaxCompletionTokens => (None, Some(request.max_tokens)),
    };
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for turn in &history::repaired(&request.turns, Wire::OpenAi) {
        match turn {
            Turn::Told(parts) => messages.push(json!({"role": "user", "content": told(parts)})),
            Turn::Said(reply) => messages.push(said(reply)),
            Turn::Outcomes(answers) => messages.extend(
                answers
                    .iter()
                    .map(|answer| json!({"role": "tool", "tool_call_id": answer.call_id, "content": answer.text})),
            ),
        }
    }
    let body = Body {
        model,
        max_tokens,
        max_completion_tokens,
        stream: true,
        // Without it no usage is told.
        stream_options: json!({"include_usage": true}),
        tools: request
            .tools
            .iter()
            .map(|tool| {
                let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
                json!({"type": "function", "function": function})
            })
            .collect(),
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| ModelError::Permanent {
        why: format!("The request cannot be written as JSON: {error}."),
    })
}

fn told(parts: &[Part]) -> String {
    parts.iter().map(Part::render).collect::<Vec<_>>().join("\n\n")
}

fn said(reply: &ModelReply) -> Value {
    match &reply.raw {
        Some(raw) => raw.message.clone(),
        None => {
            let calls = reply.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": scrub::object(&call.args).to_string()});
                json!({"id": call.id, "type": "function", "function": function})
            });
            message(&reply.text, calls.collect())
        }
    }
}

/// A message of the model's. Neither an empty content beside calls nor an empty list of calls is taken everywhere.
pub(super) fn message(text: &str, calls: Vec<Value>) -> Value {
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}
