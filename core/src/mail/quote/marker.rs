//! Lines that part a mail without being a sentence or a label: "-----Original Message-----", "---------- Forwarded
//! message ---------", Apple's "Begin forwarded message:", and the help desks' "reply above this line".

use super::lexicon::lexicon;
use super::line::Line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// The answered mail follows.
    Original,
    /// A mail that was passed on follows.
    Forwarded,
    /// A whole sentence says that a forwarded mail begins: believed above a header block.
    Begin,
    /// Everything from here was there before the reply.
    ReplyAbove,
    /// A drawn rule, or words between dashes that are not known: means something only above a header block.
    Rule,
}

/// Longer lines are sentences.
const LONGEST: usize = 160;

pub(super) fn marker(line: &Line<'_>) -> Option<Marker> {
    if line.blank || line.length > LONGEST {
        return None;
    }
    if line.rule {
        return (line.length >= 4).then_some(Marker::Rule);
    }
    let text = line.folded.as_str();
    let drawn = ['-', '_', '=', '#', '*', '~', '\u{2014}', '\u{2500}', ' ', '<', '>', '|'];
    let inner = text.trim_matches(drawn);
    if inner.is_empty() {
        return None;
    }
    let before = text.len() - text.trim_start_matches(drawn).len();
    let after = text.len() - text.trim_end_matches(drawn).len();
    let words = lexicon();
    let asks = before > 0 || words.begins("reply", inner) || inner.starts_with("please") || inner.starts_with("bitte");
    if asks && words.has("above", inner) && words.has("rule", inner) && words.has("reply", inner) {
        return Some(Marker::ReplyAbove);
    }
    let framed = before >= 2 && (after >= 2 || before >= 4);
    let short = inner.chars().count() <= 60;
    if framed && short {
        // "原始邮件" is within "转发的原始邮件", so the forward is asked for first.
        return Some(if words.has("forwarded", inner) {
            Marker::Forwarded
        } else if words.has("original", inner) {
            Marker::Original
        } else {
            Marker::Rule
        });
    }
    if short && inner.ends_with(':') && words.has("begin", inner) && words.has("forwarded", inner) {
        return Some(Marker::Begin);
    }
    let named = short && words.is("original", inner.trim_end_matches([':', ' ']));
    let forward = short && words.is("forwarded", inner.trim_end_matches([':', ' ']));
    (named || forward).then_some(Marker::Rule)
}
