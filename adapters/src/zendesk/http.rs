//! One request to Zendesk, bounded in time and size, and its answer as JSON. Repeats nothing by itself.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use deskhand_core::port::PortError;
use reqwest::{Client, Method, Response, redirect};
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::ZendeskConfig;
use super::limits::{Limits, retry_after};
use super::refusal::{Kind, refusal};

/// A page of 100 comments of 64 KB each, as text, plain text and HTML, fits.
const LONGEST_ANSWER: usize = 32 << 20;

pub(super) struct Http {
    client: Client,
    config: ZendeskConfig,
    base: String,
    limits: Limits,
}

/// A request in the making. `path` starts with `/api/v2/`.
pub(super) struct Ask<'a> {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<&'a Value>,
    /// The ticket that it updates.
    ticket: Option<&'a str>,
    /// Sent as `Idempotency-Key`, which Zendesk knows for new tickets only.
    key: Option<&'a str>,
}

impl<'a> Ask<'a> {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            query: Vec::new(),
            body: None,
            ticket: None,
            key: None,
        }
    }

    pub(super) fn update(ticket: &'a str, body: &'a Value) -> Self {
        Self {
            method: Method::PUT,
            body: Some(body),
            ticket: Some(ticket),
            ..Self::get(format!("/api/v2/tickets/{ticket}"))
        }
    }

    pub(super) fn create(body: &'a Value, key: &'a str) -> Self {
        Self {
            method: Method::POST,
            body: Some(body),
            key: Some(key),
            ..Self::get("/api/v2/tickets")
        }
    }

    pub(super) fn query(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.query.push((key, value.into()));
        self
    }

    fn kind(&self) -> Kind {
        if self.method == Method::GET {
            Kind::Read
        } else {
            Kind::Write
        }
    }
}

impl Http {
    /// Needs a default crypto provider of rustls, as `main` installs it.
    pub(super) fn new(config: ZendeskConfig) -> Result<Self, PortError> {
        let url = &config.url;
        let host = url.host_str().unwrap_or_default().to_owned();
        if !matches!(url.scheme(), "http" | "https") || host.is_empty() {
            return Err(PortError::permanent(
                "ZENDESK_URL must be the help desk's address, as https://example.zendesk.com.",
            ));
        }
        let here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        if url.scheme() == "http" && host.ends_with(".zendesk.com") {
            return Err(PortError::permanent(
                "ZENDESK_URL must begin with https://, because the token travels with each request.",
            ));
        }
        let base = url.as_str().trim_end_matches('/');
        let base = base.strip_suffix("/api/v2").unwrap_or(base).to_owned();
        let mut builder = Client::builder()
            .user_agent("deskhand")
            .timeout(config.timeout)
            .connect_timeout(config.connect_timeout)
            .redirect(redirect::Policy::none());
        if here {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| PortError::permanent(format!("The client for Zendesk cannot be made: {error}.")))?;
        Ok(Self {
            client,
            config,
            base,
            limits: Limits::default(),
        })
    }

    pub(super) fn config(&self) -> &ZendeskConfig {
        &self.config
    }

    /// The help desk's address without a slash at its end.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        (self.config.clock)()
    }

    /// A whole answer in our own shape, or what its absence means.
    pub(super) async fn ask<T: DeserializeOwned>(&self, ask: Ask<'_>) -> Result<T, PortError> {
        let kind = ask.kind();
        let body = self.send(ask).await?;
        serde_json::from_value(body)
            .map_err(|error| kind.unclear(format!("Zendesk's answer is not in its documented shape: {error}.")))
    }

    async fn send(&self, ask: Ask<'_>) -> Result<Value, PortError> {
        let kind = ask.kind();
        if let Err(wait) = self.limits.admit(self.now(), ask.ticket) {
            return Err(PortError::Transient {
                why: "Zendesk's rate limit is used up.".to_owned(),
                retry_after: to_duration(wait),
            });
        }
        let user = format!("{}/token", self.config.email);
        let mut request = self
            .client
            .request(ask.method, format!("{}{}", self.base, ask.path))
            .basic_auth(user, Some(self.config.api_token.expose_secret()))
            .query(&ask.query);
        if let Some(body) = ask.body {
            request = request.json(body);
        }
        if let Some(key) = ask.key {
            request = request.header("Idempotency-Key", key);
        }
        let response = request.send().await.map_err(|error| unreached(kind, &error))?;
        let status = response.status();
        let now = self.now();
        self.limits.learn(now, status, response.headers(), ask.ticket);
        let wait = retry_after(now, response.headers()).and_then(to_duration);
        let bytes = whole(response).await;
        if status.is_success() {
            let bytes = bytes.map_err(|why| kind.unclear(why))?;
            return serde_json::from_slice(&bytes)
                .map_err(|_| kind.unclear("Zendesk answered something that is not JSON.".to_owned()));
        }
        let body = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Err(refusal(kind, status, wait, &body.unwrap_or(Value::Null)))
    }
}

/// The answer's body, at most `LONGEST_ANSWER`.
async fn whole(mut response: Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(bytes),
            Ok(Some(chunk)) if bytes.len() + chunk.len() <= LONGEST_ANSWER => bytes.extend_from_slice(&chunk),
            Ok(Some(_)) => return Err("Zendesk's answer is too long.".to_owned()),
            Err(_) => return Err("The connection to Zendesk broke in the middle of its answer.".to_owned()),
        }
    }
}

/// No answer at all. Without a connection nothing was sent; after that it may have arrived.
fn unreached(kind: Kind, error: &reqwest::Error) -> PortError {
    if error.is_builder() {
        return PortError::permanent(
            "ZENDESK_EMAIL, ZENDESK_API_TOKEN or ZENDESK_URL holds characters that cannot be sent.",
        );
    }
    if error.is_connect() {
        return PortError::transient("Zendesk cannot be reached.");
    }
    let why = if error.is_timeout() {
        "Zendesk did not answer in time."
    } else {
        "The connection to Zendesk broke before its answer."
    };
    kind.unclear(why.to_owned())
}

fn to_duration(wait: TimeDelta) -> Option<Duration> {
    wait.to_std().ok()
}
