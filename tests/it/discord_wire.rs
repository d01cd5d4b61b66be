//! Discord's wire: signatures, payloads, and that nothing we draw leaves its limits.

mod drawn;
mod payloads;

use std::path::PathBuf;

use serde_json::Value;

/// The folder with facts about the outside; says so where there is none.
fn facts() -> Option<PathBuf> {
    let found = deskhand_tests::fake::spec::facts();
    if found.is_none() {
        println!("skipped: ../shared is not there");
    }
    found
}

fn json(path: PathBuf) -> Value {
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("it is JSON")
}
