//! Measures the offline triage on a file of labelled tickets, by the rules alone:
//! `cargo run -p deskhand-core --example triage_eval -- TICKETS.json [-v]`.

use std::{env, fs};

use deskhand_core::offline::Offline;
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [file, rest @ ..] = args.as_slice() else {
        return Err("usage: triage_eval TICKETS.json [-v]".into());
    };
    let verbose = rest.first().is_some_and(|flag| flag == "-v");
    let gold: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let tickets = gold["tickets"].as_array().cloned().unwrap_or_default();
    let offline = Offline::default();
    let mut right = [0usize; 4];
    let mut sure = Vec::new();
    for ticket in &tickets {
        let text = |key: &str| ticket[key].as_str().unwrap_or_default();
        let opinion = offline.triage(text("subject"), text("body"));
        let triage = &opinion.triage;
        let expect = &ticket["expect"];
        let got = [
            triage.category.as_str(),
            triage.priority.as_str(),
            triage.action.as_str(),
            triage.language.as_str(),
        ];
        let wanted = [
            &expect["category"],
            &expect["priority"],
            &expect["action"],
            &ticket["lang"],
        ]
        .map(|one| one.as_str().unwrap_or_default());
        for at in 0..4 {
            right[at] += usize::from(got[at] == wanted[at]);
        }
        sure.push((triage.confidence, got[0] == wanted[0]));
        if verbose && got != wanted {
            println!(
                "{} {:.2} got {got:?} wanted {wanted:?}\n   {} | {}\n   {:?} {:?}\n   {:?}",
                text("id"),
                triage.confidence,
                text("subject"),
                text("body"),
                opinion.reading.scores,
                opinion.tags,
                opinion.reading.evidence
            );
        }
    }
    let n = tickets.len().max(1) as f64;
    let [category, priority, action, language] = right.map(|right| right as f64 / n);
    println!(
        "n {} category {category:.3} priority {priority:.3} action {action:.3} language {language:.3}",
        tickets.len()
    );
    for (low, high) in [(0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)] {
        let some: Vec<_> = sure.iter().filter(|(p, _)| (low..high).contains(p)).collect();
        let hits = some.iter().filter(|(_, right)| *right).count();
        println!("said {low:.1}-{high:.1}: {} tickets, {hits} right", some.len());
    }
    Ok(())
}
