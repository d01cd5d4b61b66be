//! Fakes of the outside: a state model each, with an HTTP skin.

pub mod slack;
pub mod zendesk;
