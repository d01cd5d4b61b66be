//! What comes in from Zendesk: repeats, forgeries, broken payloads, triggers, our own echoes, crowds.

mod crowd;
mod echoes;
mod ended;
mod refused;
mod repeats;
mod triggers;
mod unreadable;
