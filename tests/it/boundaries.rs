//! Who may know whom: the map of the README, checked.

use std::path::Path;
use std::process::Command;

/// The packages that a package is built from, itself included, without those of its own tests.
fn built_from(package: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--package",
            package,
        ])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8_lossy(&tree.stdout);
    text.lines()
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

#[test]
fn core_is_built_without_tokio_and_sqlx() {
    let packages = built_from("deskhand-core");
    assert!(
        packages.iter().any(|name| name == "serde"),
        "the list is not empty: {packages:?}"
    );
    for banned in [
        "tokio",
        "sqlx",
        "sqlx-core",
        "axum",
        "reqwest",
        "hyper",
        "tracing",
        "slack-morphism",
    ] {
        assert!(
            !packages.iter().any(|name| name == banned),
            "core is built from {banned}"
        );
    }
}

#[test]
fn adapters_are_built_without_a_web_server() {
    let packages = built_from("deskhand-adapters");
    assert!(
        packages.iter().any(|name| name == "sqlx"),
        "the list is not empty: {packages:?}"
    );
    assert!(!packages.iter().any(|name| name == "axum" || name == "deskhand"));
}

#[test]
fn adapters_do_not_know_each_other() {
    let folders = ["email", "llm", "mcp", "postgres", "slack", "zendesk"];
    for own in folders {
        for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/src").join(own)) {
            let text = std::fs::read_to_string(&file).expect("it can be read");
            for other in folders.iter().filter(|other| **other != own) {
                let named = format!("crate::{other}");
                assert!(!text.contains(&named), "{} knows {other}", file.display());
            }
        }
    }
}

#[test]
fn core_reads_no_clock_and_no_environment() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src"));
    assert!(files.len() > 40, "the sources are there");
    // What only its checks use does not count.
    let checks = |file: &Path| file.components().any(|part| part.as_os_str() == "tests");
    for file in files.into_iter().filter(|file| !checks(file)) {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for banned in [
            "Utc::now",
            "SystemTime",
            "Instant::now",
            "std::env",
            "std::fs",
            "std::net",
            "std::thread",
        ] {
            assert!(!text.contains(banned), "{} uses {banned}", file.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            all.push(path);
        }
    }
    all
}
