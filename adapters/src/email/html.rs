//! The readable text of an HTML body.
//!
//! Quotes become lines with `>`, so that the splitting of replies sees them. Links keep their target where it tells more
//! than their text. Scripts, styles, and comments are gone. It is text for reading, not for showing as HTML.

use htmd::HtmlToMarkdown;

/// Deeper nesting, or more of it, is no letter: it is flattened by a scanner that needs no stack.
const DEEPEST: usize = 150;
const LARGEST: usize = 2 * 1024 * 1024;

pub fn to_text(html: &str) -> String {
    let text = if html.len() <= LARGEST && depth(html) <= DEEPEST {
        converted(html)
    } else {
        None
    };
    let text = text.unwrap_or_else(|| mail_parser::decoders::html::html_to_text(html));
    without_gaps(&text)
}

fn converted(html: &str) -> Option<String> {
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "head", "title", "noscript", "template", "img"])
        .build();
    converter.convert(html).ok().map(|markdown| plain(&markdown))
}

/// How deep elements may be nested at most, counted without knowing which of them close themselves.
fn depth(html: &str) -> usize {
    const VOID: [&str; 8] = ["br", "hr", "img", "meta", "link", "input", "col", "wbr"];
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let name: String = tag
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase();
            if !VOID.contains(&name.as_str()) && name != "p" && name != "o" {
                depth += 1;
                deepest = deepest.max(depth);
            }
        }
    }
    deepest
}

/// Markdown's escapes and emphasis taken back: nobody renders this.
fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut characters = markdown.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('\\', Some(next)) if next.is_ascii_punctuation() => {
                out.push(*next);
                characters.next();
            }
            ('*', Some('*')) => {
                characters.next();
            }
            _ => out.push(c),
        }
    }
    links(&out)
}

/// `[text](target)` to `text <target>`, or to the one of both that says it all.
fn links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..]
            .find("](")
            .filter(|middle| *middle < 2000 && !rest[open + 1..open + middle].contains('['));
        let parts = link.and_then(|middle| {
            let target = &rest[open + middle + 2..];
            let close = target
                .find(')')
                .filter(|close| *close < 4000 && !target[..*close].contains(char::is_whitespace))?;
            Some((
                &rest[open + 1..open + middle],
                &target[..close],
                open + middle + 2 + close + 1,
            ))
        });
        let Some((label, target, end)) = parts else {
            out.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        out.push_str(&rest[..open]);
        let bare = target.trim_start_matches("mailto:").trim_end_matches('/');
        let same = label.trim_end_matches('/') == bare
            || bare.trim_start_matches("https://").trim_start_matches("http://") == label.trim();
        if label.trim().is_empty() {
            out.push_str(bare);
        } else if same || target.starts_with("mailto:") || target.starts_with("tel:") || target.starts_with('#') {
            out.push_str(label);
        } else {
            out.push_str(&format!("{label} <{target}>"));
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Trailing spaces and more than one empty line in a row say nothing.
fn without_gaps(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.trim_matches(['\u{a0}', ' ']).is_empty() {
            empty + 1
        } else {
            0
        };
        if empty <= 1 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_reads_as_it_was_written() {
        let html = "<html><head><style>p{}</style><title>x</title></head><body><p>Hello <b>team</b>,<br>my \
                    <a href=\"https://x.example/o/42\">order</a> costs 5*3_2 [net].</p><ul><li>one</li><li>two</li></ul>\
                    <div>On 3 Sep 2026 at 18:02, Care &lt;care@x.example&gt; wrote:</div><blockquote>old<br>words</blockquote>\
                    <script>alert(1)</script></body></html>";
        let text = to_text(html);
        for part in [
            "Hello team,",
            "order <https://x.example/o/42>",
            "5*3_2 [net]",
            "one\n",
            "<care@x.example> wrote:",
            "> old",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("alert") && !text.contains("p{}"));
    }

    #[test]
    fn table_cells_do_not_stick_together() {
        let text = to_text("<table><tr><td>Lamp</td><td>2</td></tr><tr><td>Bulb</td><td>4</td></tr></table>");
        assert!(!text.contains("Lamp2") && !text.contains("2Bulb"), "{text}");
    }

    #[test]
    fn a_bomb_of_nesting_is_flattened() {
        let text = to_text(&format!("{}deep{}", "<div>".repeat(200_000), "</div>".repeat(200_000)));
        assert!(text.contains("deep"));
        assert!(to_text(&"<".repeat(3_000_000)).len() < 4_000_000);
        assert!(to_text(&"[a](".repeat(20_000)).len() < 1_000_000);
    }
}
