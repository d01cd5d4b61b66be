//! Measures the search on a collection and its labelled queries:
//! `cargo run -p deskhand-core --example search_eval -- ARTICLES.jsonl QUERIES.json [-v]`.

use std::{env, fs};

use deskhand_core::search::{Document, Index};
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [articles, queries, rest @ ..] = args.as_slice() else {
        return Err("usage: search_eval ARTICLES.jsonl QUERIES.json [-v]".into());
    };
    let verbose = rest.first().is_some_and(|flag| flag == "-v");
    let rows: Vec<Value> = fs::read_to_string(articles)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let text = |row: &'_ Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let owned: Vec<[String; 4]> = rows
        .iter()
        .map(|row| ["id", "title", "section", "body"].map(|key| text(row, key)))
        .collect();
    let index = Index::new(owned.iter().map(|[id, title, section, body]| Document {
        id,
        title,
        section,
        body,
        language: "",
    }));
    let labelled: Value = serde_json::from_str(&fs::read_to_string(queries)?)?;
    let list = labelled["queries"].as_array().cloned().unwrap_or_default();
    let (mut first, mut five, mut mrr) = (0, 0, 0.0);
    for entry in &list {
        let query = text(entry, "query");
        let relevant: Vec<&str> = entry["relevant"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let hits = index.search(&query, 50);
        let place = hits
            .iter()
            .position(|hit| relevant.contains(&owned[hit.index][0].as_str()));
        first += usize::from(place == Some(0));
        five += usize::from(place.is_some_and(|place| place < 5));
        mrr += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        if verbose {
            println!(
                "{:>4} {query}",
                place.map_or("-".into(), |place| (place + 1).to_string())
            );
            for hit in hits.iter().take(4) {
                println!("       {:6.2} {:.2} {}", hit.score, hit.coverage, owned[hit.index][1]);
            }
            for id in &relevant {
                if let Some(row) = owned.iter().find(|row| row[0] == *id) {
                    println!("     = {}", row[1]);
                }
            }
        }
    }
    let n = list.len().max(1) as f64;
    println!(
        "n {} hit@1 {:.3} hit@5 {:.3} mrr {:.3}",
        list.len(),
        first as f64 / n,
        five as f64 / n,
        mrr / n
    );
    Ok(())
}
