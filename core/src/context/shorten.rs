//! Texts that are longer than a model should read at once: head and tail, and where the rest is.

use crate::fence;

/// What the marker may take of the limit.
const MARKER: usize = 200;

/// Keeps head and tail of a text that is longer than `most` characters; between them stands how much was left out and
/// how to read it. `None` when the text is short enough.
///
/// Nothing is cut inside a fence without closing it before the gap and opening it behind: what a customer wrote stays
/// inside, whichever part of it is kept.
pub fn shorten(text: &str, most: usize, artifact: &str) -> Option<String> {
    let all = text.chars().count();
    if all <= most {
        return None;
    }
    let kept = most.saturating_sub(MARKER).max(2);
    // The head says what it is; a third for the tail, where totals and errors stand.
    let tail = kept / 3;
    let head = kept - tail;
    let left_out = all - head - tail;
    let marker = format!("[… {left_out} characters left out, read_artifact(\"{artifact}\") has them …]");
    Some(format!(
        "{}\n{marker}\n{}",
        part(text, 0, head),
        part(text, all - tail, tail)
    ))
}

/// `length` characters from `from` on, with what is needed to read on.
pub fn window(text: &str, from: usize, length: usize) -> String {
    let all = text.chars().count();
    let from = from.min(all);
    let until = all.min(from.saturating_add(length));
    let more = match all - until {
        0 => "the end".to_owned(),
        rest => format!("{rest} more; go on with offset {until}"),
    };
    format!(
        "{}\n[characters {from} to {until} of {all}: {more}]",
        part(text, from, until - from)
    )
}

/// A part of a text, with the fence closed or opened where the cut goes through one.
fn part(text: &str, from: usize, length: usize) -> String {
    let start = nth(text, from);
    let end = nth(text, from + length);
    let (start, end) = (outside_of_marks(text, start), outside_of_marks(text, end));
    let kept = &text[start..end.max(start)];
    let mut part = String::with_capacity(kept.len() + 40);
    if is_open(&text[..start]) {
        part.push_str(fence::OPEN);
    }
    part.push_str(kept);
    if is_open(&part) {
        part.push_str(fence::CLOSE);
    }
    part
}

fn nth(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// A place in the middle of a fence's mark moves to the mark's end, so that no half mark is left.
fn outside_of_marks(text: &str, at: usize) -> usize {
    for mark in [fence::OPEN, fence::CLOSE] {
        let mut from = at.saturating_sub(mark.len());
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        let mut until = (at + mark.len()).min(text.len());
        while !text.is_char_boundary(until) {
            until += 1;
        }
        for (found, _) in text[from..until].match_indices(mark) {
            let (start, end) = (from + found, from + found + mark.len());
            if start < at && at < end {
                return end;
            }
        }
    }
    at
}

fn is_open(text: &str) -> bool {
    match (text.rfind(fence::OPEN), text.rfind(fence::CLOSE)) {
        (Some(open), Some(close)) => open > close,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
