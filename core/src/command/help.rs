//! What the table of commands tells people: help, and completion of a line that is being typed.

use super::{table, tidy};

/// One line of help, as a surface lays it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelpLine {
    /// Empty for the two forms that begin with the ticket itself.
    pub name: &'static str,
    /// `<ticket>`, `[mine|overdue]`, or empty.
    pub argument: &'static str,
    pub sentence: &'static str,
}

/// Every command, in the order in which people need them.
pub fn help() -> Vec<HelpLine> {
    let triage = [
        HelpLine {
            name: "",
            argument: "<ticket>",
            sentence: "Triages a ticket (T-1001, or zendesk:35436), or shows where its run is.",
        },
        HelpLine {
            name: "",
            argument: "<ticket> <instruction>",
            sentence: "The same, with an instruction for the run.",
        },
    ];
    let rest = table::TABLE.iter().map(|entry| HelpLine {
        name: entry.name,
        argument: entry.shown(),
        sentence: entry.sentence,
    });
    triage.into_iter().chain(rest).collect()
}

/// A completion of what was typed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The whole line as it would be.
    pub text: String,
    pub sentence: &'static str,
}

/// Completions of a line that is being typed: keywords, then the words that a keyword takes. Ticket numbers are not
/// known here; a surface adds them.
pub fn suggest(prefix: &str) -> Vec<Suggestion> {
    let (word, rest) = tidy::first_word(prefix);
    let keyword = word.to_lowercase();
    let keyword_ended = prefix.trim_start().contains(char::is_whitespace);
    if !keyword_ended {
        return table::TABLE
            .iter()
            .filter(|entry| entry.name.starts_with(&keyword))
            .map(|entry| Suggestion {
                text: entry.name.to_owned(),
                sentence: entry.sentence,
            })
            .collect();
    }
    let Some(entry) = table::find(&keyword) else {
        return Vec::new();
    };
    let begun = rest.to_lowercase();
    entry
        .words()
        .iter()
        .filter(|word| word.starts_with(&begun))
        .map(|word| Suggestion {
            text: format!("{} {word}", entry.name),
            sentence: entry.sentence,
        })
        .collect()
}
