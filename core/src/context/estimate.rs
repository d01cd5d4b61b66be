//! How many tokens a text is: deterministic, offline, and honest where a character is a word.
//!
//! Providers do not publish their counts, and each has its own. What counts is that a Chinese ticket is not taken for a
//! quarter of its size; the rest is corrected by the usage that the provider reports.

use std::sync::LazyLock;

use crate::model::{Part, Turn};
use crate::step::StepKind;
use crate::tool::{self, outside::OutsideTool};

/// What each turn, call and outcome costs beside its text: roles, ids, braces.
const FRAME: u64 = 6;

/// Tokens of a text: one for a Chinese, Japanese or Korean character, half for another one outside ASCII, a quarter for
/// the rest, rounded up.
pub fn tokens(text: &str) -> u64 {
    let quarters: u64 = text
        .chars()
        .map(|c| match c {
            '\0'..='\x7f' => 1,
            c if is_wide(c) => 4,
            _ => 2,
        })
        .sum();
    quarters.div_ceil(4)
}

/// Scripts in which a character is about a token.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'     // Hangul letters
        | '\u{2e80}'..='\u{9fff}'   // radicals, kana, unified ideographs
        | '\u{ac00}'..='\u{d7af}'   // Hangul syllables
        | '\u{f900}'..='\u{faff}'   // compatibility ideographs
        | '\u{ff00}'..='\u{ffef}'   // full-width forms
        | '\u{1f000}'..='\u{1faff}' // pictographs
        | '\u{20000}'..='\u{3ffff}')
}

/// The stable head of a request: the system prompt and the tools.
pub(super) fn head(system: &str, outside: &[OutsideTool]) -> u64 {
    static OURS: LazyLock<u64> = LazyLock::new(|| tool::specs(&[]).iter().map(spec).sum());
    let theirs: u64 = outside.iter().map(|tool| spec(&tool.spec())).sum();
    tokens(system) + *OURS + theirs
}

fn spec(spec: &crate::model::ToolSpec) -> u64 {
    tokens(&spec.description) + tokens(&spec.schema.to_string()) + FRAME
}

/// What a step adds to every request after it.
pub(crate) fn step(kind: &StepKind) -> u64 {
    match kind {
        StepKind::Heard { brief, comments, .. } => {
            let comments: u64 = comments.iter().map(comment).sum();
            tokens(&brief.subject) + tokens(&brief.requester) + comments + 4 * FRAME
        }
        StepKind::Instructed { text, .. } | StepKind::Tasked { text } | StepKind::Noted { text, .. } => {
            tokens(text) + 2 * FRAME
        }
        StepKind::Nudged => 4 * FRAME,
        StepKind::Partial { text, .. } => tokens(text) + 4 * FRAME,
        StepKind::Replied { reply, .. } => {
            let calls: u64 = reply
                .calls
                .iter()
                .map(|call| tokens(&call.args.to_string()) + 2 * FRAME)
                .sum();
            // Thoughts are replayed with the provider's own message and stand nowhere else.
            tokens(&reply.text).max(reply.usage.output.saturating_sub(calls)) + calls + FRAME
        }
        StepKind::Outcome { outcome, .. } => tokens(&outcome.text) + FRAME,
        StepKind::Compacted { .. }
        | StepKind::CompactAsked { .. }
        | StepKind::Started { .. }
        | StepKind::Asked { .. }
        | StepKind::Awaited { .. }
        | StepKind::Booked { .. }
        | StepKind::Stumbled { .. } => 0,
    }
}

pub(crate) fn comment(comment: &crate::ticket::Comment) -> u64 {
    tokens(&comment.body) + tokens(&comment.author_name) + 2 * FRAME
}

/// Turns that are made for one request only.
pub(crate) fn turns(turns: &[Turn]) -> u64 {
    turns
        .iter()
        .map(|turn| match turn {
            Turn::Told(parts) => parts.iter().map(part).sum(),
            Turn::Said(reply) => tokens(&reply.text) + FRAME,
            Turn::Outcomes(answers) => answers.iter().map(|answer| tokens(&answer.text) + FRAME).sum(),
        })
        .sum()
}

fn part(part: &Part) -> u64 {
    tokens(&part.render())
}
