//! What a mail says, apart from how it was carried: its new words, and whether a person wrote them.
//!
//! Plain values in, plain values out. Nothing here knows MIME, a provider, or the rest of this crate, so that each of
//! the two modules could be lifted out as it stands. Reading bytes is the adapters' part.

pub mod quote;
pub mod robot;
mod words;
