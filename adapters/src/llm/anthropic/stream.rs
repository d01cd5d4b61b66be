//! A reply of Anthropic's, out of its events or in one piece.
//!
//! The blocks are kept as they come, thinking with its signature included, and in their order: Anthropic checks both
//! when the reply is replayed.

use std::collections::BTreeMap;

use deskhand_core::history::Wire;
use deskhand_core::model::{Call, ModelReply, RawReply, Stop, Usage};
use deskhand_core::port::Sink;
use serde_json::{Value, json};

use crate::llm::exchange::{Fold, Progress, Trouble};
use crate::llm::scrub;

#[derive(Default)]
pub(super) struct Message {
    /// By their index in the stream, each with the JSON of its input so far.
    blocks: BTreeMap<u64, (Value, String)>,
    /// What went to the sink.
    text: String,
    /// A block of text has begun after another one: the next words are a new paragraph.
    paragraph_due: bool,
    usage: Usage,
    stop_reason: Option<String>,
    stopped: bool,
}

impl Fold for Message {
    fn event(&mut self, data: &str, sink: &mut dyn Sink) -> Result<(), Trouble> {
        let event: Value = serde_json::from_str(data).map_err(|_| Trouble::Garbled("an event that is no JSON"))?;
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&event["message"]["usage"]),
            "content_block_start" => self.begin(index, event["content_block"].clone(), sink),
            "content_block_delta" => self.extend(index, &event["delta"], sink)?,
            "message_delta" => {
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stop_reason = Some(reason.to_owned());
                }
                self.count(&event["usage"]);
            }
            "message_stop" => self.stopped = true,
            "error" => return Err(Trouble::Told(event)),
            // Gateways send errors of their own shape.
            _ if event["error"].is_object() || event["error"].is_string() => return Err(Trouble::Told(event)),
            // `ping`, `content_block_stop`, and what Anthropic may add: its rules say to skip unknown events.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, message: &Value, sink: &mut dyn Sink) -> Result<(), Trouble> {
        if !message["error"].is_null() {
            return Err(Trouble::Told(message.clone()));
        }
        let Some(content) = message["content"].as_array() else {
            return Err(Trouble::Garbled("an answer that is no message"));
        };
        for (index, block) in (0..).zip(content) {
            self.begin(index, block.clone(), sink);
        }
        self.count(&message["usage"]);
        self.stop_reason = message["stop_reason"].as_str().map(str::to_owned);
        self.stopped = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.stopped, &self.stop_reason) {
            (true, Some(_)) => Progress::Over,
            (true, None) | (false, Some(_) | None) => Progress::Writing,
        }
    }

    fn finish(self) -> ModelReply {
        let mut calls = Vec::new();
        let mut content = Vec::new();
        for (mut block, written) in self.blocks.into_values() {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let args = match written.is_empty() {
                        true => scrub::value(block["input"].take()),
                        false => scrub::args(&written),
                    };
                    // Half-written input of a cut-off reply is no object, and only objects are taken back.
                    block["input"] = scrub::object(&args);
                    calls.push(Call {
                        id: block["id"].as_str().unwrap_or_default().to_owned(),
                        name: block["name"].as_str().unwrap_or_default().to_owned(),
                        args,
                    });
                }
                // Anthropic sends empty text and refuses to take it back.
                Some("text") if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => continue,
                Some(_) | None => {}
            }
            content.push(scrub::value(block));
        }
        ModelReply {
            text: scrub::text(&self.text),
            stop: stop(self.stop_reason.as_deref().unwrap_or_default(), !calls.is_empty()),
            calls,
            usage: self.usage,
            raw: (!content.is_empty()).then(|| RawReply {
                provider: Wire::Anthropic.provider().to_owned(),
                message: json!({"role": "assistant", "content": content}),
            }),
        }
    }
}

impl Message {
    fn begin(&mut self, index: u64, block: Value, sink: &mut dyn Sink) {
        if block["type"] == "text" {
            self.paragraph_due = !self.text.is_empty();
            self.write(block["text"].as_str().unwrap_or_default(), sink);
        }
        self.blocks.insert(index, (block, String::new()));
    }

    fn extend(&mut self, index: u64, delta: &Value, sink: &mut dyn Sink) -> Result<(), Trouble> {
        let Some((block, input)) = self.blocks.get_mut(&index) else {
            return Err(Trouble::Garbled("a piece of a block that has not begun"));
        };
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                append(block, "text", text("text"));
                self.write(text("text"), sink);
            }
            "input_json_delta" => input.push_str(text("partial_json")),
            "thinking_delta" => append(block, "thinking", text("thinking")),
            "signature_delta" => block["signature"] = json!(text("signature")),
            "citations_delta" => match &mut block["citations"] {
                Value::Array(citations) => citations.push(delta["citation"].clone()),
                citations => *citations = json!([delta["citation"]]),
            },
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, text: &str, sink: &mut dyn Sink) {
        if text.is_empty() {
            return;
        }
        let parting = match std::mem::take(&mut self.paragraph_due) && !self.text.ends_with('\n') {
            true => "\n\n",
            false => "",
        };
        for piece in [parting, text] {
            self.text.push_str(piece);
            if !piece.is_empty() {
                sink.text(piece);
            }
        }
    }

    /// Usage is told at the start and, cumulative, at the end; the later count holds.
    fn count(&mut self, usage: &Value) {
        for (count, key) in [
            (&mut self.usage.input, "input_tokens"),
            (&mut self.usage.output, "output_tokens"),
            (&mut self.usage.cache_read, "cache_read_input_tokens"),
            (&mut self.usage.cache_write, "cache_creation_input_tokens"),
        ] {
            if let Some(told) = usage[key].as_u64() {
                *count = told;
            }
        }
    }
}

/// A string appended where it stands, so that a long block does not cost its square.
fn append(block: &mut Value, key: &str, text: &str) {
    match &mut block[key] {
        Value::String(before) => before.push_str(text),
        other => *other = json!(text),
    }
}

fn stop(reason: &str, has_calls: bool) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refusal,
        _ if has_calls => Stop::Calls,
        _ => Stop::EndOfTurn,
    }
}
