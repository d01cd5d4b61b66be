mod people;
mod reports;
mod shared;

use super::{Found, Mail, Ours, judge};

/// A mail of these headers (one a line) and this text, as `help@shop.example` gets it.
fn judged(headers: &str, text: &str) -> Found {
    let headers: Vec<(String, String)> = headers
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(n, v)| (n.to_owned(), v.trim().to_owned()))
        .collect();
    let subject = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("subject"))
        .map(|(_, v)| v.clone())
        .unwrap_or_default();
    let addresses = ["help@shop.example".to_owned()];
    let ours = Ours {
        addresses: &addresses,
        headers: &["X-Deskhand"],
    };
    judge(&Mail {
        headers: &headers,
        subject: &subject,
        text,
        ours,
        ..Mail::default()
    })
}
