//! What people said of it: the fate of a draft, and the team's guidance as far as it is simple.

use crate::offline::case::Done;
use crate::offline::draft::Wishes;
use crate::offline::house::House;
use crate::offline::named::names_category;

pub(super) enum Verdict {
    NotYet,
    Waiting,
    Went,
    Rejected(String),
    Failed,
}

pub(super) fn verdict(tried: Option<&Done<'_>>, told: &[&str]) -> Verdict {
    let Some(tried) = tried else { return Verdict::NotYet };
    let Some(answer) = tried.answer else {
        return Verdict::Waiting;
    };
    let rejected = |text: &str| text.to_lowercase().contains("rejected");
    if rejected(&answer.text) {
        return Verdict::Rejected(answer.text.clone());
    }
    if let Some(text) = told.iter().rev().find(|text| rejected(text)) {
        return Verdict::Rejected((*text).to_owned());
    }
    if answer.failed { Verdict::Failed } else { Verdict::Went }
}

/// What the team told us, as far as it is simple.
#[derive(Default)]
pub(super) struct Guidance {
    pub(super) wishes: Wishes,
    pub(super) hand_over: bool,
    pub(super) escalate: Option<u8>,
    /// The place of the category that the team named.
    pub(super) category: Option<usize>,
}

impl Guidance {
    pub(super) fn read(told: &[&str], house: &House) -> Self {
        let mut guidance = Self::default();
        for text in told {
            let lower = text.to_lowercase();
            if lower.contains("rejected") || lower.contains("withdrawn") {
                continue;
            }
            guidance.wishes = guidance.wishes.with(text);
            let said = text.split_once(" of the team: ").map_or(*text, |(_, said)| said);
            let named = house.categories.iter().position(|one| names_category(said, &one.name));
            guidance.category = named.or(guidance.category);
            if [
                "hand over",
                "hand it over",
                "do not reply",
                "don't reply",
                "do not answer",
                "no reply",
                "leave it to",
            ]
            .iter()
            .any(|mark| lower.contains(mark))
            {
                guidance.hand_over = true;
            }
            if lower.contains("escalate") && !lower.contains("not escalate") {
                guidance.escalate = Some(
                    if ["level 2", "l2", "second level"]
                        .iter()
                        .any(|mark| lower.contains(mark))
                    {
                        2
                    } else {
                        1
                    },
                );
            }
        }
        guidance
    }
}

impl Wishes {
    /// What a supervisor's reason asks for, beside what was asked for already.
    pub(super) fn with(self, reason: &str) -> Self {
        let lower = reason.to_lowercase();
        let says = |marks: &[&str]| marks.iter().any(|mark| lower.contains(mark));
        Self {
            shorter: self.shorter
                || says(&[
                    "short",
                    "too long",
                    "brief",
                    "concise",
                    "kürzer",
                    "zu lang",
                    "plus court",
                    "trop long",
                    "más corto",
                    "太长",
                    "短く",
                ]),
            warmer: self.warmer
                || says(&[
                    "friendl",
                    "warm",
                    "tone",
                    "polite",
                    "apolog",
                    "sorry",
                    "empath",
                    "freundlich",
                    "höflich",
                    "entschuldig",
                    "aimable",
                    "excus",
                    "amable",
                    "语气",
                    "丁寧",
                ]),
        }
    }
}
