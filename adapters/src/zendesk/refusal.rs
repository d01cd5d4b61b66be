//! What an answer that is not a success means for the caller.
//! Source: developer.zendesk.com, "Responses", "Protecting against ticket update collisions", and the shapes seen.

use std::time::Duration;

use deskhand_core::port::PortError;
use reqwest::StatusCode;
use serde_json::Value;

/// Whether a request changes anything, and so whether an unclear end may hide that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

impl Kind {
    /// A request that ended before a whole answer was there.
    pub(super) fn unclear(self, why: String) -> PortError {
        match self {
            Self::Read => PortError::transient(why),
            Self::Write => PortError::Ambiguous { why },
        }
    }
}

/// `body` is `Null` where the answer was not JSON, as behind a gateway's error page.
pub(super) fn refusal(kind: Kind, status: StatusCode, wait: Option<Duration>, body: &Value) -> PortError {
    let code = status.as_u16();
    match code {
        401 => PortError::permanent(
            "Zendesk does not accept ZENDESK_EMAIL with ZENDESK_API_TOKEN (401). The token must be active, and token \
             access must be switched on in the admin centre.",
        ),
        403 => PortError::permanent(format!(
            "Zendesk forbids this to the account in ZENDESK_EMAIL (403){}. It must be an agent with access to the ticket.",
            quoted(body)
        )),
        404 | 410 => PortError::Gone {
            why: format!("Zendesk has no such thing ({code}){}.", quoted(body)),
        },
        409 => PortError::Conflict {
            why: "Somebody changed the ticket in Zendesk meanwhile (409).".to_owned(),
        },
        422 if is_closed(body) => PortError::Closed {
            why: "The ticket is closed in Zendesk; only a follow-up ticket can answer it (422).".to_owned(),
        },
        429 => PortError::Transient {
            why: "Zendesk asks to slow down (429).".to_owned(),
            retry_after: wait,
        },
        300..=399 => PortError::permanent(format!(
            "Zendesk redirects elsewhere ({code}): ZENDESK_URL must be the help desk's own https address."
        )),
        408 | 500..=599 => match kind {
            Kind::Read => PortError::Transient {
                why: format!("Zendesk has trouble ({code})."),
                retry_after: wait,
            },
            Kind::Write => PortError::Ambiguous {
                why: format!("Zendesk has trouble ({code}); whether the update was made is not known."),
            },
        },
        _ => PortError::permanent(format!("Zendesk refuses the request ({code}){}.", quoted(body))),
    }
}

/// `{"details": {"status": [{"description": "Status: closed prevents ticket update"}]}}`. The text is looked at beside
/// the field, since another status error (a custom status that does not fit) is not final.
fn is_closed(body: &Value) -> bool {
    let Some(errors) = body["details"]["status"].as_array() else {
        return false;
    };
    errors
        .iter()
        .filter_map(|error| error["description"].as_str())
        .any(|text| text.to_ascii_lowercase().contains("closed"))
}

/// Zendesk's own words, shortened: ` ("Record validation errors: Group: is invalid")`.
fn quoted(body: &Value) -> String {
    let mut words: Vec<&str> = Vec::new();
    match (&body["description"], &body["error"]) {
        (Value::String(text), _) | (_, Value::String(text)) => words.push(text),
        // A wrong host name answers {"error": {"title": "No help desk at …", "message": …}}.
        (_, Value::Object(error)) => words.extend(error.get("title").and_then(Value::as_str)),
        (_, _) => {}
    }
    if let Some(details) = body["details"].as_object() {
        let errors = details.values().filter_map(Value::as_array).flatten();
        words.extend(errors.filter_map(|error| error["description"].as_str()));
    }
    let words = words.join(": ");
    let mut short: String = words.chars().filter(|c| !c.is_control()).take(200).collect();
    if short.chars().count() < words.chars().count() {
        short.push('…');
    }
    if short.is_empty() {
        String::new()
    } else {
        format!(" (\"{short}\")")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(kind: Kind, code: u16, body: &Value) -> PortError {
        refusal(kind, StatusCode::from_u16(code).expect("a status"), None, body)
    }

    #[test]
    fn only_a_closed_status_makes_a_ticket_closed() {
        let closed = json!({"error": "RecordInvalid", "details": {"status": [{"description": "Status: closed prevents ticket update"}]}});
        assert!(matches!(of(Kind::Write, 422, &closed), PortError::Closed { .. }));
        let field = json!({"error": "RecordInvalid", "description": "Record validation errors",
            "details": {"group_id": [{"description": "Group: is invalid"}]}});
        assert_eq!(
            of(Kind::Write, 422, &field).to_string(),
            "Zendesk refuses the request (422) (\"Record validation errors: Group: is invalid\")."
        );
        let subject = json!({"details": {"subject": [{"description": "the shop is closed"}]}});
        assert!(matches!(of(Kind::Write, 422, &subject), PortError::Permanent { .. }));
    }

    #[test]
    fn trouble_is_ambiguous_only_where_something_may_have_changed() {
        for code in [408, 500, 502, 503, 504] {
            assert!(
                matches!(of(Kind::Read, code, &Value::Null), PortError::Transient { .. }),
                "{code}"
            );
            assert!(
                matches!(of(Kind::Write, code, &Value::Null), PortError::Ambiguous { .. }),
                "{code}"
            );
        }
        for kind in [Kind::Read, Kind::Write] {
            assert!(matches!(of(kind, 409, &Value::Null), PortError::Conflict { .. }));
            assert!(matches!(of(kind, 429, &Value::Null), PortError::Transient { .. }));
            assert!(matches!(of(kind, 404, &Value::Null), PortError::Gone { .. }));
            assert!(matches!(of(kind, 302, &Value::Null), PortError::Permanent { .. }));
        }
    }

    #[test]
    fn a_refusal_is_short_and_names_the_setting() {
        let long = json!({"description": "x".repeat(5_000)});
        assert!(of(Kind::Write, 400, &long).to_string().chars().count() < 260);
        assert!(
            of(Kind::Read, 401, &Value::Null)
                .to_string()
                .contains("ZENDESK_API_TOKEN")
        );
        assert!(of(Kind::Read, 403, &Value::Null).to_string().contains("ZENDESK_EMAIL"));
    }
}
