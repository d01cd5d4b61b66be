//! A text with the sums of what readers were told of it: a thousand readers at one place cost one look each.

use super::cursor::{Mark, Sum};

/// Only what is appended is summed; places that nobody was told of here are summed when they are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Summed {
    text: String,
    /// Lengths in bytes, ascending, with the sum up to each.
    places: Vec<(usize, Sum)>,
}

impl Summed {
    pub(super) fn new(text: String) -> Self {
        let mut summed = Self::default();
        summed.set(text);
        summed
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Takes a longer text that begins with this one, or any other one.
    pub(super) fn set(&mut self, text: String) {
        if !text.starts_with(&self.text) {
            self.places.clear();
        }
        let (from, sum) = self.places.last().copied().unwrap_or((0, Sum::START));
        if text.len() > from {
            self.places.push((text.len(), sum.and(&text.as_bytes()[from..])));
        }
        self.text = text;
    }

    /// What of it is not told yet; `None` when it does not begin with what was told.
    pub(super) fn rest(&self, told: &Mark) -> Option<&str> {
        let Ok(at) = self.places.binary_search_by_key(&told.bytes, |(bytes, _)| *bytes) else {
            return told.rest(&self.text);
        };
        (self.places[at].1.short() == told.sum).then(|| &self.text[told.bytes..])
    }

    /// The mark of a reader who was told all of it.
    pub(super) fn mark(&self, attempt: i32) -> Mark {
        let (bytes, sum) = self.places.last().copied().unwrap_or((0, Sum::START));
        let sum = sum.short();
        Mark { attempt, bytes, sum }
    }
}
