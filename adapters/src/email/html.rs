//! The readable text of an HTML body.
//!
//! Quotes become lines with `>`, so that the splitting of replies sees them. Links keep their target where it tells more
//! than their text. Scripts, styles, and comments are gone. It is text for reading, not for showing as HTML.

use std::rc::Rc;

use htmd::{HtmlToMarkdown, Node};
use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::RcDom;

/// Deeper nesting, or more of it, is no letter: it is flattened by a scanner that needs no stack.
const DEEPEST: usize = 150;
const LARGEST: usize = 512 * 1024;
const NODES: usize = 150_000;
/// Building the tree costs its depth with every tag, and one unclosed tag can come to many nodes: so the tree is looked at
/// after each so many bytes of it, and given up before it has become expensive.
const PIECE: usize = 4096;
/// The longest words and the longest target of a link that is taken for one.
const LINK: (usize, usize) = (2000, 4000);

pub fn to_text(html: &str) -> String {
    let text = (html.len() <= LARGEST).then(|| converted(html)).flatten();
    let text = text.unwrap_or_else(|| mail_parser::decoders::html::html_to_text(html));
    without_gaps(&text)
}

fn converted(html: &str) -> Option<String> {
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "head", "title", "noscript", "template", "img"])
        .build();
    Some(plain(&converter.tree_to_markdown(&tree(html)?)))
}

/// `None` where no letter looks like it.
fn tree(html: &str) -> Option<Rc<Node>> {
    let dom = RcDom::default();
    let document = Rc::clone(&dom.document);
    let mut parser = parse_document(dom, ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        nodes(&document, 0).filter(|many| *many <= NODES)?;
        rest = after;
    }
    parser.finish();
    Some(document)
}

/// How many there are; `None` where they are too deep. Depth is that of the tree that the converter would walk.
fn nodes(node: &Node, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let children = node.children.borrow();
    children
        .iter()
        .try_fold(1, |sum, child| Some(sum + nodes(child, depth + 1)?))
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

/// The first bytes of a text, up to a character's end: what is looked for further on would cost the square of its length.
fn up_to(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// `[text](target)` to `text <target>`, or to the one of both that says it all.
fn links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = up_to(&rest[open..], LINK.0)
            .find("](")
            .filter(|middle| !rest[open + 1..open + middle].contains('['));
        let parts = link.and_then(|middle| {
            let target = up_to(&rest[open + middle + 2..], LINK.1);
            let close = target
                .find(')')
                .filter(|close| !target[..*close].contains(char::is_whitespace))?;
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
        let text = to_text(&format!("{}deep{}", "<div>".repeat(20_000), "</div>".repeat(5_000)));
        assert!(text.contains("deep"));
        assert!(to_text(&"<".repeat(700_000)).len() < 1_000_000);
        assert!(to_text(&"[a](".repeat(5_000)).len() < 1_000_000);
        assert!(to_text(&"[".repeat(50_000)).len() < 1_000_000);
        // Depth that does not show in the tags alone, or not at the end of the tree.
        for more in ["<o>", "<div></x>", "<a><b><i></a></b>", "<table><div><p>"] {
            assert!(
                to_text(&format!("{}deep", more.repeat(5_000))).contains("deep"),
                "{more}"
            );
        }
        let different: String = (0..5_000).map(|n| format!("<p><b id={n}></p>")).collect();
        assert!(to_text(&format!("{different}deep")).contains("deep"));
    }

    #[test]
    fn a_tree_is_given_up_before_it_is_large() {
        // Each paragraph opens all that was left open before it.
        let open: String = (0..100).map(|n| format!("<b id={n}>")).collect();
        assert!(tree(&format!("<p>{open}</p>{}", "<p>x</p>".repeat(2_000))).is_none());
        assert!(tree(&"<div>".repeat(10_000)).is_none());
        assert!(tree(&"<p>It <b>hums</b>.</p>\n".repeat(2_000)).is_some());
    }
}
