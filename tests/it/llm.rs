//! The model clients against a provider in this process: recorded and made-up streams, errors, and what is sent.

mod fake;
mod recorded;
mod replies;
mod requests;
mod trouble;

use std::time::Duration;

use deskhand_adapters::llm::{Anthropic, AnthropicConfig, Limits, OpenAi, OpenAiConfig};
use deskhand_core::history::Wire;
use deskhand_core::model::{ModelRequest, Part, ToolSpec, Turn};
use deskhand_core::port::Model;
use serde_json::json;

/// A key and a customer's words that no error may repeat.
const KEY: &str = "sk-test-4f0c1d77a9";
const WORDS: &str = "Hello, this is Ada Example, where is the refund for order 4711?";

fn client(wire: Wire, base: &str) -> Box<dyn Model> {
    let limits = Limits {
        reply_bytes: 64 << 10,
        idle: Duration::from_secs(30),
        ..Limits::default()
    };
    limited(wire, base, limits)
}

fn limited(wire: Wire, base: &str, limits: Limits) -> Box<dyn Model> {
    // Another test of this process may have installed it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let base_url = base.parse().expect("a URL");
    let model = "some-model".to_owned();
    match wire {
        Wire::Anthropic => Box::new(
            Anthropic::new(AnthropicConfig {
                base_url,
                api_key: KEY.into(),
                model,
                limits,
            })
            .expect("a client"),
        ),
        Wire::OpenAi => Box::new(
            OpenAi::new(OpenAiConfig {
                base_url,
                api_key: Some(KEY.into()),
                model,
                limits,
            })
            .expect("a client"),
        ),
    }
}

fn request() -> ModelRequest {
    let tool = |name: &str, property: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        schema: json!({
            "type": "object",
            "properties": {property: {"type": "string", "description": "what it is about"}},
            "required": [property],
            "additionalProperties": false,
        }),
    };
    ModelRequest {
        system: "You triage tickets.".to_owned(),
        tools: vec![tool("lookup_order", "order_id"), tool("set_priority", "priority")],
        turns: vec![Turn::Told(vec![Part::Text(WORDS.to_owned())])],
        max_tokens: 1024,
    }
}
