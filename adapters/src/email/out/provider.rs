//! Providers that take mail over HTTP: Mailgun and SES as the MIME that SMTP would carry, SendGrid and Postmark as JSON.
//!
//! None of them knows a key that makes a repeat harmless, so a broken connection and an error of theirs behind the
//! request (500, 502, 504) leave it unknown whether the mail was taken.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use deskhand_core::port::{PortError, Receipt};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Letter, Post, html};
use crate::email::inbound::OUR_HEADER;

/// Which provider, with what it asks for. Base addresses are without a slash at the end.
#[derive(Clone, Debug)]
pub enum Account {
    /// documentation.mailgun.com, "Send an email in MIME format".
    Mailgun {
        base: String,
        domain: String,
        key: SecretString,
    },
    /// twilio.com/docs/sendgrid, "Mail Send".
    SendGrid { base: String, key: SecretString },
    /// postmarkapp.com/developer/api/email-api.
    Postmark { base: String, token: SecretString },
    /// docs.aws.amazon.com, SES API v2 "SendEmail", signed with version 4.
    Ses {
        base: String,
        region: String,
        id: String,
        secret: SecretString,
    },
}

pub struct Provider {
    account: Account,
    client: Client,
}

impl Provider {
    pub fn new(account: Account, timeout: Duration) -> Result<Self, String> {
        let client = Client::builder()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|error| error.to_string())?;
        Ok(Self { account, client })
    }

    fn name(&self) -> &'static str {
        match self.account {
            Account::Mailgun { .. } => "Mailgun",
            Account::SendGrid { .. } => "SendGrid",
            Account::Postmark { .. } => "Postmark",
            Account::Ses { .. } => "SES",
        }
    }

    fn request(&self, letter: &Letter, now: DateTime<Utc>) -> Result<RequestBuilder, PortError> {
        // Made for all of them: what cannot be a mail is refused here, and not by their words.
        let mime = letter.mime()?.formatted();
        Ok(match &self.account {
            Account::Mailgun { base, domain, key } => {
                let file = reqwest::multipart::Part::bytes(mime).file_name("mail.eml");
                let form = reqwest::multipart::Form::new()
                    .text("to", letter.to.clone())
                    .part("message", file);
                self.client
                    .post(format!("{base}/v3/{domain}/messages.mime"))
                    .basic_auth("api", Some(key.expose_secret()))
                    .multipart(form)
            }
            Account::SendGrid { base, key } => self
                .client
                .post(format!("{base}/v3/mail/send"))
                .bearer_auth(key.expose_secret())
                .json(&sendgrid(letter)),
            Account::Postmark { base, token } => self
                .client
                .post(format!("{base}/email"))
                .header("accept", "application/json")
                .header("x-postmark-server-token", token.expose_secret())
                .json(&postmark(letter)),
            Account::Ses {
                base,
                region,
                id,
                secret,
            } => {
                let body = json!({ "Content": { "Raw": { "Data": STANDARD.encode(&mime) } } }).to_string();
                let url = format!("{base}/v2/email/outbound-emails");
                let host = url::Url::parse(&url)
                    .ok()
                    .and_then(|url| {
                        let host = url.host_str()?.to_owned();
                        Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
                    })
                    .ok_or_else(|| PortError::permanent("the address of SES is no address"))?;
                let signed = Signed {
                    host: &host,
                    region,
                    id,
                    secret: secret.expose_secret(),
                    body: &body,
                    now,
                };
                self.client
                    .post(url)
                    .header("content-type", "application/json")
                    .header("x-amz-date", now.format("%Y%m%dT%H%M%SZ").to_string())
                    .header("authorization", signed.authorization())
                    .body(body)
            }
        })
    }
}

#[async_trait]
impl Post for Provider {
    async fn send(&self, letter: &Letter) -> Result<Receipt, PortError> {
        match self.request(letter, Utc::now())?.send().await {
            Ok(response) => self.taken(response, letter).await,
            Err(error) if error.is_connect() || error.is_builder() => Err(PortError::transient(format!(
                "{} cannot be reached: {}",
                self.name(),
                error.without_url()
            ))),
            Err(error) => Err(self.unknown(&error.without_url().to_string())),
        }
    }

    async fn check(&self) -> Result<String, PortError> {
        // A look that sends nothing would need rights that a key for sending alone does not have.
        Ok(format!(
            "mail goes out by {}; its key is tried with the first mail",
            self.name()
        ))
    }
}

impl Provider {
    fn unknown(&self, why: &str) -> PortError {
        let name = self.name();
        PortError::Ambiguous {
            why: format!(
                "{name}: {why}; {name} cannot be asked whether it took the mail, so it is not sent again by itself"
            ),
        }
    }

    async fn taken(&self, response: Response, letter: &Letter) -> Result<Receipt, PortError> {
        let status = response.status();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        if status.is_success() {
            return Ok(Receipt {
                remote_id: letter.message_id.clone(),
                remark: None,
            });
        }
        let said: String = response.text().await.unwrap_or_default().chars().take(300).collect();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = format!("{} said {}: {said}", self.name(), status.as_u16());
        Err(match status.as_u16() {
            429 | 503 => PortError::Transient { why, retry_after },
            500..=599 => self.unknown(&why),
            _ => PortError::Permanent { why },
        })
    }
}

/// The headers that neither service has a field for.
fn headers(letter: &Letter) -> Vec<(&'static str, String)> {
    let bracketed = |ids: &[String]| ids.iter().map(|id| format!("<{id}>")).collect::<Vec<_>>().join(" ");
    let mut headers = vec![
        ("Message-ID", format!("<{}>", letter.message_id)),
        (OUR_HEADER, letter.mark()),
        ("X-Auto-Response-Suppress", "OOF, AutoReply".to_owned()),
    ];
    if let Some(id) = &letter.in_reply_to {
        headers.push(("In-Reply-To", format!("<{id}>")));
    }
    if !letter.references.is_empty() {
        headers.push(("References", bracketed(&letter.references)));
    }
    if letter.automatic {
        headers.push(("Auto-Submitted", "auto-replied".to_owned()));
    }
    headers
}

/// `Name <address>` in its parts.
fn sender(mailbox: &str) -> (String, String) {
    match mailbox.rsplit_once('<') {
        Some((name, rest)) => (
            name.trim().trim_matches('"').to_owned(),
            rest.trim_end_matches('>').trim().to_owned(),
        ),
        None => (String::new(), mailbox.trim().to_owned()),
    }
}

fn sendgrid(letter: &Letter) -> Value {
    let (name, address) = sender(&letter.from);
    let set: serde_json::Map<String, Value> = headers(letter)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    let mut body = json!({
        "personalizations": [{ "to": [{ "email": letter.to, "name": letter.to_name }] }],
        "from": { "email": address, "name": name },
        "subject": letter.subject,
        "content": [
            { "type": "text/plain", "value": letter.plain() },
            { "type": "text/html", "value": html(letter) },
        ],
        "headers": set,
    });
    if let Some(reply_to) = &letter.reply_to {
        body["reply_to"] = json!({ "email": reply_to });
    }
    body
}

fn postmark(letter: &Letter) -> Value {
    let mut set: Vec<Value> = headers(letter)
        .into_iter()
        .map(|(name, value)| json!({ "Name": name, "Value": value }))
        .collect();
    // Without it Postmark puts an id of its own, and answers to it would not be known.
    set.push(json!({ "Name": "X-PM-KeepID", "Value": "true" }));
    let mut body = json!({
        "From": letter.from, "To": letter.to, "Subject": letter.subject, "TextBody": letter.plain(),
        "HtmlBody": html(letter), "Headers": set,
    });
    if let Some(reply_to) = &letter.reply_to {
        body["ReplyTo"] = json!(reply_to);
    }
    body
}

/// A request to SES, as signature version 4 sees it (docs.aws.amazon.com, "Create a signed AWS API request").
struct Signed<'a> {
    host: &'a str,
    region: &'a str,
    id: &'a str,
    secret: &'a str,
    body: &'a str,
    now: DateTime<Utc>,
}

impl Signed<'_> {
    fn authorization(&self) -> String {
        let (day, time) = (self.now.format("%Y%m%d").to_string(), self.now.format("%Y%m%dT%H%M%SZ"));
        let names = "content-type;host;x-amz-date";
        let digest = |text: &str| hex::encode(Sha256::digest(text));
        let request = format!(
            "POST\n/v2/email/outbound-emails\n\ncontent-type:application/json\nhost:{}\nx-amz-date:{time}\n\n{names}\n{}",
            self.host,
            digest(self.body)
        );
        let scope = format!("{day}/{}/ses/aws4_request", self.region);
        let signed = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", digest(&request));
        let start = format!("AWS4{}", self.secret).into_bytes();
        let key = [day.as_str(), self.region, "ses", "aws4_request"]
            .iter()
            .fold(start, |key, part| mac(&key, part));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.id,
            hex::encode(mac(&key, &signed))
        )
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter() -> Letter {
        Letter {
            from: "Care <care@lamps.example>".into(),
            to: "ola@berg.example".into(),
            subject: "Re: Lamp".into(),
            message_id: "deskhand.7-1@lamps.example".into(),
            in_reply_to: Some("2@berg.example".into()),
            references: vec!["2@berg.example".into()],
            reply_to: Some("care+1@lamps.example".into()),
            text: "Done.".into(),
            ..Letter::default()
        }
    }

    #[test]
    fn json_ways_keep_our_id_and_the_thread() {
        let body = postmark(&letter());
        assert!(body["Headers"].to_string().contains("X-PM-KeepID"));
        assert!(body["Headers"].to_string().contains("<deskhand.7-1@lamps.example>"));
        let body = sendgrid(&letter());
        assert_eq!(body["headers"]["In-Reply-To"], "<2@berg.example>");
        assert_eq!(body["from"]["email"], "care@lamps.example");
        assert_eq!(body["reply_to"]["email"], "care+1@lamps.example");
    }

    /// As botocore 1.44.8 signs it.
    #[test]
    fn the_signature_of_ses_is_the_one_that_amazons_own_client_makes() {
        let signed = Signed {
            host: "email.eu-west-1.amazonaws.com",
            region: "eu-west-1",
            id: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            body: r#"{"Content":{"Raw":{"Data":"eA=="}}}"#,
            now: "2026-09-03T18:02:00Z".parse().expect("a time"),
        };
        assert_eq!(
            signed.authorization(),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260903/eu-west-1/ses/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=fd2fb32360348f6e6f4f134ecfbe86fd37f5306a4064320990403f33ecda291d"
        );
    }
}
