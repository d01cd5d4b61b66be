//! The list of what mail programs write around a reply.

use std::sync::OnceLock;

use crate::mail::words::Words;

pub(super) fn lexicon() -> &'static Words {
    static READ: OnceLock<Words> = OnceLock::new();
    READ.get_or_init(|| Words::read(include_str!("words.txt")))
}
