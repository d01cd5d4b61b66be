//! Language models behind the Model port: Anthropic's Messages API, and OpenAI's chat completions with everything that
//! speaks them (Ollama, vLLM, Azure-style bases).
//!
//! Both make each HTTP call once and stream it; retrying, circuit breaking and choosing another model are the caller's.
//! A reply counts only when the provider said that it was finished: a stream that ends early is a transient error, since
//! the calls in it may be half written. No error carries the key, or words of the request.
//!
//! The offline model is not here: it needs no provider.

mod anthropic;
mod base;
mod exchange;
mod failure;
mod offline;
mod openai;
mod scrub;
mod sse;

use std::time::Duration;

pub use anthropic::{Anthropic, AnthropicConfig};
pub use offline::Offline;
pub use openai::{OpenAi, OpenAiConfig};

/// What one call to a provider may cost in time and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until the connection stands.
    pub connect: Duration,
    /// Between two signs of life: until the answer begins, then from chunk to chunk. Models that think before they
    /// write are silent for a minute and more where the provider sends no pings.
    pub idle: Duration,
    /// From the first byte to the last: pings may keep a dead reply alive for ever.
    pub whole: Duration,
    /// Of an answer, in bytes as they arrive.
    pub reply_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            whole: Duration::from_secs(15 * 60),
            reply_bytes: 16 << 20,
        }
    }
}
