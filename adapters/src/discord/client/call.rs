//! One call: paced, bounded in time and size, its answer as JSON. Repeats nothing by itself.

use std::time::Duration;

use deskhand_core::port::PortError;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, Response, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::Settings;
use super::failure::Failure;
use super::limits::{Limits, Told};

/// A hundred messages with embeds fit.
const LONGEST_ANSWER: usize = 8 << 20;
/// How long a call waits for its turn; beyond that its caller is told when to come back.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request in the making. `path` stands below the API's address, without a slash before it.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
    /// Sent along with the body: a name, and plain text.
    file: Option<(String, String)>,
    /// False where the address itself is the secret: answers to interactions.
    signed: bool,
}

impl Ask {
    pub(super) fn new(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            query: Vec::new(),
            body: None,
            file: None,
            signed: true,
        }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into())
    }

    pub(super) fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(super) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub(super) fn file(mut self, name: &str, text: &str) -> Self {
        self.file = Some((name.to_owned(), text.to_owned()));
        self
    }

    pub(super) fn unsigned(mut self) -> Self {
        self.signed = false;
        self
    }

    /// What Discord counts together: the method, and the address with its first id alone (docs.discord.com, "Rate
    /// Limits"; the channel, guild or webhook has a limit of its own).
    fn route(&self) -> String {
        let mut ids = 0;
        let parts = self.path.split('/').map(|part| {
            let is_id = part.len() > 10 && part.bytes().any(|b| b.is_ascii_digit());
            ids += usize::from(is_id);
            if is_id && ids > 1 { ":id" } else { part }
        });
        format!("{} {}", self.method, parts.collect::<Vec<_>>().join("/"))
    }
}

pub(super) struct Api {
    client: Client,
    base: String,
    pub(super) token: SecretString,
    limits: Limits,
}

impl Api {
    pub(super) fn new(settings: &Settings) -> Result<Self, PortError> {
        let base = settings.api_url.trim_end_matches('/').to_owned();
        let here = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        if base.starts_with("http://discord.com") {
            return Err(PortError::permanent(
                "DISCORD_API_URL must begin with https://, because the token travels with each request.",
            ));
        }
        let mut builder = Client::builder()
            // Discord asks for this form of the name.
            .user_agent(concat!("DiscordBot (deskhand, ", env!("CARGO_PKG_VERSION"), ")"))
            .timeout(settings.time_limit)
            .connect_timeout(settings.time_limit.min(Duration::from_secs(3)))
            .redirect(redirect::Policy::none());
        if here.iter().any(|here| base.starts_with(here)) {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| PortError::permanent(format!("The client for Discord cannot be made: {error}.")))?;
        Ok(Self {
            client,
            base,
            token: settings.bot_token.clone(),
            limits: Limits::new(settings.pace),
        })
    }

    pub(super) async fn call(&self, ask: Ask) -> Result<Value, Failure> {
        let route = ask.route();
        self.limits.ready(&route, PATIENCE).await?;
        let mut request = self
            .client
            .request(ask.method.clone(), format!("{}/{}", self.base, ask.path));
        if ask.signed {
            request = request.header("authorization", format!("Bot {}", self.token.expose_secret()));
        }
        if !ask.query.is_empty() {
            request = request.query(&ask.query);
        }
        request = match (ask.body, ask.file) {
            (Some(body), None) => request.json(&body),
            (body, Some((name, text))) => {
                let part = Part::text(text).file_name(name).mime_str("text/plain; charset=utf-8");
                let part = part.map_err(|_| Failure::refused(0, 0))?;
                let form = Form::new().text("payload_json", body.unwrap_or_default().to_string());
                request.multipart(form.part("files[0]", part))
            }
            (None, None) => request,
        };
        let response = request.send().await.map_err(Failure::from)?;
        self.read(&route, response).await
    }

    async fn read(&self, route: &str, mut response: Response) -> Result<Value, Failure> {
        let status = response.status();
        let told = Told::read(response.headers());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(Failure::from)? {
            if body.len() + chunk.len() > LONGEST_ANSWER {
                return Err(Failure::Lost {
                    why: "answered with more than it ever should".into(),
                });
            }
            body.extend_from_slice(&chunk);
        }
        let answer: Option<Value> = match body.is_empty() {
            true => Some(Value::Null),
            false => serde_json::from_slice(&body).ok(),
        };
        self.limits.learn(route, status.as_u16(), &told, answer.as_ref());
        match (status.as_u16(), answer) {
            (200..=299, Some(answer)) => Ok(answer),
            (429, answer) => Err(Failure::Slow {
                retry_after: told.pause(answer.as_ref()),
            }),
            (408 | 500..=599, _) | (200..=299, None) => Err(Failure::Lost {
                why: format!("answered with status {status}"),
            }),
            (code, answer) => Err(Failure::of_refusal(code, &answer.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_their_first_id() {
        let edit = Ask::new(
            Method::PATCH,
            "channels/645027906669510660/messages/1100000000000000100".into(),
        );
        assert_eq!(edit.route(), "PATCH channels/645027906669510660/messages/:id");
        assert_eq!(Ask::get("users/@me").route(), "GET users/@me");
    }
}
