//! Between plain text and Slack's own spelling of it: escaping, measuring, clipping, and reading mrkdwn back.

/// Slack's three control characters, as its formatting guide wants them escaped. Escaped text cannot mention anybody or
/// hold a link: both are written with `<`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// How much a text counts against Slack's limits. Slack does not say in which unit it counts nor whether before or after
/// escaping, so this is the largest of the candidates: UTF-16 units of the escaped text.
pub fn size(text: &str) -> usize {
    text.chars().map(char_size).sum()
}

fn char_size(c: char) -> usize {
    match c {
        '&' => 5,
        '<' | '>' => 4,
        c => c.len_utf16(),
    }
}

/// Customers' text as it may be drawn: without control characters (Slack refuses some of them), and with those that turn
/// the direction of everything after them made visible, so that a text cannot dress up the line below it.
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

/// As much of a text as any single place in Slack could show, and more: so that a mail of megabytes does not cost more
/// than its first lines.
pub fn start(text: &str) -> &str {
    match text.char_indices().nth(8_000) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// The longest beginning whose [`size`] is at most `max`, and whether that is all of it. It ends at a word's end where
/// one is near.
pub fn head(text: &str, max: usize) -> (&str, bool) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_size(c);
        if used > max {
            let cut = &text[..at];
            let word = cut.rfind(char::is_whitespace).filter(|end| *end * 10 >= at * 9);
            return (cut[..word.unwrap_or(at)].trim_end(), false);
        }
    }
    (text, true)
}

/// At most `max`, `tail` included, which says that something was left out.
pub fn clip(text: &str, max: usize, tail: &str) -> String {
    match head(text, max) {
        (whole, true) => whole.to_owned(),
        (_, false) => {
            let (start, _) = head(text, max.saturating_sub(size(tail)));
            format!("{start}{tail}")
        }
    }
}

/// Cuts a text into parts of at most `max`, after an empty line where there is one, else after a line, a word, or
/// anywhere. Joined again they are the text, character for character.
pub fn parts(text: &str, max: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut used = 0;
        let end = rest.char_indices().find_map(|(at, c)| {
            used += char_size(c);
            (used > max).then_some(at)
        });
        let Some(end) = end.map(|end| end.max(rest.chars().next().map_or(1, char::len_utf8))) else {
            parts.push(rest);
            break;
        };
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

/// What a person typed, from the mrkdwn that Slack delivers: links and mentions as words, entities as characters.
pub fn plain(mrkdwn: &str) -> String {
    let mut out = String::with_capacity(mrkdwn.len());
    let mut rest = mrkdwn;
    while let Some(open) = rest.find('<') {
        out.push_str(&unescape(&rest[..open]));
        rest = &rest[open + 1..];
        let Some(close) = rest.find('>') else {
            out.push('<');
            break;
        };
        out.push_str(&reference(&rest[..close]));
        rest = &rest[close + 1..];
    }
    out.push_str(&unescape(rest));
    out
}

/// One `<…>`: a link, or a mention of somebody or something.
fn reference(inner: &str) -> String {
    let (target, label) = match inner.split_once('|') {
        Some((target, label)) => (target, Some(unescape(label)).filter(|label| !label.is_empty())),
        None => (inner, None),
    };
    let named = |sign: &str, id: &str| match &label {
        Some(label) => format!("{sign}{}", label.trim_start_matches(sign)),
        None => format!("{sign}{id}"),
    };
    if let Some(id) = target.strip_prefix('@') {
        return named("@", id);
    }
    if let Some(id) = target.strip_prefix('#') {
        return named("#", id);
    }
    if let Some(special) = target.strip_prefix('!') {
        return match (special.split('^').next(), label) {
            (Some("date"), Some(label)) => label,
            (_, Some(label)) => format!("@{}", label.trim_start_matches('@')),
            (kind, None) => format!("@{}", kind.unwrap_or(special)),
        };
    }
    let target = unescape(target);
    let bare = target.trim_start_matches("mailto:").trim_start_matches("tel:");
    match label {
        None => bare.to_owned(),
        // Slack itself labels an address that somebody typed with that same address.
        Some(label) if target.ends_with(&label) => label,
        Some(label) => format!("{label} ({bare})"),
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mrkdwn_reads_back_as_what_was_typed() {
        for (mrkdwn, typed) in [
            ("a &lt;b&gt; &amp; c", "a <b> & c"),
            ("&amp;lt;", "&lt;"),
            (
                "see <https://shop.example/a?x=1&amp;y=2>",
                "see https://shop.example/a?x=1&y=2",
            ),
            ("<http://shop.example|shop.example>", "shop.example"),
            (
                "<https://shop.example/help|the help page>",
                "the help page (https://shop.example/help)",
            ),
            ("<mailto:ada@example.com|ada@example.com>", "ada@example.com"),
            ("<@U1> and <@U2|sam>", "@U1 and @sam"),
            ("<#C1|support> <!here> <!subteam^S1|@leads>", "#support @here @leads"),
            ("<!date^1700000000^{date}|14 November>", "14 November"),
            ("1 < 2", "1 < 2"),
        ] {
            assert_eq!(plain(mrkdwn), typed);
        }
    }

    #[test]
    fn escaping_leaves_nothing_that_slack_would_act_on() {
        assert_eq!(escape("<!channel> & <@U1>"), "&lt;!channel&gt; &amp; &lt;@U1&gt;");
        assert_eq!(plain(&escape("<!channel> & <@U1>")), "<!channel> & <@U1>");
    }

    #[test]
    fn clipped_text_keeps_to_the_limit_whatever_it_is_made_of() {
        for c in ["a", "&", "退", "😀", "a ", "\u{301}"] {
            let text = c.repeat(500);
            for max in [10, 99, 100, 101] {
                let clipped = clip(&text, max, "…");
                assert!(size(&clipped) <= max, "{c} {max}: {}", size(&clipped));
                assert!(clipped.ends_with('…'));
            }
        }
        assert_eq!(clip("short", 5, "…"), "short");
    }

    #[test]
    fn parts_make_the_whole_again() {
        let text = "Dear Ada,\n\nyour refund left us on Monday. 退款已经发出。\n\nBest wishes & thanks\n".repeat(40);
        for max in [1, 7, 50, 333, 5000] {
            let parts = parts(&text, max);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().all(|part| size(part) <= max.max(5)), "{max}");
        }
        assert!(parts("", 10).is_empty());
    }

    #[test]
    fn a_text_cannot_turn_the_direction_of_the_line_below() {
        assert_eq!(drawable("ok\u{202e}evil\0\u{7}\r\n"), "ok\u{fffd}evil\n");
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
    }
}
