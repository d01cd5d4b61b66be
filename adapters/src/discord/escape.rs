//! Between plain text and Discord's markdown: escaping, measuring, clipping.

use crate::shown;
pub(crate) use crate::shown::{drawable, one_line, start};

/// Plain text as Discord's markdown, so that it reads as it was written: no mention, no link, no heading, no emoji comes
/// of it. A backslash before punctuation is the sign that Discord takes for this.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut start = true;
    let mut number = false;
    for c in text.chars() {
        let numbered = number && matches!(c, '.' | ')');
        if marks(c) || start && matches!(c, '-' | '+') || numbered {
            out.push('\\');
        }
        out.push(c);
        // "1." begins a list, at a line's start only.
        number = (start || number) && c.is_ascii_digit();
        start = c == '\n' || start && c.is_whitespace();
    }
    out
}

/// What has a meaning anywhere in a line. The colon keeps addresses and emoji from being made of words.
fn marks(c: char) -> bool {
    matches!(
        c,
        '\\' | '*' | '_' | '~' | '`' | '|' | '<' | '>' | '[' | ']' | ':' | '@' | '#'
    )
}

/// How much a text counts against Discord's limits: UTF-16 units of the escaped text, the largest of what it could mean.
pub fn size(text: &str) -> usize {
    text.chars().map(char_size).sum()
}

fn char_size(c: char) -> usize {
    // A list's sign is escaped at a line's start only; counted everywhere, the sum is never too small.
    c.len_utf16() + usize::from(marks(c) || matches!(c, '-' | '+' | '.' | ')'))
}

/// At most `max` by [`size`], `tail` included, which says that something was left out. Not escaped.
pub fn clip(text: &str, max: usize, tail: &str) -> String {
    shown::clip(text, max, tail, char_size)
}

/// Cuts a text into parts of at most `max` UTF-16 units that make the whole again.
pub fn parts(text: &str, max: usize) -> Vec<&str> {
    shown::parts(text, max, char::len_utf16)
}

/// For a block of code: three backticks cannot end it.
pub fn fenced(text: &str) -> String {
    text.replace('`', "`\u{200b}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_holds_nothing_that_discord_would_act_on() {
        for (text, escaped) in [
            ("@everyone <@80351110224678912>", r"\@everyone \<\@80351110224678912\>"),
            (
                "**bold** ~~no~~ ||spoiler||",
                r"\*\*bold\*\* \~\~no\~\~ \|\|spoiler\|\|",
            ),
            ("[click](https://evil.example)", r"\[click\](https\://evil.example)"),
            ("# big\n- item\n1. first", "\\# big\n\\- item\n1\\. first"),
            ("3.5 - 1 is 2.5", "3\\.5 - 1 is 2.5"),
            ("退款 😀", "退款 😀"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn clipped_text_keeps_to_the_limit_whatever_it_is_made_of() {
        for c in ["a", "*", "退", "😀", "a ", "\u{301}", "- ", "1.", "\n"] {
            let text = c.repeat(500);
            for max in [10, 99, 100, 101] {
                let escaped = escape(&clip(&text, max, "…"));
                assert!(escaped.encode_utf16().count() <= max, "{c:?} {max}: {escaped}");
            }
        }
        assert_eq!(clip("short", 5, "…"), "short");
    }
}
