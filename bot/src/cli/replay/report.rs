//! What a replay found, for people and for programs.

use std::fmt::Write;

use deskhand_core::budget;
use deskhand_core::replay::Change;
use serde_json::{Value, json};

use super::again::Replayed;
use crate::cli::ask::clean_lines;
use crate::cli::table::{clip, coloured_diff, styled, table};

/// What is counted, in the order in which people ask.
const PARTS: [&str; 8] = [
    "category",
    "priority",
    "team",
    "action",
    "language",
    "draft",
    "escalation",
    "edits",
];

/// One ticket in full; several as a table, with the sums below.
pub(super) fn text(all: &[Replayed]) -> String {
    match all {
        [one] => single(one),
        all => scorecard(all),
    }
}

fn single(one: &Replayed) -> String {
    let mut text = match &one.missing {
        Some(why) => format!("{} was not replayed: {why}.", one.ticket),
        None if one.changes.is_empty() => format!("{}: nothing would change.", one.ticket),
        None => styled(&format!("{} would change:", one.ticket), "1"),
    };
    for change in &one.changes {
        match &change.diff {
            Some(diff) => {
                let _ = write!(
                    text,
                    "\n  {}:\n{}",
                    change.what,
                    coloured_diff(&clean_lines(diff.trim_end()))
                );
            }
            None => {
                let _ = write!(text, "\n  {}: {}", change.what, arrow(change));
            }
        }
    }
    for remark in &one.remarks {
        let _ = write!(text, "\n{remark}");
    }
    let _ = write!(text, "\n{}", styled(&cost(std::slice::from_ref(one)), "2"));
    text
}

fn scorecard(all: &[Replayed]) -> String {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|one| {
            let what = match &one.missing {
                Some(why) => format!("not replayed: {why}"),
                None if one.changes.is_empty() => "same".to_owned(),
                None => {
                    let changes: Vec<String> = one.changes.iter().map(short).collect();
                    changes.join("; ")
                }
            };
            vec![one.ticket.to_string(), clip(&what, 120)]
        })
        .collect();
    let replayed: Vec<&Replayed> = all.iter().filter(|one| one.missing.is_none()).collect();
    let same = replayed.iter().filter(|one| one.changes.is_empty()).count();
    let mut text = table(&["ticket", "what would change"], &rows);
    let _ = write!(
        text,
        "\n\n{} of {} tickets the same{}.",
        same,
        replayed.len(),
        percent(same, replayed.len())
    );
    for (part, count) in counts(&replayed) {
        let _ = write!(
            text,
            "\n  {part:<10} {count} would change{}",
            percent(count, replayed.len())
        );
    }
    let mut remarks: Vec<&String> = all.iter().flat_map(|one| &one.remarks).collect();
    remarks.dedup();
    for remark in remarks {
        let _ = write!(text, "\n{remark}");
    }
    let _ = write!(text, "\n{}", styled(&cost(all), "2"));
    text
}

/// What changed at all, with how often.
fn counts(replayed: &[&Replayed]) -> Vec<(&'static str, usize)> {
    let count = |part| {
        let changed = replayed
            .iter()
            .filter(|one| one.changes.iter().any(|change| change.what == part));
        (part, changed.count())
    };
    PARTS.into_iter().map(count).filter(|(_, count)| *count > 0).collect()
}

fn percent(part: usize, of: usize) -> String {
    match of {
        0 => String::new(),
        of => format!(" ({:.0} %)", part as f64 * 100.0 / of as f64),
    }
}

fn short(change: &Change) -> String {
    match (change.what, change.then.is_empty(), change.now.is_empty()) {
        ("draft", true, _) => "a draft more".to_owned(),
        ("draft", _, true) => "no draft".to_owned(),
        ("draft", ..) => "another draft".to_owned(),
        (what, ..) => format!("{what} {}", arrow(change)),
    }
}

fn arrow(change: &Change) -> String {
    let or_none = |text: &str| match text {
        "" => "none".to_owned(),
        text => clip(text, 60),
    };
    format!("{} → {}", or_none(&change.then), or_none(&change.now))
}

/// `offline, 1 run, 6 requests, 5210 tokens for 0.02, 0.1 s`
fn cost(all: &[Replayed]) -> String {
    let sum = |read: fn(&Replayed) -> u64| all.iter().map(read).sum::<u64>();
    let (tokens, micros) = (sum(|one| one.spent.tokens), sum(|one| one.spent.micros));
    let money = match micros {
        0 => String::new(),
        micros => format!(" for {}", budget::money(micros)),
    };
    let several = |n: u64, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let model = all.first().map_or("", |one| one.model.as_str());
    let took: f64 = all.iter().map(|one| one.took.as_secs_f64()).sum();
    format!(
        "{model}: {}, {}, {tokens} tokens{money}, {took:.1} s. Nothing was written, and nothing left.",
        several(sum(|one| one.runs as u64), "run"),
        several(sum(|one| one.requests as u64), "request"),
    )
}

/// For programs.
pub(super) fn json(all: &[Replayed]) -> Value {
    let replayed: Vec<&Replayed> = all.iter().filter(|one| one.missing.is_none()).collect();
    let same = replayed.iter().filter(|one| one.changes.is_empty()).count();
    let changed: serde_json::Map<String, Value> = counts(&replayed)
        .into_iter()
        .map(|(part, count)| (part.to_owned(), json!(count)))
        .collect();
    let tickets: Vec<Value> = all
        .iter()
        .map(|one| {
            json!({
                "ticket": one.ticket.to_string(), "missing": one.missing, "changes": one.changes, "remarks": one.remarks,
                "runs": one.runs, "requests": one.requests, "tokens": one.spent.tokens,
                "cost": one.spent.micros as f64 / 1e6, "seconds": one.took.as_secs_f64(),
            })
        })
        .collect();
    json!({
        "model": all.first().map(|one| &one.model), "replayed": replayed.len(), "same": same, "changed": changed,
        "tickets": tickets,
    })
}
