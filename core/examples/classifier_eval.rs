//! Measures the classifier: `cargo run --release -p deskhand-core --example classifier_eval -- TRAIN.csv TEST.csv`, or one
//! JSON file with `train` and `test` lists of `[text, label]`.

use std::time::Instant;
use std::{env, fs};

use deskhand_core::offline::{Category, Classifier, Decided, Example, Learned, Offline};
use serde_json::Value;

type Rows = Vec<(String, String)>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let (train, test) = match args.as_slice() {
        [one] => {
            let all: Value = serde_json::from_str(&fs::read_to_string(one)?)?;
            (pairs(&all["train"]), pairs(&all["test"]))
        }
        [train, test] => (csv(&fs::read_to_string(train)?), csv(&fs::read_to_string(test)?)),
        _ => return Err("usage: classifier_eval TRAIN.csv TEST.csv | ALL.json".into()),
    };
    let examples: Vec<Example<'_>> = train
        .iter()
        .map(|(text, label)| Example {
            text,
            label,
            weight: 1.0,
        })
        .collect();
    let begun = Instant::now();
    let classifier = Classifier::train(&examples).ok_or("fewer than two labels")?;
    let trained = begun.elapsed();
    let begun = Instant::now();
    let mut right = 0;
    let mut buckets = [(0, 0); 10];
    for (text, label) in &test {
        let (best, p) = classifier.predict(text).swap_remove(0);
        let hit = best == *label;
        right += usize::from(hit);
        let bucket = &mut buckets[((p * 10.0) as usize).min(9)];
        bucket.0 += 1;
        bucket.1 += usize::from(hit);
    }
    let n = test.len().max(1);
    println!(
        "train {} test {} accuracy {:.4}",
        train.len(),
        test.len(),
        right as f64 / n as f64
    );
    println!(
        "train_s {:.2} ms_per_text {:.3}",
        trained.as_secs_f64(),
        begun.elapsed().as_secs_f64() * 1e3 / n as f64
    );
    whole(&classifier, &train, &test);
    println!("artifact {} kB", serde_json::to_string(&classifier)?.len() / 1000);
    for (at, (said, hit)) in buckets.iter().enumerate().filter(|(_, (said, _))| *said > 0) {
        println!("said 0.{at}: {said} texts, {:.2} right", *hit as f64 / *said as f64);
    }
    Ok(())
}

/// The same texts through the whole triage, with the labels as the team's categories.
fn whole(classifier: &Classifier, train: &Rows, test: &Rows) {
    let category = |name: &String| Category {
        name: name.clone(),
        description: String::new(),
        team: String::new(),
    };
    let categories: Vec<Category> = classifier.labels().iter().map(category).collect();
    let decided: Vec<Decided> = train
        .iter()
        .map(|(t, l)| Decided {
            subject: String::new(),
            body: t.clone(),
            category: l.clone(),
            weight: 1.0,
        })
        .collect();
    let begun = Instant::now();
    let learned = Learned::train(&categories, &decided).expect("x");
    println!("learned in {:.2}", begun.elapsed().as_secs_f64());
    println!(
        "artifact {} kB {}",
        serde_json::to_string(&learned).expect("x").len() / 1000,
        {
            let t = serde_json::to_string(&learned).expect("x");
            let a = t.find("\"mix\"").unwrap_or(0);
            t[a..].to_owned()
        }
    );
    let offline = Offline::new(categories).with(std::sync::Arc::new(learned));
    let begun = Instant::now();
    let mut bins = [(0, 0, 0.0); 10];
    let mut right = 0;
    for (text, label) in test {
        let o = offline.triage("", text).triage;
        let hit = o.category == *label;
        right += usize::from(hit);
        let b = &mut bins[((o.confidence * 10.0) as usize).min(9)];
        b.0 += 1;
        b.1 += usize::from(hit);
        b.2 += o.confidence;
    }
    let n = test.len().max(1) as f64;
    println!(
        "triage accuracy {:.4} ms_per_ticket {:.3}",
        right as f64 / n,
        begun.elapsed().as_secs_f64() * 1e3 / n
    );
    let mut ece = 0.0;
    for b in bins.iter().filter(|b| b.0 > 0) {
        println!(
            "{} said {:.2} right {:.2}",
            b.0,
            b.2 / b.0 as f64,
            b.1 as f64 / b.0 as f64
        );
        ece += (b.2 - b.1 as f64).abs() / n;
    }
    println!("ece {ece:.4}");
}

fn pairs(list: &Value) -> Rows {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list.as_array()
        .into_iter()
        .flatten()
        .map(|row| (text(&row[0]), text(&row[1])))
        .collect()
}

/// Two columns, quotes doubled, line breaks inside quotes; the first line is the head.
fn csv(text: &str) -> Rows {
    let mut rows = Vec::new();
    let mut row = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().expect("a row has a field").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => rows.push(std::mem::replace(&mut row, vec![String::new()])),
            c => row.last_mut().expect("a row has a field").push(c),
        }
    }
    rows.push(row);
    rows.into_iter()
        .skip(1)
        .filter(|row| row.len() >= 2)
        .map(|mut row| (std::mem::take(&mut row[0]), row.swap_remove(1)))
        .collect()
}
