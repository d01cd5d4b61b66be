//! The known word that a mistyped one most likely meant, for sentences like "Did you mean approvals?".
//!
//! Only ever shown to people and models, never acted upon: a guess must not run a command or set a setting.

/// Words less alike than this are no help: two of three characters should be shared.
const ALIKE: f32 = 0.6;

/// The most similar of `known`, if any is similar enough. A beginning counts as similar whatever its length.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    if word.is_empty() {
        return None;
    }
    let mut begun = known.iter().filter(|name| name.to_lowercase().starts_with(&word));
    if let (Some(only), None) = (begun.next(), begun.next()) {
        return Some(only);
    }
    // Settings are written in capitals and commands in small letters; neither should count as a difference.
    let lowered: Vec<String> = known.iter().map(|name| name.to_lowercase()).collect();
    let refs: Vec<&str> = lowered.iter().map(String::as_str).collect();
    let best = *similar::get_close_matches(word.as_str(), &refs, 1, ALIKE).first()?;
    let place = refs.iter().position(|name| *name == best)?;
    Some(known[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_nonsense_finds_none() {
        let known = ["help", "list", "show", "approvals", "SLACK_CHANNEL"];
        for (word, found) in [
            ("lits", Some("list")),
            ("aprovals", Some("approvals")),
            ("APP", Some("approvals")),
            ("slack_chanel", Some("SLACK_CHANNEL")),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), found, "{word}");
        }
    }
}
