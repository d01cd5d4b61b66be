//! A body as lines: what each one says without its `>` marks, and in one spelling.

use std::cell::OnceCell;

use super::lexicon::lexicon;
use crate::mail::words::tidy;

/// Longer lines say nothing of a mail's structure and are not looked into.
const LONG: usize = 1200;

pub(super) struct Line<'a> {
    /// With its line ending.
    pub raw: &'a str,
    /// How many `>` stand before it.
    pub depth: usize,
    /// What follows the marks, tidied, bold stars gone. Empty for a long line, which is not `blank` for that.
    pub plain: String,
    /// The same in lower case.
    pub folded: String,
    pub blank: bool,
    /// Nothing but a drawn rule: at least two of one drawing character.
    pub rule: bool,
    /// Bytes of the content.
    pub length: usize,
    wrote: OnceCell<bool>,
}

impl<'a> Line<'a> {
    fn read(raw: &'a str) -> Self {
        let (depth, content) = marks(raw);
        let content = content.trim_end_matches(['\r', '\n']);
        if content.len() > LONG {
            let blank = content.chars().all(char::is_whitespace);
            return Self {
                raw,
                depth,
                plain: String::new(),
                folded: String::new(),
                blank,
                rule: false,
                length: content.len(),
                wrote: OnceCell::new(),
            };
        }
        let tidied = tidy(content);
        let rule = is_rule(&tidied);
        let plain = if tidied.contains('*') && !rule {
            tidied.replace('*', "").trim().to_owned()
        } else {
            tidied
        };
        Self {
            raw,
            depth,
            folded: plain.to_lowercase(),
            blank: plain.is_empty(),
            plain,
            rule,
            length: content.len(),
            wrote: OnceCell::new(),
        }
    }

    /// A verb of writing is in it. Looked up once, for this is asked of a line again and again.
    pub(super) fn wrote(&self) -> bool {
        *self.wrote.get_or_init(|| lexicon().has("wrote", &self.folded))
    }

    /// Without its line ending.
    pub(super) fn text(&self) -> &'a str {
        self.raw.trim_end_matches(['\r', '\n'])
    }
}

/// Lines end with LF, CRLF, or, in very old mail, CR alone.
pub(super) fn read(text: &str) -> Vec<Line<'_>> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = 0;
    for at in 0..bytes.len() {
        let ends = bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        if ends {
            lines.push(Line::read(&text[start..=at]));
            start = at + 1;
        }
    }
    if start < text.len() {
        lines.push(Line::read(&text[start..]));
    }
    lines
}

/// The `>` marks at the start, spaces between them allowed. `>From ` is how mailboxes escape a line that begins with
/// "From ", not a quote.
fn marks(raw: &str) -> (usize, &str) {
    if raw.starts_with(">From ") {
        return (0, &raw[1..]);
    }
    let (mut depth, mut rest) = (0, raw);
    loop {
        let inner = rest.trim_start_matches([' ', '\t', '\u{a0}', '\u{200b}', '\u{feff}']);
        let marked = inner.strip_prefix('>').or_else(|| inner.strip_prefix('\u{ff1e}'));
        let Some(after) = marked.or_else(|| inner.strip_prefix("&gt;")) else {
            return (depth, rest);
        };
        depth += 1;
        rest = after;
    }
}

fn is_rule(text: &str) -> bool {
    let drawn = |c: char| {
        matches!(
            c,
            '-' | '_' | '=' | '*' | '~' | '\u{2013}' | '\u{2014}' | '\u{2015}' | '\u{2500}' | '\u{2501}' | '#'
        )
    };
    let mut drawing = text.chars().filter(|c| *c != ' ');
    let first = drawing.next();
    first.is_some_and(drawn) && text.chars().filter(|c| *c != ' ').count() >= 2 && drawing.all(|c| Some(c) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_every_byte_and_know_their_depth() {
        let text = "a\r\n> > b\rc\n>From d\n＞ e";
        let lines = read(text);
        assert_eq!(lines.iter().map(|line| line.raw).collect::<String>(), text);
        assert_eq!(lines.iter().map(|line| line.depth).collect::<Vec<_>>(), [0, 2, 0, 0, 1]);
        assert_eq!(lines[1].plain, "b");
        assert_eq!(lines[3].plain, "From d");
    }

    #[test]
    fn a_rule_is_drawn_with_one_character() {
        for (text, expected) in [
            ("-----", true),
            ("- - -", true),
            ("--", true),
            ("-", false),
            ("-=-", false),
            ("——", true),
        ] {
            assert_eq!(is_rule(text), expected, "{text}");
        }
    }
}
