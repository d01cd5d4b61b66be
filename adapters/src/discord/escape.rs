//! Between plain text and Discord's markdown: escaping, measuring, clipping.

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

/// Customers' text as it may be drawn: without control characters, and with those that turn the direction of everything
/// after them made visible, so that a text cannot dress up the line below it.
pub fn drawable(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' => Some(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some('\u{fffd}'),
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect()
}

/// As [`drawable`], on one line, of a text's [`start`].
pub fn one_line(text: &str) -> String {
    drawable(start(text)).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much of a text as a message could show, and more, so that a mail of megabytes costs no more than its first lines.
pub fn start(text: &str) -> &str {
    match text.char_indices().nth(8_000) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// At most `max` by [`size`], `tail` included, which says that something was left out. Not escaped.
pub fn clip(text: &str, max: usize, tail: &str) -> String {
    if size(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(size(tail));
    let cut = &text[..fits(text, room)];
    let word = cut.rfind(char::is_whitespace).filter(|end| *end * 10 >= cut.len() * 9);
    format!("{}{tail}", cut[..word.unwrap_or(cut.len())].trim_end())
}

/// Where the longest beginning of at most `max` ends.
fn fits(text: &str, max: usize) -> usize {
    let mut used = 0;
    let over = text.char_indices().find(|(_, c)| {
        used += char_size(*c);
        used > max
    });
    over.map_or(text.len(), |(at, _)| at)
}

/// Cuts a text into parts of at most `max` UTF-16 units, after an empty line where there is one, else after a line, a
/// word, or anywhere. Joined again they are the text, character for character.
pub fn parts(text: &str, max: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut used = 0;
        let over = rest.char_indices().find_map(|(at, c)| {
            used += c.len_utf16();
            (used > max).then_some(at)
        });
        let Some(over) = over else {
            parts.push(rest);
            break;
        };
        let end = over.max(rest.chars().next().map_or(1, char::len_utf8));
        let fits = &rest[..end];
        let seam = ["\n\n", "\n", " "]
            .iter()
            .filter_map(|gap| fits.rfind(gap).map(|at| at + gap.len()))
            .find(|at| *at * 2 >= end)
            .unwrap_or(end);
        parts.push(&rest[..seam]);
        rest = &rest[seam..];
    }
    parts
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

    #[test]
    fn parts_make_the_whole_again() {
        let text = "Dear Ada,\n\nyour refund left us on Monday. 退款已经发出。\n\nBest wishes\n".repeat(40);
        for max in [1, 7, 50, 333, 5000] {
            let parts = parts(&text, max);
            assert_eq!(parts.concat(), text);
            assert!(
                parts.iter().all(|part| part.encode_utf16().count() <= max.max(2)),
                "{max}"
            );
        }
    }
}
