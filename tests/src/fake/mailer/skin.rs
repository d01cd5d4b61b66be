//! What each service demands of a request, and the words in which it answers.
//!
//! Sources: documentation.mailgun.com "Send an email in MIME format"; Twilio's OpenAPI for Mail Send; Postmark's "Email
//! API"; Amazon's "SendEmail" of SES v2.

use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deskhand_adapters::email::{ParsedMail, parse};
use serde_json::{Value, json};

use super::aws;
use super::{Answer, MAILGUN_DOMAIN, MAILGUN_KEY, POSTMARK_TOKEN, SENDGRID_KEY, SES_ID, SES_REGION, SES_SECRET, Taken};
use crate::fake::wire::Asked;

const JSON: &str = "application/json";

fn said(status: u16, body: &Value) -> Answer {
    Answer {
        status,
        kind: JSON,
        body: body.to_string(),
        retry_after: None,
    }
}

/// The mail and the answer that welcomes it; or why it is not taken. `number` is the mail's own.
pub(super) fn judged(asked: &Asked, number: usize) -> Result<(Taken, Answer), Answer> {
    let mailgun_path = format!("/v3/{MAILGUN_DOMAIN}/messages.mime");
    match asked.path.as_str() {
        _ if asked.method != Method::POST => Err(said(405, &json!({ "message": "method not allowed" }))),
        path if path == mailgun_path => mailgun(asked, number),
        "/v3/mail/send" => sendgrid(asked),
        "/email" => postmark(asked, number),
        "/v2/email/outbound-emails" => ses(asked, number),
        _ => Err(said(404, &json!({ "message": "page not found" }))),
    }
}

/// A refusal that is nobody's fault, or the mail's.
pub(super) fn refused(service: &str, status: u16, retry_after: Option<u64>) -> Answer {
    let why = match status {
        429 => "too many requests",
        400..=499 => "the address is not one that mail can be sent to",
        _ => "something is wrong here",
    };
    let body = match service {
        "SendGrid" => json!({ "errors": [{ "message": why, "field": null, "help": null }] }),
        "Postmark" => json!({ "ErrorCode": 300, "Message": why }),
        _ => json!({ "message": why }),
    };
    Answer {
        retry_after,
        ..said(status, &body)
    }
}

fn from_mime(service: &'static str, mail: ParsedMail, to: String) -> Taken {
    let first = |people: &[deskhand_adapters::email::Mailbox]| {
        people.first().map(|one| one.address.clone()).unwrap_or_default()
    };
    Taken {
        service,
        from: first(&mail.from),
        to,
        subject: mail.subject,
        reply_to: first(&mail.reply_to),
        message_id: mail.message_id,
        headers: mail.headers,
        text: mail.text,
        html: String::new(),
    }
}

fn basic(asked: &Asked) -> String {
    let given = asked
        .header("authorization")
        .and_then(|value| value.strip_prefix("Basic "));
    let bytes = given.and_then(|given| BASE64_STANDARD.decode(given).ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// The fields of `multipart/form-data`, which is all that this address takes; the text of a file as it is.
fn fields(asked: &Asked) -> Vec<(String, Vec<u8>)> {
    let kind = asked.header("content-type").unwrap_or_default();
    let Some(boundary) = kind.strip_prefix("multipart/form-data; boundary=") else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&asked.body);
    let mark = format!("--{boundary}");
    let parts = text.split(&mark).filter_map(|part| part.split_once("\r\n\r\n"));
    let named = parts.filter_map(|(head, value)| {
        let name = head.split("name=\"").nth(1)?.split('"').next()?;
        Some((
            name.to_owned(),
            value.strip_suffix("\r\n").unwrap_or(value).as_bytes().to_vec(),
        ))
    });
    named.collect()
}

fn mailgun(asked: &Asked, number: usize) -> Result<(Taken, Answer), Answer> {
    if basic(asked) != format!("api:{MAILGUN_KEY}") {
        return Err(Answer {
            status: 401,
            kind: "text/plain",
            body: "Forbidden".into(),
            retry_after: None,
        });
    }
    let fields = fields(asked);
    let field = |name: &str| {
        let mut found = fields.iter().filter(|(field, _)| field == name);
        let missing = || said(400, &json!({ "message": format!("{name} parameter is missing") }));
        found.next().map(|(_, value)| value.clone()).ok_or_else(missing)
    };
    let to = String::from_utf8(field("to")?).unwrap_or_default();
    let mail = parse(&field("message")?);
    if mail.from.is_empty() || mail.message_id.is_empty() {
        return Err(said(400, &json!({ "message": "the mime message has no from" })));
    }
    let welcome = json!({ "id": format!("<{number}.{}>", mail.message_id), "message": "Queued. Thank you." });
    Ok((from_mime("Mailgun", mail, to), said(200, &welcome)))
}

/// Headers that SendGrid sets itself and refuses from others.
const RESERVED: &[&str] = &[
    "x-sg-id",
    "x-sg-eid",
    "received",
    "dkim-signature",
    "content-type",
    "content-transfer-encoding",
    "to",
    "from",
    "subject",
    "reply-to",
    "cc",
    "bcc",
];

fn sendgrid(asked: &Asked) -> Result<(Taken, Answer), Answer> {
    let wrong = |status: u16, field: &str, message: &str| {
        said(
            status,
            &json!({ "errors": [{ "message": message, "field": field, "help": null }] }),
        )
    };
    if asked.header("authorization") != Some(&format!("Bearer {SENDGRID_KEY}")) {
        return Err(wrong(
            401,
            "",
            "The provided authorization grant is invalid, expired, or revoked",
        ));
    }
    if asked.header("content-type") != Some(JSON) {
        return Err(wrong(415, "", "Content-Type should be application/json."));
    }
    let body = asked.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let filled = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let people = body["personalizations"].as_array().map_or(&[][..], Vec::as_slice);
    let to = &people.first().unwrap_or(&Value::Null)["to"];
    if people.len() != 1 || to.as_array().map(Vec::len) != Some(1) || !filled(&to[0]["email"]) {
        return Err(wrong(
            400,
            "personalizations",
            "The personalizations field is required and must have an email.",
        ));
    }
    if !filled(&body["from"]["email"]) || !filled(&body["subject"]) {
        return Err(wrong(400, "from", "The from object and the subject are required."));
    }
    let kinds: Vec<String> = body["content"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| text(&part["type"]))
        .collect();
    let whole = body["content"]
        .as_array()
        .into_iter()
        .flatten()
        .all(|part| filled(&part["value"]));
    if kinds != ["text/plain", "text/html"] || !whole {
        return Err(wrong(
            400,
            "content",
            "If present, text/plain and text/html must be the first and second.",
        ));
    }
    let mut headers = Vec::new();
    for (name, value) in body["headers"].as_object().into_iter().flatten() {
        if RESERVED.contains(&name.to_ascii_lowercase().as_str()) || !value.is_string() {
            return Err(wrong(400, "headers", "A header is reserved or no string."));
        }
        headers.push((name.clone(), text(value)));
    }
    let known = ["personalizations", "from", "reply_to", "subject", "content", "headers"];
    if let Some(name) = body
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(wrong(400, name, "Additional property is not allowed"));
    }
    let taken = Taken {
        service: "SendGrid",
        from: text(&body["from"]["email"]),
        to: text(&to[0]["email"]),
        subject: text(&body["subject"]),
        reply_to: text(&body["reply_to"]["email"]),
        text: text(&body["content"][0]["value"]),
        html: text(&body["content"][1]["value"]),
        ..with_id(headers)
    };
    let welcome = Answer {
        status: 202,
        kind: "text/plain",
        body: String::new(),
        retry_after: None,
    };
    Ok((taken, welcome))
}

/// Its id is one of the headers.
fn with_id(headers: Vec<(String, String)>) -> Taken {
    let mut taken = Taken {
        headers,
        ..Taken::default()
    };
    let id = taken.header("Message-ID").unwrap_or_default();
    taken.message_id = id.trim_matches(['<', '>']).to_owned();
    taken
}

fn postmark(asked: &Asked, number: usize) -> Result<(Taken, Answer), Answer> {
    let wrong = |status: u16, code: u64, message: &str| said(status, &json!({ "ErrorCode": code, "Message": message }));
    if asked.header("accept") != Some(JSON) || asked.header("content-type") != Some(JSON) {
        return Err(wrong(
            406,
            0,
            "The Accept and Content-Type headers must be application/json.",
        ));
    }
    if asked.header("x-postmark-server-token") != Some(POSTMARK_TOKEN) {
        return Err(wrong(
            401,
            10,
            "The Server Token you provided in the X-Postmark-Server-Token request header was invalid.",
        ));
    }
    let body = asked.json();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    if text("From").is_empty() || !text("To").contains('@') {
        return Err(wrong(422, 300, "Invalid 'To' address."));
    }
    if text("TextBody").is_empty() && text("HtmlBody").is_empty() {
        return Err(wrong(422, 300, "Provide either email TextBody or HtmlBody or both."));
    }
    let mut headers = Vec::new();
    for header in body["Headers"].as_array().into_iter().flatten() {
        let (Some(name), Some(value)) = (header["Name"].as_str(), header["Value"].as_str()) else {
            return Err(wrong(422, 300, "Headers have a Name and a Value."));
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let keeps = headers
        .iter()
        .any(|(name, value)| name == "X-PM-KeepID" && value == "true");
    let mut taken = Taken {
        service: "Postmark",
        from: text("From"),
        to: text("To"),
        subject: text("Subject"),
        reply_to: text("ReplyTo"),
        text: text("TextBody"),
        html: text("HtmlBody"),
        ..with_id(headers)
    };
    if !keeps {
        taken.message_id = format!("{number}@mtasv.net");
    }
    let welcome = json!({ "To": taken.to, "SubmittedAt": "2026-09-03T18:02:00Z", "MessageID": number.to_string(),
                          "ErrorCode": 0, "Message": "OK" });
    Ok((taken, said(200, &welcome)))
}

fn ses(asked: &Asked, number: usize) -> Result<(Taken, Answer), Answer> {
    let wrong = |status: u16, why: &str| said(status, &json!({ "message": why }));
    aws::verify(asked, SES_REGION, SES_ID, SES_SECRET).map_err(|code| wrong(403, code))?;
    let body = asked.json();
    let data = body["Content"]["Raw"]["Data"].as_str().unwrap_or_default();
    let Ok(raw) = BASE64_STANDARD.decode(data) else {
        return Err(wrong(400, "SerializationException"));
    };
    let mail = parse(&raw);
    let Some(to) = mail.to.first().map(|to| to.address.clone()) else {
        return Err(wrong(400, "Missing final '@domain'"));
    };
    // SES gives each mail an id of its own, whatever id it has.
    let id = format!("0102{number:016}");
    let mut taken = from_mime("SES", mail, to);
    taken.message_id = format!("{id}@{SES_REGION}.amazonses.com");
    Ok((taken, said(200, &json!({ "MessageId": id }))))
}
