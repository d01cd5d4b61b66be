//! Mail read: how many a second, and what the worst of them costs in time and memory.
//!
//! No database takes part: what is measured is `email::way::raw` and `email::inbound`, from bytes to a comment, on one core.
//! The mails are those of the shared corpora where they are there, and made ones where not. Each large one is read by a
//! process of its own, so that its peak of memory is that mail's alone.

mod made;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use deskhand_adapters::email::{Ours, inbound, way};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::meter::{median, milliseconds, peak, percentile, resident};
use crate::report::{Goal, Report, Row};

/// The first argument that makes this program the reader of one mail.
pub(crate) const WORD: &str = "__mail";

const CORPORA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/mail");

/// What the reader saw.
#[derive(Serialize, Deserialize)]
struct Seen {
    milliseconds: f64,
    /// Above what the process had before, the mail's own bytes among it.
    megabytes: f64,
}

pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    let (from, mails) = mails()?;
    many(report, &from, &mails);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("mail.eml");
    let large = report.size(1, 25);
    for (what, mail) in made::large(large) {
        one(report, &format!("{large} MB: {what}"), &mail, &file, 1000.0).await?;
    }
    for (what, mail) in made::huge(report.size(4, 200)) {
        one(
            report,
            &format!("{} MB: {what}", mail.len() >> 20),
            &mail,
            &file,
            5000.0,
        )
        .await?;
    }
    for (what, mail) in made::bombs(report.size(1, 100)) {
        one(report, what, &mail, &file, 1000.0).await?;
    }
    Ok(())
}

/// The mails of the corpora, or made ones, with a name for them.
fn mails() -> anyhow::Result<(String, Vec<Vec<u8>>)> {
    let mut files = Vec::new();
    below(Path::new(CORPORA), &mut files);
    if files.is_empty() {
        return Ok(("made mails".into(), made::usual(200)));
    }
    files.sort();
    let mails = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    Ok((format!("{} mails of the corpora", mails.len()), mails))
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    // A folder that is not there has no files.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            below(&path, files);
        } else if path.extension().is_some_and(|end| end == "eml") {
            files.push(path);
        }
    }
}

fn read(mail: &[u8]) -> usize {
    inbound(&way::raw(mail), Ours::default()).words.len()
}

fn many(report: &mut Report, from: &str, mails: &[Vec<u8>]) {
    // Tables that are made at the first use are not a mail's cost.
    mails.iter().take(20).for_each(|mail| {
        read(mail);
    });
    let mut rates = Vec::new();
    let mut each = vec![f64::INFINITY; mails.len()];
    for _ in 0..report.rounds() {
        let start = Instant::now();
        for (mail, best) in mails.iter().zip(&mut each) {
            let began = Instant::now();
            read(mail);
            *best = best.min(milliseconds(began.elapsed()));
        }
        rates.push(mails.len() as f64 / start.elapsed().as_secs_f64());
    }
    let worst = (0..mails.len()).max_by(|a, b| each[*a].total_cmp(&each[*b]));
    let (size, slowest) = worst.map_or((0, 0.0), |worst| (mails[worst].len(), each[worst]));
    for (what, ours, unit) in [
        (from.to_owned(), median(rates), "/s"),
        (format!("{from}, p99"), percentile(&mut each, 0.99), "ms"),
        (
            format!("{from}, the slowest ({:.1} kB)", size as f64 / 1e3),
            slowest,
            "ms",
        ),
    ] {
        report.row(figure(what, ours, unit, Goal::None));
    }
}

async fn one(report: &mut Report, what: &str, mail: &[u8], file: &Path, most: f64) -> anyhow::Result<()> {
    tokio::fs::write(file, mail).await?;
    let output = Command::new(std::env::current_exe()?)
        .arg(WORD)
        .arg(file)
        .kill_on_drop(true)
        .output()
        .await?;
    ensure!(output.status.success(), "reading \"{what}\" failed: {}", output.status);
    let seen: Seen = serde_json::from_slice(&output.stdout).context("the reader failed")?;
    report.row(figure(what.to_owned(), seen.milliseconds, "ms", Goal::AtMost(most)));
    report.row(figure(format!("{what}, memory"), seen.megabytes, "MB", Goal::None));
    Ok(())
}

fn figure(what: String, ours: f64, unit: &'static str, must: Goal) -> Row {
    Row {
        what,
        ours,
        unit,
        against: None,
        must,
        aim: Goal::None,
    }
}

/// Reads one mail and says what that took: on a thread like those that read mail in the bot, with as much stack.
pub(crate) async fn child(file: Option<String>) -> anyhow::Result<()> {
    let file = file.context("no mail")?;
    let seen = tokio::task::spawn_blocking(move || seen(&file)).await??;
    println!("{}", serde_json::to_string(&seen)?);
    Ok(())
}

fn seen(file: &str) -> anyhow::Result<Seen> {
    // The tables that the first mail makes.
    made::usual(5).iter().for_each(|mail| {
        read(mail);
    });
    let before = resident()?;
    let mail = std::fs::read(file)?;
    let start = Instant::now();
    read(&mail);
    Ok(Seen {
        milliseconds: milliseconds(start.elapsed()),
        megabytes: peak()? - before,
    })
}
