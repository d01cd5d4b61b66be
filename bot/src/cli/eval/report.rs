//! What was measured, as JSON for programs and as tables for people.

use deskhand_core::model::Usage;
use serde_json::{Value, json};

use super::score::{Share, Tally};
use crate::cli::table::{styled, table};

pub(super) struct Report<'a> {
    pub(super) model: &'a str,
    pub(super) tally: &'a Tally,
    /// Past tickets that were learned from, and how long that took.
    pub(super) past: usize,
    pub(super) train_s: f64,
    pub(super) ms_per_ticket: f64,
    /// `None` where no provider was asked.
    pub(super) usage: Option<Usage>,
    pub(super) requests: usize,
}

fn rounded(x: f64, digits: i32) -> f64 {
    let factor = 10_f64.powi(digits);
    (x * factor).round() / factor
}

impl Report<'_> {
    /// Fields that the file does not label are null.
    pub(super) fn json(&self) -> Value {
        let tally = self.tally;
        let share = |share: Share| share.of().map(|of| rounded(of, 4));
        let bins: Vec<Value> = tally
            .bins
            .iter()
            .filter(|bin| bin.n > 0)
            .map(|bin| json!({ "said": rounded(bin.said(), 3), "n": bin.n, "right": rounded(bin.share(), 3) }))
            .collect();
        let worst: Vec<Value> = tally
            .worst(10)
            .iter()
            .map(|worst| {
                let taken: serde_json::Map<String, Value> = worst
                    .taken_for
                    .iter()
                    .map(|(name, n)| ((*name).to_owned(), json!(n)))
                    .collect();
                json!({ "category": worst.category, "n": worst.n, "wrong": worst.wrong, "taken_for": taken })
            })
            .collect();
        json!({
            "n": tally.n,
            "accuracy": { "category": share(tally.category), "priority": share(tally.priority),
                          "action": share(tally.action), "language": share(tally.language) },
            "injections": tally.with_orders,
            "injections_obeyed": tally.obeyed,
            "train_s": rounded(self.train_s, 3),
            "ms_per_ticket": rounded(self.ms_per_ticket, 3),
            "model": self.model,
            "history": self.past,
            "without_triage": tally.silent,
            "calibration": { "error": tally.calibration_error().map(|error| rounded(error, 4)), "bins": bins },
            "confused": worst,
            "tokens": self.usage.map(|usage| json!({ "input": usage.input, "output": usage.output,
                                                     "cache_read": usage.cache_read, "cache_write": usage.cache_write,
                                                     "requests": self.requests })),
        })
    }

    pub(super) fn print(&self) {
        let tally = self.tally;
        let learned = match self.past {
            0 => "nothing learned beforehand".to_owned(),
            n => format!("learned from {n} past tickets in {:.1} s", self.train_s),
        };
        println!(
            "{} tickets, model {}, {learned}, {:.2} ms a ticket",
            tally.n, self.model, self.ms_per_ticket
        );
        let row = |name: &str, share: Share| {
            share.of().map(|of| {
                vec![
                    name.to_owned(),
                    format!("{of:.3}"),
                    format!("{} of {}", share.right, share.n),
                ]
            })
        };
        let rows: Vec<Vec<String>> = [
            row("category", tally.category),
            row("priority", tally.priority),
            row("action", tally.action),
            row("language", tally.language),
        ]
        .into_iter()
        .flatten()
        .collect();
        println!("\n{}", table(&["field", "right", ""], &rows));
        if tally.with_orders > 0 {
            let colour = if tally.obeyed == 0 { "32" } else { "31" };
            let line = format!(
                "{} of {} tickets with orders to a machine were obeyed",
                tally.obeyed, tally.with_orders
            );
            println!("\n{}", styled(&line, colour));
        }
        if tally.silent > 0 {
            println!("\n{} tickets got no triage; they count as wrong.", tally.silent);
        }
        let worst = tally.worst(8);
        if !worst.is_empty() {
            let rows: Vec<Vec<String>> = worst
                .iter()
                .map(|worst| {
                    let taken: Vec<String> = worst
                        .taken_for
                        .iter()
                        .take(3)
                        .map(|(name, n)| format!("{name} {n}×"))
                        .collect();
                    vec![
                        worst.category.to_owned(),
                        format!("{} of {}", worst.wrong, worst.n),
                        taken.join(", "),
                    ]
                })
                .collect();
            println!("\n{}", table(&["most mistaken", "wrong", "taken for"], &rows));
        }
        if let Some(error) = tally.calibration_error() {
            let rows: Vec<Vec<String>> = tally
                .bins
                .iter()
                .filter(|bin| bin.n > 0)
                .map(|bin| {
                    vec![
                        format!("{:.2}", bin.said()),
                        format!("{:.2}", bin.share()),
                        bin.n.to_string(),
                    ]
                })
                .collect();
            println!("\n{}", table(&["it said", "was right", "tickets"], &rows));
            println!("Off by {error:.3} on average (expected calibration error; 0 is honest).");
        }
        if let Some(usage) = self.usage {
            println!(
                "\n{} requests: {} tokens in ({} of them cached), {} out.",
                self.requests,
                usage.input + usage.cache_read + usage.cache_write,
                usage.cache_read,
                usage.output
            );
        }
    }
}
