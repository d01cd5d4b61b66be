//! What is peculiar about a ticket, beside its category.

use crate::offline::lexicon::Found;
use crate::offline::text::Sentence;

/// What is peculiar about a ticket, beside its category. The names are the tags that people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    Outage,
    AccountTakeover,
    DataProtection,
    MoneyTaken,
    TimeCritical,
    RepeatedContact,
    NothingToDo,
    Newsletter,
    Robot,
    /// Text that addresses a machine, in what the customer sees of their own mail.
    PromptInjection,
    /// The same, hidden in a comment of the HTML: seldom the customer's own doing.
    HiddenInjection,
    MultiIntent,
    /// Asks how something is done, with no order at stake.
    HowTo,
    /// Wants something changed that costs money or moves goods.
    Transaction,
    /// Wants a paper only.
    Paper,
}

impl Signal {
    pub fn tag(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::AccountTakeover => "account_takeover",
            Self::DataProtection => "data_protection",
            Self::MoneyTaken => "money_taken",
            Self::TimeCritical => "time_critical",
            Self::RepeatedContact => "repeated_contact",
            Self::NothingToDo => "nothing_to_do",
            Self::Newsletter => "newsletter",
            Self::Robot => "automatic",
            Self::PromptInjection | Self::HiddenInjection => "prompt_injection",
            Self::MultiIntent => "multi_intent",
            Self::HowTo => "how_to",
            Self::Transaction => "transaction",
            Self::Paper => "document_request",
        }
    }
}

/// The signs that the meanings in a ticket give; orders to a machine are added by the reader, who drops them.
pub(super) fn signals(
    sentences: &[(Sentence, Vec<Found>)],
    scores: &[(&'static str, f64)],
    present: &dyn Fn(&str) -> bool,
    shown: &str,
) -> Vec<Signal> {
    let near = |one: &str, other: &str| {
        let holds = |window: &[(Sentence, Vec<Found>)], meaning: &str| {
            window
                .iter()
                .any(|(_, found)| found.iter().any(|phrase| phrase.meaning == meaning))
        };
        sentences
            .windows(2.min(sentences.len().max(1)))
            .any(|window| holds(window, one) && holds(window, other))
    };
    let score = |category: &str| {
        scores
            .iter()
            .find(|(name, _)| *name == category)
            .map_or(0.0, |(_, score)| *score)
    };
    let length: usize = sentences.iter().map(|(sentence, _)| sentence.len()).sum();
    let serious = scores
        .iter()
        .filter(|(name, _)| !matches!(*name, "other" | "feedback" | "presales"))
        .map(|(_, score)| *score)
        .fold(0.0, f64::max);
    let asks = shown.contains(['?', '？', '؟']);
    let numbered = sentences
        .iter()
        .flat_map(|(sentence, _)| sentence)
        .any(|word| word.len() >= 4 && word.chars().all(|c| c.is_ascii_digit()));
    let mut out = Vec::new();
    let mut say = |signal, holds: bool| {
        if holds {
            out.push(signal);
        }
    };
    say(Signal::Outage, near("everyone", "down") && score("technical") > 5.0);
    say(
        Signal::AccountTakeover,
        near("hacked", "account") || near("hacked", "login_trouble"),
    );
    say(Signal::DataProtection, present("data_protection"));
    say(Signal::MoneyTaken, score("billing") >= 4.2 && present("wrong_charge"));
    say(Signal::TimeCritical, present("cancel") && present("just_now"));
    say(Signal::RepeatedContact, present("again"));
    let done = present("done") && serious < 3.9 && !asks;
    let thanks =
        present("thanks") && serious < 1.3 && !asks && length <= 14 && !present("praise") && !present("suggestion");
    let empty = length == 0;
    say(Signal::NothingToDo, done || thanks && score("presales") < 2.0 || empty);
    say(Signal::Newsletter, present("newsletter"));
    say(Signal::Robot, present("robot"));
    say(Signal::HowTo, present("how") && !numbered);
    say(
        Signal::Transaction,
        [
            "refund",
            "exchange",
            "return",
            "cancel",
            "change_address",
            "change_account",
            "wrong_item",
            "damaged",
        ]
        .into_iter()
        .any(present),
    );
    say(
        Signal::Paper,
        present("invoice")
            && present("send_me")
            && !present("wrong_charge")
            && !present("wrong_item")
            && !present("fails"),
    );
    let strong = scores
        .iter()
        .filter(|(name, score)| *score >= 3.2 && *name != "other")
        .count();
    say(Signal::MultiIntent, strong >= 2 && sentences.len() >= 2);
    out
}
