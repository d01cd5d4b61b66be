//! What of a provider's words may be shown: short, on one line, and nothing that was in the request.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

/// Characters of a provider's sentence that are shown.
const SHOWN: usize = 240;
/// Bytes that must agree for words to count as quoted from the request: eight Chinese characters, four words of English.
const QUOTE: usize = 24;

/// Whether something is one word of an API, not a sentence and nothing of a customer's.
pub(super) fn is_word(text: &str) -> bool {
    (1..=48).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// A provider's sentence without what it quotes of the request and without anything that looks like a key. Some servers
/// echo the whole request in their validation errors, and errors end up in logs.
pub(super) fn without_quotes(message: &str, request: &[u8]) -> String {
    let message: String = message
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(4 * SHOWN)
        .collect();
    let mut told = String::new();
    collect(&serde_json::from_slice(request).unwrap_or_default(), &mut told);
    let told = told.as_bytes();
    let bytes = message.as_bytes();
    let mut quoted = vec![false; bytes.len()];
    // The request may be megabytes, the sentence is short: one walk over the request.
    let mut windows: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, window) in bytes.windows(QUOTE).enumerate() {
        windows.entry(window).or_default().push(at);
    }
    for window in told.windows(QUOTE) {
        for &at in windows.get(window).into_iter().flatten() {
            quoted[at..at + QUOTE].fill(true);
        }
    }
    let mut shown = String::new();
    for (at, c) in message.char_indices() {
        if !quoted[at] {
            shown.push(c);
        } else if !shown.ends_with('…') {
            shown.push('…');
        }
    }
    let words: Vec<&str> = shown
        .split_whitespace()
        .map(|word| if looks_like_key(word) { "…" } else { word })
        .collect();
    let shown = words.join(" ");
    match shown.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &shown[..cut]),
        None => shown,
    }
}

/// Keys of both providers begin with `sk-`, and masked ones still show their ends.
fn looks_like_key(word: &str) -> bool {
    word.contains("sk-") || word.contains("***")
}

/// All strings of a request, with white space as [`without_quotes`] has it.
fn collect(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect(item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A duration as Go writes it: `6m0s`, `1.5s`, `20ms`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = &tail[..tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len())];
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = &tail[unit.len()..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration, without_quotes};

    #[test]
    fn what_was_in_the_request_is_not_shown() {
        let request =
            serde_json::json!({"messages": [{"content": "My name is Ada and\nmy card is 4111 1111 1111 1111."}]});
        let echo = "1 validation error: input 'My name is Ada and\nmy card is 4111 1111 1111 1111.' is wrong";
        let shown = without_quotes(echo, request.to_string().as_bytes());
        assert_eq!(shown, "1 validation error: input '…' is wrong");
    }

    #[test]
    fn keys_are_not_shown_and_sentences_end() {
        assert_eq!(
            without_quotes("Incorrect API key provided: sk-abc***xyz.", b""),
            "Incorrect API key provided: …"
        );
        assert_eq!(without_quotes(&"word ".repeat(400), b"").chars().count(), 241);
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        assert_eq!(duration("6m0s"), Some(Duration::from_secs(360)));
        assert_eq!(duration("1h2m3.5s"), Some(Duration::from_millis(3_723_500)));
        assert_eq!(duration("20ms"), Some(Duration::from_millis(20)));
        assert_eq!(duration("soon"), None);
        assert_eq!(duration("5"), None);
    }
}
