//! Calls as a model makes them, and the comparison of what happened with what should have.

use serde_json::{Value, json};

pub(crate) fn reply(text: &str) -> (&'static str, Value) {
    ("reply_customer", json!({ "text": text }))
}

pub(crate) fn ask(question: &str, options: &[&str]) -> (&'static str, Value) {
    ("ask_question", json!({ "question": question, "options": options }))
}

pub(crate) fn spawn(task: &str) -> (&'static str, Value) {
    ("spawn_helper", json!({ "task": task }))
}

pub(crate) fn waits(helpers: &[i32]) -> (&'static str, Value) {
    ("wait_helper", json!({ "helpers": helpers }))
}

pub(crate) fn escalate(level: u8) -> (&'static str, Value) {
    (
        "escalate_ticket",
        json!({ "level": level, "team": "billing", "reason": "A chargeback." }),
    )
}

pub(crate) fn classify(action: &str) -> (&'static str, Value) {
    let args = json!({ "category": "refund", "priority": "high", "language": "en", "action": action,
                       "confidence": 0.8, "reason": "Wants money back." });
    ("classify_ticket", args)
}

pub(crate) fn route(team: &str) -> (&'static str, Value) {
    ("route_ticket", json!({ "team": team }))
}

pub(crate) fn note(text: &str) -> (&'static str, Value) {
    ("add_note", json!({ "text": text }))
}

pub(crate) fn read(article: &str) -> (&'static str, Value) {
    ("read_article", json!({ "article_id": article }))
}

pub(crate) fn change(article: &str, old: &str, new: &str) -> (&'static str, Value) {
    let args = json!({ "article_id": article, "old_text": old, "new_text": new, "rationale": "It is out of date." });
    ("propose_knowledge_edit", args)
}

/// Compares what happened with what should have, line by line; indentation does not count.
#[track_caller]
pub(crate) fn check(happened: &str, expected: &str) {
    let lines = |text: &str| {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (happened, expected): (Vec<String>, Vec<String>) = (lines(happened), lines(expected));
    assert!(
        happened == expected,
        "what happened:\n{}\nwhat should have:\n{}",
        happened.join("\n"),
        expected.join("\n")
    );
}
