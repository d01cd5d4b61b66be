//! A request as Anthropic takes it.
//!
//! Three cache marks: after the tools, after the system prompt, and after the newest turn. What is before a mark is the
//! same bytes in each request of a run, so that a long ticket is paid for once.

use deskhand_core::history::{self, Wire};
use deskhand_core::model::{ModelReply, ModelRequest, Turn};
use deskhand_core::port::ModelError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::llm::scrub;

/// The fields in the order in which they are sent: what changes comes last.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Value>,
}

pub(super) fn of(request: &ModelRequest, model: &str) -> Result<Vec<u8>, ModelError> {
    let mut body = Body {
        model,
        max_tokens: request.max_tokens,
        stream: true,
        tools: tools(request),
        system: Vec::new(),
        messages: messages(&history::repaired(&request.turns, Wire::Anthropic)),
    };
    if !request.system.trim().is_empty() {
        body.system.push(json!({"type": "text", "text": request.system}));
    }
    for last in [
        body.tools.last_mut(),
        body.system.last_mut(),
        body.messages.last_mut().and_then(last_block),
    ] {
        if let Some(Value::Object(block)) = last {
            block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
    }
    serde_json::to_vec(&body).map_err(|error| ModelError::Permanent {
        why: format!("The request cannot be written as JSON: {error}."),
    })
}

fn tools(request: &ModelRequest) -> Vec<Value> {
    let tools = request.tools.iter();
    tools
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
        .collect()
}

/// Outcomes and what is told after them are one turn of ours, outcomes first: Anthropic refuses any other order.
fn messages(turns: &[Turn]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::with_capacity(turns.len());
    let mut ours: Vec<Value> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Told(parts) => ours.extend(parts.iter().map(|part| json!({"type": "text", "text": part.render()}))),
            Turn::Outcomes(answers) => ours.extend(answers.iter().map(|answer| {
                let mut block = json!({"type": "tool_result", "tool_use_id": answer.call_id, "content": answer.text});
                if answer.failed {
                    block["is_error"] = Value::Bool(true);
                }
                block
            })),
            Turn::Said(reply) => {
                flush(&mut ours, &mut messages);
                messages.push(json!({"role": "assistant", "content": content(reply)}));
            }
        }
    }
    flush(&mut ours, &mut messages);
    messages
}

fn flush(ours: &mut Vec<Value>, messages: &mut Vec<Value>) {
    if !ours.is_empty() {
        messages.push(json!({"role": "user", "content": std::mem::take(ours)}));
    }
}

fn content(reply: &ModelReply) -> Value {
    if let Some(raw) = &reply.raw
        && let Some(content) = raw.message.get("content")
    {
        return content.clone();
    }
    let mut blocks = Vec::new();
    if !reply.text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": reply.text}));
    }
    blocks.extend(
        reply.calls.iter().map(
            |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": scrub::object(&call.args)}),
        ),
    );
    Value::Array(blocks)
}

fn last_block(message: &mut Value) -> Option<&mut Value> {
    message.get_mut("content")?.as_array_mut()?.last_mut()
}
