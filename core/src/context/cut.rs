//! Where a transcript may be parted into what is summarised and what stays.
//!
//! Before a comment, or before a reply of the model all of whose predecessors have their outcomes: a call is never
//! parted from its outcome.

use serde::{Deserialize, Serialize};

use super::estimate;
use crate::step::StepKind;
use crate::transcript::Transcript;

/// Everything before step `step`, and of that step the first `comments` comments, is summarised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cut {
    pub step: i32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub comments: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What should stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// The newest steps, as far as they fit.
    pub(super) steps: usize,
    /// At most this many.
    pub(super) tokens: u64,
    /// A person asked: as short as the newest steps let it be.
    pub(super) asked: bool,
}

/// Less than this many tokens are not worth a summary.
const WORTH_IT: u64 = 2000;

/// The cut that leaves the most of what may stay; `None` when there is none after the last one.
pub(super) fn find(transcript: &Transcript, keep: Keep) -> Option<Cut> {
    let last = transcript.compacted().map(|(cut, _)| cut);
    let candidates: Vec<(Cut, u64, usize)> = candidates(transcript)
        .into_iter()
        .filter(|(cut, ..)| last.is_none_or(|last| *cut > last))
        .filter(|(cut, ..)| transcript.has_something_before(*cut))
        .collect();
    if keep.asked {
        // The newest cut that still leaves the newest steps.
        let enough = candidates.iter().rev().find(|(.., steps)| *steps >= keep.steps);
        // Where few steps are long, half of them.
        let all = transcript.length();
        let half = || {
            candidates
                .iter()
                .find(|(_, tokens, _)| all > WORTH_IT && *tokens <= all / 2)
        };
        return enough.or_else(half).map(|(cut, ..)| *cut);
    }
    let (cut, ..) = candidates
        .iter()
        .find(|(_, tokens, _)| *tokens <= keep.tokens)
        .or(candidates.last())?;
    Some(*cut)
}

/// Every place for a cut, from the oldest on, with the tokens and steps that would stay.
fn candidates(transcript: &Transcript) -> Vec<(Cut, u64, usize)> {
    let steps = transcript.steps();
    let mut found = Vec::new();
    let mut behind = 0;
    for (at, step) in steps.iter().enumerate().rev() {
        let stays = steps.len() - at;
        match &step.kind {
            StepKind::Heard { comments, .. } => {
                let mut kept = behind;
                for (n, comment) in comments.iter().enumerate().rev() {
                    kept += estimate::comment(comment);
                    found.push((
                        Cut {
                            step: step.seq,
                            comments: n,
                        },
                        kept,
                        stays,
                    ));
                }
            }
            StepKind::Replied { .. } => {
                let kept = behind + estimate::step(&step.kind);
                found.push((
                    Cut {
                        step: step.seq,
                        comments: 0,
                    },
                    kept,
                    stays,
                ));
            }
            _ => {}
        }
        behind += estimate::step(&step.kind);
    }
    found.reverse();
    found
}
