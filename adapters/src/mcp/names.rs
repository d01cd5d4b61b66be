//! The names under which models know the tools of a server. They are the same whatever other servers offer, and in
//! whatever order servers come up.

use sha2::{Digest, Sha256};

/// The strictest provider's bound.
const MOST: usize = 64;
/// Stands between the server and its tool; a server's name in the settings cannot hold it.
const BETWEEN: &str = "__";

/// `server__tool` for each of a server's tools, safe for every provider and unique. The tools' own names must differ.
pub(super) fn names(server: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> = tools
        .iter()
        .map(|tool| format!("{server}{BETWEEN}{}", safe(tool)))
        .collect();
    let is_own = |i: usize| plain[i].len() <= MOST && safe(tools[i]) == tools[i];
    (0..tools.len())
        .map(|i| {
            let shared = plain.iter().filter(|other| **other == plain[i]).count() > 1;
            // A name that needed no change is never taken from its tool.
            match plain[i].len() > MOST || shared && !is_own(i) {
                true => marked(&plain[i], tools[i]),
                false => plain[i].clone(),
            }
        })
        .collect()
}

/// Letters, digits, `_` and `-`; all else becomes `_`.
fn safe(tool: &str) -> String {
    let keep = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '_'
        }
    };
    match tool.chars().map(keep).collect::<String>() {
        empty if empty.is_empty() => "_".into(),
        safe => safe,
    }
}

/// Cut, with eight digits of the own name's hash at its end.
fn marked(plain: &str, own: &str) -> String {
    let hash = hex::encode(Sha256::digest(own.as_bytes()));
    // All of it is ASCII by now.
    format!("{}_{}", &plain[..plain.len().min(MOST - 9)], &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(
            names("shop", &["refund", "get-order"]),
            ["shop__refund", "shop__get-order"]
        );
    }

    #[test]
    fn every_name_is_safe_and_none_is_there_twice() {
        let long = "x".repeat(80);
        let longer = format!("{long}y");
        let tools = ["a b", "a_b", "a.b", "退款", "", &long, &longer];
        let names = names("shop", &tools);
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), tools.len(), "{names:?}");
        for name in &names {
            assert!(name.len() <= 64 && name.starts_with("shop__"), "{name}");
            assert!(
                name.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{name}"
            );
        }
        assert_eq!(names[1], "shop__a_b", "whoever needs no change keeps its name");
    }

    #[test]
    fn a_name_does_not_hang_on_the_order_of_the_list() {
        let (one, other) = (names("shop", &["a b", "a.b"]), names("shop", &["a.b", "a b"]));
        assert_eq!((&one[0], &one[1]), (&other[1], &other[0]));
    }
}
