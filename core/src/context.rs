//! What of a long run the model still sees: shortened outcomes, and older turns as a summary.
//!
//! A transcript itself is never shortened: what is left out here stays in the store. Triage results live on the ticket,
//! and approvals and outcomes in their rows, so that no summary can lose them.

mod cut;
pub(crate) mod estimate;
mod shorten;
pub(crate) mod summary;

pub use cut::Cut;
use cut::Keep;
pub use estimate::tokens;
pub use shorten::{shorten, window};
pub use summary::{Compacting, digest, model_summary};
pub(crate) use summary::{Prompted, Told, line};

use crate::facts::Facts;
use crate::transcript::Transcript;

/// Whether older turns must become a summary before the model is asked again, and which.
///
/// `None` when the request is short enough, and when there is nothing that could be left out.
pub fn due(transcript: &Transcript, facts: &Facts) -> Option<Compacting> {
    let limit = facts.limits.compact_above_tokens;
    let asked = transcript.asked_to_compact();
    let head = estimate::head(&facts.prompt.system, &facts.outside);
    if !asked && transcript.next_request(head) <= limit {
        return None;
    }
    let cut = cut::find(transcript, keep(facts, asked))?;
    Some(summary::request(transcript, cut, facts))
}

/// Whether a request that a model finds too long could be made shorter.
pub fn can_shorten(transcript: &Transcript, facts: &Facts) -> bool {
    cut::find(transcript, keep(facts, true)).is_some()
}

fn keep(facts: &Facts, asked: bool) -> Keep {
    Keep {
        steps: facts.limits.keep_recent,
        // Half of what fits, so that the next summary is not due with the next turn.
        tokens: facts.limits.compact_above_tokens / 2,
        asked,
    }
}

#[cfg(test)]
mod tests;
