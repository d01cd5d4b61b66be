//! A reply of chat completions, out of its chunks or in one piece.

use deskhand_core::history::Wire;
use deskhand_core::model::{ModelReply, RawReply, Stop, Usage};
use deskhand_core::port::Sink;
use serde_json::Value;

use super::body;
use super::calls::Calls;
use crate::llm::exchange::{Fold, Progress, Trouble};
use crate::llm::scrub;

#[derive(Default)]
pub(super) struct Completion {
    text: String,
    /// The model refused in words of its own field; they are its text.
    refused: bool,
    calls: Calls,
    finish_reason: Option<String>,
    usage: Usage,
    done: bool,
}

impl Fold for Completion {
    fn event(&mut self, data: &str, sink: &mut dyn Sink) -> Result<(), Trouble> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Value = serde_json::from_str(data).map_err(|_| Trouble::Garbled("an event that is no JSON"))?;
        self.take(&chunk, "delta", sink)
    }

    fn whole(&mut self, message: &Value, sink: &mut dyn Sink) -> Result<(), Trouble> {
        self.take(message, "message", sink)?;
        self.done = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (&self.finish_reason, self.done) {
            // `[DONE]` alone proves nothing: proxies write it after a broken stream too.
            (None, true | false) => Progress::Writing,
            (Some(_), false) => Progress::Complete,
            (Some(_), true) => Progress::Over,
        }
    }

    fn finish(self) -> ModelReply {
        let has_calls = !self.calls.is_empty();
        let (calls, raw) = self.calls.finish();
        let text = scrub::text(&self.text);
        let stop = match self.finish_reason.as_deref().unwrap_or_default() {
            "length" => Stop::Length,
            "content_filter" => Stop::Refusal,
            _ if has_calls => Stop::Calls,
            _ if self.refused => Stop::Refusal,
            _ => Stop::EndOfTurn,
        };
        ModelReply {
            raw: (has_calls || !text.is_empty()).then(|| RawReply {
                provider: Wire::OpenAi.provider().to_owned(),
                message: body::message(&text, raw),
            }),
            text,
            calls,
            stop,
            usage: self.usage,
        }
    }
}

impl Completion {
    /// A chunk, or the whole completion; `part` is where its message stands.
    fn take(&mut self, chunk: &Value, part: &str, sink: &mut dyn Sink) -> Result<(), Trouble> {
        if !chunk["error"].is_null() || chunk["object"] == "error" {
            return Err(Trouble::Told(chunk.clone()));
        }
        self.count(&chunk["usage"]);
        // Azure's first chunk and the one with the usage have no choices.
        let choices = chunk["choices"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or_default() == 0) {
            let message = &choice[part];
            self.write(message["content"].as_str(), sink);
            if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
                self.refused = true;
                self.write(Some(refusal), sink);
            }
            message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|piece| self.calls.add(piece));
            match choice["finish_reason"].as_str() {
                None | Some("") => {}
                // What gateways write when the model behind them failed.
                Some("error") => return Err(Trouble::Garbled("a reply that ended in an error")),
                Some(reason) => self.finish_reason = Some(reason.to_owned()),
            }
        }
        Ok(())
    }

    fn write(&mut self, text: Option<&str>, sink: &mut dyn Sink) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.text.push_str(text);
            sink.text(text);
        }
    }

    fn count(&mut self, usage: &Value) {
        let Some(prompt) = usage["prompt_tokens"].as_u64() else {
            return;
        };
        // Cached tokens are counted among the prompt's here, apart from them in our type.
        let cached = usage["prompt_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap_or_default()
            .min(prompt);
        self.usage = Usage {
            input: prompt - cached,
            output: usage["completion_tokens"].as_u64().unwrap_or_default(),
            cache_read: cached,
            cache_write: 0,
        };
    }
}
