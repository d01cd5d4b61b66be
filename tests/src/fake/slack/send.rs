//! Requests from Slack to the bot, signed as Slack signs them.

use chrono::{DateTime, Duration, Utc};
use serde_json::Value;

use super::state::{Answerable, Trigger};
use super::{Inner, SIGNING_SECRET, payload};
use crate::fake::wire::{self, Forgery};

/// What the bot answered.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Inner {
    /// A trigger that lives three seconds of the fake's clock.
    pub(super) fn fresh_trigger(&self, person: &str) -> String {
        let until = self.clock.now() + Duration::seconds(3);
        let mut team = self.team();
        let id = format!("777{}.4242424242.{:032x}", team.state.fresh(), team.state.fresh());
        team.state.triggers.push(Trigger {
            id: id.clone(),
            person: person.to_owned(),
            until,
            used: false,
        });
        id
    }

    /// A response URL for what a person did in a channel.
    pub(super) fn fresh_response_url(
        &self,
        person: &str,
        channel: &str,
        message: Option<&str>,
        thread_ts: Option<&str>,
    ) -> String {
        let until = self.clock.now() + Duration::minutes(30);
        let mut team = self.team();
        let token = format!("r{}", team.state.fresh());
        team.state.answerables.push(Answerable {
            token: token.clone(),
            person: person.to_owned(),
            channel: channel.to_owned(),
            message: message.map(str::to_owned),
            thread_ts: thread_ts.map(str::to_owned),
            uses: 0,
            until,
        });
        format!("{}/response/{token}", self.url)
    }

    /// An interaction: JSON in the one field of a form.
    pub(super) async fn interact(&self, payload: &Value) -> Answered {
        let body = form([("payload", payload.to_string().as_str())]);
        self.send("/slack/interactions", FORM, body).await
    }

    pub(super) async fn command(&self, fields: &[(&str, String)]) -> Answered {
        let body = form(fields.iter().map(|(name, value)| (*name, value.as_str())));
        self.send("/slack/commands", FORM, body).await
    }

    /// An event in its envelope.
    pub(super) async fn event(&self, event: Value) -> Answered {
        let number = self.team().state.fresh();
        let body = payload::callback(event, number, self.clock.now()).to_string();
        self.team().last_event = Some(body.clone());
        if self.team().mute {
            return Answered {
                status: 0,
                body: String::new(),
            };
        }
        self.send_event(body, false).await
    }

    pub(super) async fn send_event(&self, body: String, again: bool) -> Answered {
        let retry: &[_] = if again { RETRY } else { &[] };
        self.send_with("/slack/events", "application/json", body.into_bytes(), retry)
            .await
    }

    pub(super) async fn send(&self, path: &str, kind: &str, body: Vec<u8>) -> Answered {
        self.send_with(path, kind, body, &[]).await
    }

    async fn send_with(&self, path: &str, kind: &str, body: Vec<u8>, headers: &[(&str, &str)]) -> Answered {
        let (bot, forgery) = {
            let mut team = self.team();
            (team.bot.clone(), team.forgery.take())
        };
        let bot = bot.expect("bot_is_at() was called before anybody acts");
        let (timestamp, signature, body) = sign(self.clock.now(), body, forgery);
        let mut request = self
            .client
            .post(format!("{bot}{path}"))
            .body(body)
            .header("content-type", kind);
        request = request.header("user-agent", "Slackbot 1.0 (+https://api.slack.com/robots)");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(signature) = signature {
            request = request
                .header("x-slack-request-timestamp", timestamp)
                .header("x-slack-signature", signature);
        }
        let answered = match request.send().await {
            Ok(response) => Answered {
                status: response.status().as_u16(),
                body: response.text().await.unwrap_or_default(),
            },
            // Whom it concerns sees "operation timed out".
            Err(error) => Answered {
                status: 0,
                body: error.to_string(),
            },
        };
        if answered.status != 200 && forgery.is_none() {
            let line = format!("a genuine request to {path} was answered {}", answered.status);
            self.team().violations.push(line);
        }
        answered
    }
}

const RETRY: &[(&str, &str)] = &[("x-slack-retry-num", "1"), ("x-slack-retry-reason", "http_timeout")];
const FORM: &str = "application/x-www-form-urlencoded";

fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
        .into_bytes()
}

fn sign(now: DateTime<Utc>, mut body: Vec<u8>, forgery: Option<Forgery>) -> (String, Option<String>, Vec<u8>) {
    let ten = 600;
    let timestamp = match forgery {
        Some(Forgery::OldTimestamp) => (now.timestamp() - ten).to_string(),
        Some(Forgery::FutureTimestamp) => (now.timestamp() + ten).to_string(),
        Some(Forgery::SillyTimestamp) => "yesterday".to_owned(),
        Some(Forgery::WrongSecret | Forgery::ChangedBody | Forgery::NoSignature) | None => now.timestamp().to_string(),
    };
    let secret = match forgery {
        Some(Forgery::WrongSecret) => "a guess",
        Some(_) | None => SIGNING_SECRET,
    };
    let signature = wire::slack_signature(secret, &timestamp, &body);
    if forgery == Some(Forgery::ChangedBody) {
        body.push(b' ');
    }
    (
        timestamp,
        (forgery != Some(Forgery::NoSignature)).then_some(signature),
        body,
    )
}
