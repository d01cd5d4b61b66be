//! Between plain text and Slack's own spelling of it: escaping, measuring, clipping, and reading mrkdwn back.

use crate::shown;
pub(crate) use crate::shown::{drawable, one_line, start};

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

/// The longest beginning whose [`size`] is at most `max`, and whether that is all of it. It ends at a word's end where
/// one is near.
pub fn head(text: &str, max: usize) -> (&str, bool) {
    shown::head(text, max, char_size)
}

/// At most `max`, `tail` included, which says that something was left out.
pub fn clip(text: &str, max: usize, tail: &str) -> String {
    shown::clip(text, max, tail, char_size)
}

/// Cuts a text into parts of at most `max` that make the whole again.
pub fn parts(text: &str, max: usize) -> Vec<&str> {
    shown::parts(text, max, char_size)
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
}
