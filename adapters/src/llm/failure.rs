//! What an error of a provider means for the caller: try again and when, shorten, or give up, with a sentence.
//!
//! The order of the rules follows the official clients (`x-should-retry`, then 408, 409, 429 and 5xx, `retry-after-ms`
//! before `retry-after`); what they leave to the reader is added: a full context, spent credit, wrong settings.

mod words;

use std::time::Duration;

use chrono::{DateTime, Utc};
use deskhand_core::port::ModelError;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// What the sentences name.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// `Anthropic`, `the OpenAI-compatible service`.
    pub(super) provider: &'static str,
    pub(super) key_setting: &'static str,
    pub(super) base_setting: &'static str,
    pub(super) model: String,
}

/// An error as the provider told it.
#[derive(Debug, Default)]
pub(super) struct Failure {
    status: Option<u16>,
    /// The provider's type and code, lower case.
    kinds: [String; 2],
    message: String,
    should_retry: Option<bool>,
    retry_after: Option<Duration>,
}

impl Failure {
    pub(super) fn of_response(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut failure = Self::in_stream(&body);
        failure.status = Some(status);
        failure.should_retry = match header(headers, "x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => None,
        };
        failure.retry_after = retry_after(headers, Utc::now());
        failure
    }

    /// From an error that came without headers. `error` is the object itself or one that holds it under `error`; older
    /// vLLM puts it at the top, Ollama sends a string, gateways send a list of one.
    pub(super) fn in_stream(error: &Value) -> Self {
        let error = error.get(0).unwrap_or(error);
        let error = error.get("error").filter(|inner| !inner.is_null()).unwrap_or(error);
        let word = |key: &str| match &error[key] {
            Value::String(word) => word.to_ascii_lowercase(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let message = error
            .as_str()
            .or(error["message"].as_str())
            .or(error["detail"].as_str())
            .unwrap_or_default();
        let kinds = [word("type"), word("code")];
        // A number as the code is the HTTP status that the error would have had.
        let status = kinds[1].parse().ok().filter(|status| (400..600).contains(status));
        Self {
            status,
            kinds,
            message: message.to_owned(),
            ..Self::default()
        }
    }

    /// The error for the caller. `told` is the body that was sent: what the provider quotes of it is left out.
    pub(super) fn judged(self, names: &Names, told: &[u8]) -> ModelError {
        let Names {
            provider,
            key_setting,
            base_setting,
            model,
        } = names;
        let answer = self.answer();
        let detail = match words::without_quotes(&self.message, told) {
            detail if detail.is_empty() => String::new(),
            detail => format!(": {detail}"),
        };
        match self.meaning() {
            Meaning::TooLong => ModelError::TooLong {
                why: format!("The request is too long for {model} ({answer}){detail}"),
            },
            Meaning::NoCredit => permanent(format!(
                "{provider} has no credit left for this key ({answer}): top it up or change {key_setting}."
            )),
            Meaning::KeyRefused => permanent(format!("{provider} refuses the key ({answer}): check {key_setting}.")),
            Meaning::NotAllowed => permanent(format!(
                "{provider} does not allow this ({answer}): check the rights of {key_setting}, and DESKHAND_MODEL."
            )),
            Meaning::NotFound => permanent(format!(
                "{provider} does not know the model {model} or the address ({answer}): check DESKHAND_MODEL and {base_setting}."
            )),
            Meaning::Elsewhere => permanent(format!(
                "{base_setting} points to a place that redirects ({answer}): name the final address."
            )),
            Meaning::MayPass => ModelError::Transient {
                why: format!("{provider} has trouble ({answer}){detail}"),
                retry_after: self.retry_after,
            },
            Meaning::Refused => permanent(format!("{provider} refuses the request ({answer}){detail}")),
        }
    }

    /// Status and kind, for people: `429 rate_limit_error`.
    fn answer(&self) -> String {
        let status = self.status.map(|status| status.to_string());
        let kind = self
            .kinds
            .iter()
            .find(|kind| words::is_word(kind) && kind.parse::<u16>().is_err())
            .cloned();
        match [status, kind].into_iter().flatten().collect::<Vec<_>>() {
            parts if parts.is_empty() => "no reason given".to_owned(),
            parts => parts.join(" "),
        }
    }

    fn meaning(&self) -> Meaning {
        let is = |names: &[&str]| self.kinds.iter().any(|kind| names.contains(&kind.as_str()));
        let message = self.message.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
        if self.status == Some(413) || is(TOO_LONG) || says(SAYS_TOO_LONG) {
            return Meaning::TooLong;
        }
        if self.status == Some(402) || is(NO_CREDIT) || says(SAYS_NO_CREDIT) {
            return Meaning::NoCredit;
        }
        match (self.should_retry, self.status) {
            (Some(true), _) => Meaning::MayPass,
            (_, Some(401)) => Meaning::KeyRefused,
            (_, Some(403)) => Meaning::NotAllowed,
            (_, Some(404)) => Meaning::NotFound,
            (_, Some(300..=399)) => Meaning::Elsewhere,
            (None, Some(408 | 409 | 425 | 429 | 500..)) => Meaning::MayPass,
            (Some(false), Some(_)) | (None, Some(_)) => Meaning::Refused,
            // In a stream there is no status but the kind.
            (_, None) if is(&["authentication_error", "invalid_api_key"]) => Meaning::KeyRefused,
            (_, None) if is(&["permission_error"]) => Meaning::NotAllowed,
            (_, None) if is(&["not_found_error", "model_not_found"]) => Meaning::NotFound,
            (_, None) if is(&["invalid_request_error", "badrequesterror"]) => Meaning::Refused,
            (_, None) => Meaning::MayPass,
        }
    }
}

enum Meaning {
    TooLong,
    NoCredit,
    KeyRefused,
    NotAllowed,
    NotFound,
    Elsewhere,
    MayPass,
    Refused,
}

const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "request_too_large",
    "exceed_context_size_error",
    "string_above_max_length",
];
/// As Anthropic, OpenAI, vLLM, llama.cpp, Mistral, Gemini and text-generation-inference word it, in that order. A rate
/// limit that the single request exceeds ("request too large … tokens per min") does not pass by waiting either.
const SAYS_TOO_LONG: &[&str] = &[
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "request too large",
    "longer than the maximum model length",
    "exceeds the available context size",
    "too large for model with",
    "exceeds the maximum number of tokens",
    "`inputs` tokens + `max_new_tokens` must be",
];
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
];
const SAYS_NO_CREDIT: &[&str] = &["credit balance is too low", "exceeded your current quota"];

fn permanent(why: String) -> ModelError {
    ModelError::Permanent { why }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// How long the provider wants to be left alone: `retry-after-ms`, `retry-after` in seconds or as a date, else the time
/// until the used-up one of OpenAI's two allowances is full again (`6m0s`).
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(ms) = header(headers, "retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    if let Some(text) = header(headers, "retry-after") {
        return match number(text) {
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            None => {
                let at = DateTime::parse_from_rfc2822(text).ok()?;
                // The provider's own clock where it is told, since ours may be off.
                let told = header(headers, "date").and_then(|date| DateTime::parse_from_rfc2822(date).ok());
                let now = told.map_or(now, |date| date.to_utc());
                Some((at.to_utc() - now).to_std().unwrap_or_default())
            }
        };
    }
    let resets = ["requests", "tokens"].into_iter().filter_map(|what| {
        let remaining = header(headers, &format!("x-ratelimit-remaining-{what}"))?;
        let reset = header(headers, &format!("x-ratelimit-reset-{what}"))?;
        (remaining == "0").then(|| words::duration(reset)).flatten()
    });
    resets.max()
}

#[cfg(test)]
mod tests;
