//! Rules as data: which meanings speak for which category, and what a category with its signals makes of priority and
//! action. A customer's words choose among these; they never say what is to be done.

mod outcome;
mod score;
mod signal;

use super::language::{Guess, guess_ticket};
use super::lexicon::{Found, lexicon};
use super::text::{Sentence, part_hidden, raw_sentences, unquoted, words};
use score::category_scores;
use signal::signals;

pub use outcome::{action, priority};
pub use signal::Signal;

/// What the rules read in a ticket.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub language: Guess,
    /// Category and its score, best first; empty when no rule spoke.
    pub scores: Vec<(&'static str, f64)>,
    pub signals: Vec<Signal>,
    /// Phrases that were found, as the lists write them, with their meaning: the evidence for a reason.
    pub evidence: Vec<(&'static str, &'static str)>,
    /// The customer's visible words without quotes and without sentences that address a machine.
    pub substance: String,
}

impl Reading {
    pub fn has(&self, signal: Signal) -> bool {
        self.signals.contains(&signal)
    }

    /// The phrases of a meaning that were found.
    pub fn phrases(&self, meaning: &str) -> Vec<&'static str> {
        self.evidence
            .iter()
            .filter(|(name, _)| *name == meaning)
            .map(|(_, phrase)| *phrase)
            .collect()
    }
}

/// Reads a ticket by the rules. `body` is what the requester wrote, newest last.
pub fn read(subject: &str, body: &str) -> Reading {
    let (shown, hidden) = part_hidden(body);
    let shown = unquoted(&shown);
    let language = guess_ticket(subject, &shown);
    let mut injected = false;
    let mut substance = Vec::new();
    let mut sentences: Vec<(Sentence, Vec<Found>)> = Vec::new();
    // A sentence after "SYSTEM:" belongs to it: whoever writes orders to a machine writes several.
    let mut in_orders = false;
    for (place, raw) in raw_sentences(subject)
        .into_iter()
        .map(|raw| (0, raw))
        .chain(raw_sentences(&shown).into_iter().map(|raw| (1, raw)))
    {
        let sentence = words(raw);
        let found = lexicon().find(&sentence);
        let marker = addresses_machine(raw);
        let orders = marker || found.iter().any(|one| one.meaning == "injection");
        if orders {
            injected = true;
            in_orders = marker || in_orders;
            continue;
        }
        if in_orders && place == 1 {
            continue;
        }
        if place == 1 {
            substance.push(raw);
        }
        let found = found
            .into_iter()
            .filter(|one| may_speak(one.language, &language))
            .collect();
        sentences.push((sentence, found));
    }
    let hidden_orders = !hidden.trim().is_empty()
        && (hidden.lines().any(addresses_machine)
            || raw_sentences(&hidden)
                .iter()
                .any(|raw| lexicon().find(&words(raw)).iter().any(|one| one.meaning == "injection")));
    let present = |meaning: &str| {
        sentences
            .iter()
            .any(|(_, found)| found.iter().any(|one| one.meaning == meaning))
    };
    let scores = category_scores(&sentences);
    let mut signals = signals(&sentences, &scores, &present, &shown);
    if injected {
        signals.push(Signal::PromptInjection);
    }
    if hidden_orders {
        signals.push(Signal::HiddenInjection);
    }
    let mut evidence: Vec<(&'static str, &'static str)> = sentences
        .iter()
        .flat_map(|(_, found)| found)
        .map(|one| (one.meaning, one.phrase))
        .collect();
    evidence.dedup();
    Reading {
        language,
        scores,
        signals,
        evidence,
        substance: substance.join(" "),
    }
}

/// Marks of a text that pretends to be another speaker in a model's transcript.
fn addresses_machine(raw: &str) -> bool {
    let lower = raw
        .trim_start_matches(['#', '*', '[', '<', '|', ' ', '/', '-'])
        .to_lowercase();
    [
        "system:",
        "system :",
        "assistant:",
        "developer:",
        "system]",
        "system>",
        "/inst]",
        "inst]",
        "im_start",
        "system prompt",
        "システム:",
        "系统:",
        "系统：",
        "system：",
    ]
    .iter()
    .any(|mark| lower.starts_with(mark))
        || lower.contains("</system>")
        || lower.contains("<|im_")
}

/// A phrase counts when its language is the ticket's, a close relative's, or English, which everyone mixes in.
fn may_speak(phrase: &str, guess: &Guess) -> bool {
    const RELATIVES: [&[&str]; 4] = [&["sv", "da", "no"], &["es", "pt"], &["ru", "uk", "bg"], &["zh", "ja"]];
    let near = RELATIVES
        .iter()
        .any(|family| family.contains(&phrase) && family.contains(&guess.language));
    phrase == guess.language || phrase == "en" || near || guess.confidence < 0.45
}

#[cfg(test)]
mod tests;
