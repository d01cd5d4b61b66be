//! The new words of a mail, apart from what was quoted, signed, or passed on.
//!
//! Works on plain text alone, in any language whose mail programs are in `quote/words.txt`, by rules on structure: lines
//! that only a program writes, what they hold (a date, a time, an address), and what follows them. No client and no
//! sample has a rule of its own. Time is linear in the text.
//!
//! Nothing is ever lost: the pieces, put together, are the whole; and if no new words would remain, the whole counts as
//! new. Not here: HTML (make text of it first), charsets, and whether a person wrote the mail at all.

mod attribution;
mod evidence;
mod forward;
mod header;
mod lexicon;
mod line;
mod marker;
mod pass;
mod signature;
#[cfg(test)]
mod tests;

pub use forward::{Original, original, says_forwarded};

use line::Line;

/// What a piece of a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What the sender wrote for this mail; quoted lines that an answer needs included.
    Words,
    /// Earlier mail, with the line that introduces it.
    Quoted,
    /// Signature, "sent from my phone", disclaimer, a list's footer.
    Signature,
    /// A mail that was passed on, from its separator to the end. For whoever forwards, this is the content.
    Forwarded,
}

/// A stretch of whole lines of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

/// A body in its pieces, in order. Their texts, put together, are the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split<'a> {
    pub pieces: Vec<Piece<'a>>,
}

impl Split<'_> {
    /// The new words. Line ends are LF, empty lines around them are gone, and where something was left out there is one
    /// empty line. Never empty unless the body is.
    pub fn words(&self) -> String {
        let words = joined(self.pieces.iter().filter(|piece| piece.kind == Kind::Words));
        if words.is_empty() {
            joined(self.pieces.iter())
        } else {
            words
        }
    }

    pub fn quoted(&self) -> String {
        self.of(Kind::Quoted)
    }

    pub fn signature(&self) -> String {
        self.of(Kind::Signature)
    }

    pub fn forwarded(&self) -> String {
        self.of(Kind::Forwarded)
    }

    fn of(&self, kind: Kind) -> String {
        joined(self.pieces.iter().filter(|piece| piece.kind == kind))
    }
}

fn joined<'p>(pieces: impl Iterator<Item = &'p Piece<'p>>) -> String {
    let mut out = String::new();
    for piece in pieces {
        let text = piece.text.replace("\r\n", "\n").replace('\r', "\n");
        let text = without_blank_lines_around(&text);
        if !out.is_empty() && !text.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(text);
    }
    out
}

fn without_blank_lines_around(text: &str) -> &str {
    let text = text.trim_end();
    let first = text.len() - text.trim_start().len();
    let line = text[..first].rfind('\n').map_or(0, |at| at + 1);
    &text[line..]
}

/// Splits a body of plain text.
pub fn split(text: &str) -> Split<'_> {
    split_as(text, false)
}

/// The same for a mail whose subject says that it was forwarded (see [`says_forwarded`]): a header block without a
/// separator then begins the forwarded mail. Outlook forwards like this.
pub fn split_forward(text: &str) -> Split<'_> {
    split_as(text, true)
}

/// So often at most is what remains looked at again.
const PASSES: usize = 8;

/// So many lines and bytes are looked into; what follows is of the kind of the last one. Nobody writes more by hand, and
/// text that is made to look like introductions all over would cost seconds.
const LINES: usize = 3000;
const BYTES: usize = 192 * 1024;

fn split_as(text: &str, forwarded: bool) -> Split<'_> {
    let (head, rest) = text.split_at(looked_into(text));
    let lines = line::read(head);
    let mut kinds = vec![Kind::Words; lines.len()];
    // What was left out may have parted lines that now mean something together. So the remaining words are looked at
    // until nothing more is found, which also makes splitting the words again change nothing.
    for _ in 0..PASSES {
        let parting = line::read("\n");
        let mut kept: Vec<&Line<'_>> = Vec::new();
        let mut places = Vec::new();
        for (at, line) in lines.iter().enumerate().filter(|(at, _)| kinds[*at] == Kind::Words) {
            if places
                .last()
                .is_some_and(|last: &Option<usize>| last.is_some_and(|last| last + 1 != at))
            {
                kept.extend(parting.iter());
                places.push(None);
            }
            kept.push(line);
            places.push(Some(at));
        }
        let found = pass::pass(&kept, forwarded);
        let mut changed = false;
        for (place, kind) in places.iter().zip(found) {
            if let Some(at) = place
                && kind != Kind::Words
            {
                kinds[*at] = kind;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut pieces = pieces(head, &lines, &kinds);
    // Both parts are slices of one text, so the last piece grows into the rest.
    match pieces.last_mut() {
        Some(last) => last.text = &text[head.len() - last.text.len()..],
        None if rest.is_empty() => {}
        None => pieces.push(Piece {
            kind: Kind::Words,
            text: rest,
        }),
    }
    Split { pieces }
}

/// Where the part ends that is looked into: behind a whole line, where there is one.
fn looked_into(text: &str) -> usize {
    let by_lines = text
        .match_indices('\n')
        .nth(LINES - 1)
        .map_or(text.len(), |(at, _)| at + 1);
    if by_lines <= BYTES {
        return by_lines;
    }
    let end = text.floor_char_boundary(BYTES);
    text[..end].rfind('\n').map_or(end, |at| at + 1)
}

fn pieces<'a>(text: &'a str, lines: &[Line<'a>], kinds: &[Kind]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        end += line.raw.len();
        if kinds.get(at + 1) != Some(&kinds[at]) {
            pieces.push(Piece {
                kind: kinds[at],
                text: &text[start..end],
            });
            start = end;
        }
    }
    pieces
}
