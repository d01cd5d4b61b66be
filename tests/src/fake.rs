//! Fakes of the outside: a state model each, with an HTTP skin that speaks the real wire format.
//!
//! They are written from what the services document and not from our adapters, so that they can contradict them: they
//! check tokens, sign with real secrets, enforce the real limits and answer with the real error shapes. Time is a
//! [`clock::Clock`] that the test moves. Nothing here waits for time to pass.
//!
//! What a fake saw that no honest client would do is kept as a violation, and what it was sent that no assertion looked
//! at as unlooked: the harness asks for both when a scenario ends.

pub mod clock;
pub mod discord;
mod faults;
pub mod looks;
pub mod mailer;
pub mod model;
pub mod slack;
pub mod smtp;
pub mod spec;
pub mod tools;
pub mod wire;
pub mod zendesk;

/// Somebody outside: an e-mail address for the help desk, a name for the chat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Who(pub String);

/// `by("ada@example.com")`, `by("sam")`: reads as in the sentence that a scenario is.
pub fn by(who: impl Into<String>) -> Who {
    Who(who.into())
}
