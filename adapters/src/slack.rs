//! Slack: what it sends us (bytes → [`SlackInbound`]), how cards look there, and the calls that we make.
//!
//! Nothing here decides anything and nothing is stored. Payloads are read leniently with `serde_json`, because Slack adds
//! fields and types at any time and slack-morphism answers an unknown one with an error. Blocks and requests are written
//! with slack-morphism's types, which keep their shape right, and travel over its client; see `client` for what is our
//! own there.

pub mod client;
pub mod desk;
pub mod escape;
pub mod form;
pub mod inbound;
pub mod render;
mod wire;

pub use client::{Pace, Settings, SlackChat};
pub use inbound::SlackInbound;
