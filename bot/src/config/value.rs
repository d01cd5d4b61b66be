//! What single settings may say: durations, lists of people, models, addresses. Errors are the end of a sentence that
//! begins with the setting's name.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use deskhand_core::near;
use deskhand_core::roster::Who;
use url::Url;

/// Which model works on new runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// Rules, search and past tickets; needs no provider.
    Offline,
    Anthropic(String),
    /// Any server that speaks chat completions.
    OpenAi(String),
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline => f.write_str("offline"),
            Self::Anthropic(name) => write!(f, "anthropic:{name}"),
            Self::OpenAi(name) => write!(f, "openai:{name}"),
        }
    }
}

impl FromStr for ModelChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (provider, name) = text.split_once(':').unwrap_or((text, ""));
        match (provider.to_ascii_lowercase().as_str(), name.trim()) {
            ("offline", "") => Ok(Self::Offline),
            ("anthropic" | "openai", "") => Err(format!(
                "names no model: write {provider}:<name>; `deskhand doctor` lists the names on offer"
            )),
            ("anthropic", name) => Ok(Self::Anthropic(name.to_owned())),
            ("openai", name) => Ok(Self::OpenAi(name.to_owned())),
            _ => {
                let meant = near::nearest(provider, &["offline", "anthropic", "openai"]);
                Err(not(text, "offline, anthropic:<name> or openai:<name>", meant))
            }
        }
    }
}

/// `"x" is not …`, with the nearest word where there is one.
pub(super) fn not(text: &str, wanted: &str, meant: Option<&str>) -> String {
    let text: String = text.chars().take(60).collect();
    let meant = meant.map(|word| format!(" (did you mean {word}?)")).unwrap_or_default();
    format!("is \"{text}\", which is not {wanted}{meant}")
}

/// `90s`, `15m`, `24h`, `7d`; a bare number counts seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || not(text, "a duration like 90s, 15m, 24h or 7d", None);
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit: u64 = match text[digits.len()..].trim() {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    // Ten years: what is longer is a slip, and would overflow dates further on.
    let seconds = number
        .checked_mul(unit)
        .filter(|seconds| *seconds <= 10 * 366 * 24 * 60 * 60);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| not(text, "shorter than ten years", None))
}

/// A duration that is not nothing.
pub(super) fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(not(text, "longer than nothing", None)),
        longer => Ok(longer),
    }
}

/// A duration, or `never` as `None`.
pub(super) fn expiry(text: &str) -> Result<Option<Duration>, String> {
    match text.to_ascii_lowercase().as_str() {
        "never" => Ok(None),
        _ => match duration(text) {
            Ok(Duration::ZERO) => Err(not(text, "longer than nothing (write never for no expiry)", None)),
            Ok(time) => Ok(Some(time)),
            Err(_) => Err(not(text, "a duration like 24h, or never", None)),
        },
    }
}

/// Models in the order in which they take over; `human` (or nothing after it) leaves the ticket to a person.
pub(super) fn models(text: &str) -> Result<Vec<ModelChoice>, String> {
    let mut models = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        if entry.eq_ignore_ascii_case("human") {
            return Ok(models);
        }
        models.push(entry.parse()?);
    }
    Ok(models)
}

/// An amount like `2.50`, in millionths.
pub(super) fn money(text: &str) -> Result<u64, String> {
    let wrong = || not(text, "an amount like 2.50", None);
    let amount: f64 = text.parse().map_err(|_| wrong())?;
    if !(amount > 0.0 && amount <= 1e9) {
        return Err(wrong());
    }
    Ok((amount * 1e6).round() as u64)
}

/// Entries apart by commas; white space between them is fine as well.
pub(super) fn people(text: &str) -> Result<Vec<Who>, String> {
    text.split([',', ' ', '\n', '\t'])
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            entry
                .parse::<Who>()
                .map_err(|error| format!("has an entry that cannot be read: {error}"))
        })
        .collect::<Result<_, _>>()
        .map_err(|why| why.trim_end_matches('.').to_owned())
}

pub(super) fn url(text: &str) -> Result<Url, String> {
    match text.parse::<Url>() {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Err("has a name or password in it: secrets have settings of their own".to_owned())
        }
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(not(text, "an address like https://example.com", None)),
    }
}

/// A whole number within bounds.
pub(super) fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(not(text, &format!("a whole number from {least} to {most}"), None)),
    }
}

/// A word of an enum whose words are all small letters.
pub(super) fn word<T: FromStr>(text: &str, known: &[&str]) -> Result<T, String> {
    let lower = text.to_lowercase();
    lower
        .parse()
        .map_err(|_| not(text, &known.join(", "), near::nearest(&lower, known)))
}

/// Stands in every button, so it is short and plain.
pub(super) fn deployment(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if text.len() <= 40 && text.bytes().all(plain) {
        Ok(text.to_owned())
    } else {
        Err(not(text, "at most 40 lower-case letters, digits and dashes", None))
    }
}
