//! One module per outside system; the modules do not know each other and decide nothing.

pub mod discord;
pub mod email;
pub mod llm;
pub mod mcp;
pub mod postgres;
mod shown;
pub mod signature;
pub mod slack;
pub mod throttle;
pub mod zendesk;
