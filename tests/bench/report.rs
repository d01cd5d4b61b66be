//! What is printed: each figure beside what it is held against, and what it cost.

use serde_json::{Value, json};

use crate::meter::Spent;

/// What a figure should reach: of its ratio where there is one, else of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    None,
}

impl Goal {
    fn reached(self, by: f64) -> bool {
        match self {
            Self::AtLeast(bound) => by >= bound,
            Self::AtMost(bound) => by <= bound,
            Self::None => true,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::AtLeast(bound) => format!("≥ {bound}"),
            Self::AtMost(bound) => format!("≤ {bound}"),
            Self::None => "–".into(),
        }
    }
}

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) unit: &'static str,
    /// What it is held against: its name and its number in the same unit.
    pub(crate) against: Option<(String, f64)>,
    pub(crate) must: Goal,
    pub(crate) aim: Goal,
}

pub(crate) struct Report {
    pub(crate) short: bool,
    rows: Vec<Row>,
    costs: Vec<(String, f64, Spent)>,
}

impl Report {
    pub(crate) fn new(short: bool) -> Self {
        Self {
            short,
            rows: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// The short form's number where only working is shown, the long one's where it is measured.
    pub(crate) fn size<T>(&self, short: T, long: T) -> T {
        if self.short { short } else { long }
    }

    pub(crate) fn rounds(&self) -> usize {
        self.size(1, 3)
    }

    pub(crate) fn row(&mut self, row: Row) {
        eprintln!("bench:   {}", line(&row));
        self.rows.push(row);
    }

    /// What `pieces` of something cost together.
    pub(crate) fn cost(&mut self, what: impl Into<String>, pieces: f64, spent: Spent) {
        self.costs.push((what.into(), pieces, spent));
    }

    pub(crate) fn print(&self, as_json: bool) {
        if as_json {
            println!("{}", self.json());
            return;
        }
        println!("| figure | ours | against | ratio | must | aim | reached |");
        println!("| --- | --- | --- | --- | --- | --- | --- |");
        for row in &self.rows {
            println!("| {} |", line(row).replace(" · ", " | "));
        }
        println!();
        println!("| per piece of | pieces | CPU bot, ms | CPU Postgres, ms | WAL, kB | writing commits |");
        println!("| --- | --- | --- | --- | --- | --- |");
        for (what, pieces, spent) in &self.costs {
            let each = |sum: f64| sum / pieces;
            println!(
                "| {what} | {pieces} | {:.3} | {:.3} | {:.2} | {:.2} |",
                each(spent.bot) * 1e3,
                each(spent.postgres) * 1e3,
                each(spent.wal) / 1024.0,
                each(spent.writes)
            );
        }
        if self.short {
            println!("\nShort form: it shows that everything works, and its numbers mean nothing.");
        }
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({ "what": row.what, "ours": row.ours, "unit": row.unit, "ratio": ratio(row),
                        "against": row.against.as_ref().map(|(name, number)| json!({ "what": name, "is": number })),
                        "must": row.must.shown(), "aim": row.aim.shown(), "reached": reached(row) })
            })
            .collect();
        let costs: Vec<Value> = self
            .costs
            .iter()
            .map(|(what, pieces, spent)| {
                json!({ "what": what, "pieces": pieces, "cpu_bot_s": spent.bot, "cpu_postgres_s": spent.postgres,
                        "wal_bytes": spent.wal, "commits": spent.writes, "seconds": spent.seconds })
            })
            .collect();
        json!({ "short": self.short, "figures": rows, "costs": costs })
    }
}

fn ratio(row: &Row) -> Option<f64> {
    row.against.as_ref().map(|(_, limit)| row.ours / limit)
}

fn reached(row: &Row) -> &'static str {
    let by = ratio(row).unwrap_or(row.ours);
    match (row.must, row.aim) {
        (Goal::None, Goal::None) => "–",
        (must, _) if !must.reached(by) => "no",
        (_, Goal::None) => "must",
        (_, aim) if aim.reached(by) => "aim",
        (Goal::None, _) => "no",
        _ => "must",
    }
}

fn line(row: &Row) -> String {
    let against = row
        .against
        .as_ref()
        .map_or("–".into(), |(name, number)| format!("{name}: {}", shown(*number)));
    let ratio = ratio(row).map_or("–".into(), |ratio| format!("{ratio:.3}"));
    let (must, aim) = (row.must.shown(), row.aim.shown());
    format!(
        "{} · {} {} · {against} · {ratio} · {must} · {aim} · {}",
        row.what,
        shown(row.ours),
        row.unit,
        reached(row)
    )
}

/// Three digits that count, whole numbers from a hundred on.
fn shown(number: f64) -> String {
    match number.abs() {
        n if n >= 100.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
