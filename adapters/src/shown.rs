//! Plain text as a chat may show it: cleaned, and cut to the chat's limits. Each chat says how much a character counts
//! there; what its markup makes of a text is its own.

/// Customers' text as it may be drawn: without control characters (Slack refuses some of them), and with those that turn
/// the direction of everything after them made visible, so that a text cannot dress up the line below it.
pub(crate) fn drawable(text: &str) -> String {
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
pub(crate) fn one_line(text: &str) -> String {
    drawable(start(text)).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much of a text as any single place could show, and more: so that a mail of megabytes does not cost more than its
/// first lines.
pub(crate) fn start(text: &str) -> &str {
    match text.char_indices().nth(8_000) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// The longest beginning that counts at most `max`, and whether that is all of it. It ends at a word's end where one is
/// near.
pub(crate) fn head(text: &str, max: usize, counts: fn(char) -> usize) -> (&str, bool) {
    let Some(at) = over(text, max, counts) else {
        return (text, true);
    };
    let cut = &text[..at];
    let word = cut.rfind(char::is_whitespace).filter(|end| *end * 10 >= at * 9);
    (cut[..word.unwrap_or(at)].trim_end(), false)
}

/// At most `max`, `tail` included, which says that something was left out.
pub(crate) fn clip(text: &str, max: usize, tail: &str, counts: fn(char) -> usize) -> String {
    if over(text, max, counts).is_none() {
        return text.to_owned();
    }
    let room = max.saturating_sub(tail.chars().map(counts).sum());
    format!("{}{tail}", head(text, room, counts).0)
}

/// Cuts a text into parts of at most `max`, after an empty line where there is one, else after a line, a word, or
/// anywhere. Joined again they are the text, character for character.
pub(crate) fn parts(text: &str, max: usize, counts: fn(char) -> usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let Some(over) = over(rest, max, counts) else {
            parts.push(rest);
            break;
        };
        let end = over.max(first.len_utf8());
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

/// Where the first character stands that is too much.
fn over(text: &str, max: usize, counts: fn(char) -> usize) -> Option<usize> {
    let mut used = 0;
    let found = text.char_indices().find(|(_, c)| {
        used += counts(*c);
        used > max
    });
    found.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole_again() {
        fn doubled(c: char) -> usize {
            2 * c.len_utf16()
        }
        let text = "Dear Ada,\n\nyour refund left us on Monday. 退款已经发出。\n\nBest wishes & thanks\n".repeat(40);
        for counts in [char::len_utf16, doubled] {
            for max in [1, 7, 50, 333, 5000] {
                let parts = parts(&text, max, counts);
                assert_eq!(parts.concat(), text);
                let size = |part: &str| part.chars().map(counts).sum::<usize>();
                // A single character is never cut.
                assert!(parts.iter().all(|part| size(part) <= max.max(2)), "{max}");
            }
        }
        assert!(parts("", 10, char::len_utf16).is_empty());
    }

    #[test]
    fn a_text_cannot_turn_the_direction_of_the_line_below() {
        assert_eq!(drawable("ok\u{202e}evil\0\u{7}\r\n"), "ok\u{fffd}evil\n");
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
    }
}
