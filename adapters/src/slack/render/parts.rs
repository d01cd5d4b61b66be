//! The pieces that messages and forms are made of. Each cuts its text to the limit that it is given, and never is empty,
//! because Slack refuses empty texts.

use chrono::{DateTime, SecondsFormat, Utc};
use slack_morphism::prelude::*;

use crate::slack::escape;

/// Slack's limit for a header's text.
const HEADER: usize = 150;

fn filled(text: &str, max: usize) -> String {
    let text = escape::clip(&escape::drawable(escape::start(text)), max, "…");
    if text.trim().is_empty() { "–".to_owned() } else { text }
}

/// `emoji: false` keeps `:smile:` as it was written.
pub(crate) fn plain(text: &str, max: usize) -> SlackBlockPlainText {
    SlackBlockPlainText::new(filled(text, max)).with_emoji(false)
}

pub(crate) fn header(text: &str) -> SlackBlock {
    SlackHeaderBlock::new(plain(&escape::one_line(text), HEADER).into()).into()
}

pub(crate) fn rich(elements: Vec<SlackRichTextElement>) -> SlackBlock {
    SlackRichTextBlock::new(elements).into()
}

pub(crate) fn paragraph(text: &str, max: usize) -> SlackRichTextElement {
    SlackRichTextSection::new(vec![filled(text, max).into()]).into()
}

pub(crate) fn bold(text: &str) -> SlackRichTextElement {
    SlackRichTextSection::new(vec![SlackRichTextText::new(filled(text, 600)).bold().into()]).into()
}

/// A name in bold and what it is.
pub(crate) fn named(name: &str, text: &str, max: usize) -> SlackRichTextElement {
    let name = SlackRichTextText::new(format!("{}: ", filled(name, 100))).bold();
    SlackRichTextSection::new(vec![name.into(), filled(text, max).into()]).into()
}

pub(crate) fn quote(text: &str, max: usize) -> SlackRichTextElement {
    SlackRichTextQuote::new(vec![filled(text, max).into()]).into()
}

/// As in a code block: every character counts.
pub(crate) fn fixed(text: &str, max: usize) -> SlackRichTextElement {
    SlackRichTextPreformatted::new(vec![filled(text, max).into()]).into()
}

pub(crate) fn list(items: &[String], max: usize) -> SlackRichTextElement {
    let items = items.iter().map(|item| filled(item, max).into()).collect();
    SlackRichTextList::new(SlackRichTextListStyle::Bullet, items).into()
}

pub(crate) fn context(elements: Vec<SlackContextBlockElement>) -> SlackBlock {
    SlackContextBlock::new(elements).into()
}

/// Our own words in mrkdwn, without Slack turning names in them into links.
pub(crate) fn own(mrkdwn: String) -> SlackBlockMarkDownText {
    SlackBlockMarkDownText::new(mrkdwn).with_verbatim(true)
}

/// A time that Slack shows in each reader's own zone, in one of its formats; UTC for clients that cannot.
pub(crate) fn time(at: DateTime<Utc>, format: &str) -> String {
    let fallback = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    format!("<!date^{}^{format}|{fallback}>", at.timestamp())
}

/// A link, if the address is one that a browser opens. Slack's three control characters and the bar cannot stand in it.
pub(crate) fn link(address: &str, label: &str) -> Option<String> {
    let address = url::Url::parse(address)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let address = address
        .as_str()
        .replace('&', "&amp;")
        .replace('<', "%3C")
        .replace('>', "%3E")
        .replace('|', "%7C");
    (address.len() <= 2000).then(|| format!("<{address}|{}>", escape::escape(label)))
}
