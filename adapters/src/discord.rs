//! Discord: what it sends us (bytes → [`DiscordInbound`]), how cards look there, the answers to interactions, and the
//! calls that we make.
//!
//! Nothing here decides anything and nothing is stored. Payloads are read leniently with `serde_json`, and requests are
//! written as JSON by hand.
//!
//! Why not a client library? Their typed models refuse what Discord adds (a modal's Label components, say), their HTTP
//! clients hide the headers of a 429 once a base URL of our own is set, and each brings a second HTTP and TLS stack. What
//! is sent is checked against Discord's own OpenAPI in the tests instead.

pub mod client;
pub mod commands;
pub mod desk;
pub mod draw;
pub mod escape;
pub mod form;
pub mod gateway;
pub mod inbound;
pub mod reply;

pub use client::{DiscordChat, Pace, Settings, Stands};
pub use inbound::DiscordInbound;
