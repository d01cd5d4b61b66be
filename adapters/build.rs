//! A new migration or a changed sqlx.toml rebuilds the store.

fn main() {
    println!("cargo::rerun-if-changed=../migrations");
    println!("cargo::rerun-if-changed=sqlx.toml");
}
