//! The pieces of a body, put together, are the body; and a body that says something has new words.
#![no_main]

use deskhand_core::mail::quote::{original, split, split_forward};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for found in [split(text), split_forward(text)] {
        let joined: String = found.pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(joined, text);
        let _ = original(&found.forwarded());
    }
});
