//! Slack's wire: what it sends, what we draw, and the calls that we make. No database, and no Slack but a small stub.

mod calls;
mod cards;
mod deliveries;
mod desk;
mod forms;
mod payloads;
mod signatures;
mod stub;

pub(crate) use cards::card as a_card;

use std::path::PathBuf;

/// The folder of shared facts, where it is there.
fn facts() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts"));
    if path.is_dir() {
        Some(path)
    } else {
        println!("skipped: ../shared is not there");
        None
    }
}

fn json(path: PathBuf) -> serde_json::Value {
    let bytes = std::fs::read(&path).expect("a file of the facts");
    serde_json::from_slice(&bytes).expect("the facts are JSON")
}
