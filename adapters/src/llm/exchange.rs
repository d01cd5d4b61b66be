//! One HTTP call to a provider: sent once, read in bounds of time and size, and folded into a reply.
//!
//! Dropping the future drops the response, which closes the connection: that is how a reply is cancelled.

use std::time::Duration;

use deskhand_core::model::ModelReply;
use deskhand_core::port::{ModelError, Sink};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use url::Url;

use super::Limits;
use super::failure::{Failure, Names};
use super::sse::Events;

/// Answers other than replies: errors and lists of models.
const ANSWER_BYTES: usize = 4 << 20;
/// How long a stream may stay open after the reply is complete: usage may follow, and nothing else of interest.
const AFTERMATH: Duration = Duration::from_secs(5);

/// Makes a reply of a stream, or of the same message in one piece.
pub(super) trait Fold: Send {
    /// The data of one event.
    fn event(&mut self, data: &str, sink: &mut dyn Sink) -> Result<(), Trouble>;
    /// The message in one piece, from a server that does not stream.
    fn whole(&mut self, message: &Value, sink: &mut dyn Sink) -> Result<(), Trouble>;
    fn progress(&self) -> Progress;
    fn finish(self) -> ModelReply;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The provider has not said that it is finished.
    Writing,
    /// It has; usage may still follow.
    Complete,
    /// Nothing follows.
    Over,
}

/// What may stand in a stream instead of a reply.
pub(super) enum Trouble {
    /// The provider's error.
    Told(Value),
    /// Something that is not the protocol. The text says what, in our words.
    Garbled(&'static str),
}

pub(super) struct Exchange {
    http: Client,
    limits: Limits,
    names: Names,
}

impl Exchange {
    /// `headers` go with each request; the key among them is marked sensitive by whoever made them.
    pub(super) fn new(names: Names, limits: Limits, headers: HeaderMap) -> Result<Self, ModelError> {
        let http = Client::builder()
            .user_agent(concat!("deskhand/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(limits.connect)
            // A redirect would carry the key to wherever it points.
            .redirect(reqwest::redirect::Policy::none())
            // A compressed stream may wait in somebody's buffer.
            .no_gzip()
            .build()
            .map_err(|error| ModelError::Permanent {
                why: format!("The HTTP client cannot be set up: {}.", root_cause(&error)),
            })?;
        Ok(Self { http, limits, names })
    }

    /// Sends a request and reads its reply. `body` is JSON.
    pub(super) async fn reply<F: Fold>(
        &self,
        url: Url,
        body: Vec<u8>,
        fold: F,
        sink: &mut dyn Sink,
    ) -> Result<ModelReply, ModelError> {
        let told = body.clone();
        let post = self
            .http
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body);
        match tokio::time::timeout(self.limits.whole, self.read_reply(post, &told, fold, sink)).await {
            Ok(reply) => reply,
            Err(_) => Err(self.silent("was not finished", self.limits.whole)),
        }
    }

    /// A small JSON answer: a list of models.
    pub(super) async fn get(&self, url: Url) -> Result<Value, ModelError> {
        let response = self.send(self.http.get(url).header(ACCEPT, "application/json")).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = self.read_to_end(response, ANSWER_BYTES).await?;
        if !status.is_success() {
            return Err(Failure::of_response(status.as_u16(), &headers, &text).judged(&self.names, &[]));
        }
        serde_json::from_slice(&text).map_err(|_| self.not_the_api())
    }

    async fn read_reply<F: Fold>(
        &self,
        post: RequestBuilder,
        told: &[u8],
        mut fold: F,
        sink: &mut dyn Sink,
    ) -> Result<ModelReply, ModelError> {
        let response = self.send(post).await?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            // What is left of a broken error body still has its status.
            let text = self.read_to_end(response, ANSWER_BYTES).await.unwrap_or_default();
            return Err(Failure::of_response(status.as_u16(), &headers, &text).judged(&self.names, told));
        }
        let trouble = |trouble| self.in_stream(trouble, told);
        match kind_of(&response) {
            Kind::Stream => self.read_events(response, &mut fold, sink, told).await?,
            Kind::Json => {
                let text = self.read_to_end(response, self.limits.reply_bytes).await?;
                let message: Value = serde_json::from_slice(&text).map_err(|_| self.cut_off())?;
                fold.whole(&message, sink).map_err(trouble)?;
            }
            Kind::Page => return Err(self.not_the_api()),
        }
        match fold.progress() {
            Progress::Complete | Progress::Over => Ok(fold.finish()),
            Progress::Writing => Err(self.cut_off()),
        }
    }

    /// Reads until the reply is over, the stream ends, or nothing comes any more.
    async fn read_events<F: Fold>(
        &self,
        mut response: Response,
        fold: &mut F,
        sink: &mut dyn Sink,
        told: &[u8],
    ) -> Result<(), ModelError> {
        let mut events = Events::default();
        let mut left = self.limits.reply_bytes;
        loop {
            let patience = match fold.progress() {
                Progress::Writing => self.limits.idle,
                Progress::Complete => self.limits.idle.min(AFTERMATH),
                Progress::Over => return Ok(()),
            };
            let chunk = match tokio::time::timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // The reply is whole: how the connection ends afterwards does not matter.
                Ok(Err(_)) | Err(_) if fold.progress() == Progress::Complete => return Ok(()),
                Ok(Err(_)) => return Err(self.cut_off()),
                Err(_) => return Err(self.silent("fell silent", patience)),
            };
            left = left.checked_sub(chunk.len()).ok_or_else(|| self.oversized())?;
            for data in events.push(&chunk) {
                fold.event(&data, sink)
                    .map_err(|trouble| self.in_stream(trouble, told))?;
            }
        }
        if let Some(data) = events.end() {
            // An event that the end of the stream cut is no protocol error but the cut itself.
            match fold.event(&data, sink) {
                Ok(()) | Err(Trouble::Garbled(_)) => {}
                Err(trouble @ Trouble::Told(_)) => return Err(self.in_stream(trouble, told)),
            }
        }
        Ok(())
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        match tokio::time::timeout(self.limits.idle, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_builder() => Err(ModelError::Permanent {
                why: format!(
                    "The request to {} cannot be made: {}.",
                    self.names.provider,
                    root_cause(&error)
                ),
            }),
            Ok(Err(error)) => Err(ModelError::Transient {
                why: format!(
                    "{} cannot be reached ({}); if that stays so, check {}.",
                    self.names.provider,
                    root_cause(&error),
                    self.names.base_setting
                ),
                retry_after: None,
            }),
            Err(_) => Err(self.silent("did not answer", self.limits.idle)),
        }
    }

    async fn read_to_end(&self, mut response: Response, most: usize) -> Result<Vec<u8>, ModelError> {
        let mut text = Vec::new();
        loop {
            match tokio::time::timeout(self.limits.idle, response.chunk()).await {
                Ok(Ok(Some(chunk))) if text.len() + chunk.len() > most => return Err(self.oversized()),
                Ok(Ok(Some(chunk))) => text.extend_from_slice(&chunk),
                Ok(Ok(None)) => return Ok(text),
                Ok(Err(_)) => return Err(self.cut_off()),
                Err(_) => return Err(self.silent("fell silent", self.limits.idle)),
            }
        }
    }

    fn in_stream(&self, trouble: Trouble, told: &[u8]) -> ModelError {
        match trouble {
            Trouble::Told(error) => Failure::in_stream(&error).judged(&self.names, told),
            Trouble::Garbled(what) => ModelError::Transient {
                why: format!("{} sent {what}.", self.names.provider),
                retry_after: None,
            },
        }
    }

    fn cut_off(&self) -> ModelError {
        ModelError::Transient {
            why: format!("The reply of {} broke off before its end.", self.names.provider),
            retry_after: None,
        }
    }

    fn silent(&self, what: &str, after: Duration) -> ModelError {
        ModelError::Transient {
            why: format!(
                "The reply of {} {what} within {} s.",
                self.names.provider,
                after.as_secs_f32()
            ),
            retry_after: None,
        }
    }

    fn oversized(&self) -> ModelError {
        ModelError::Permanent {
            why: format!(
                "The answer of {} is larger than any reply should be.",
                self.names.provider
            ),
        }
    }

    fn not_the_api(&self) -> ModelError {
        ModelError::Permanent {
            why: format!(
                "What answers at {} is not the API of {}.",
                self.names.base_setting, self.names.provider
            ),
        }
    }
}

enum Kind {
    Stream,
    Json,
    Page,
}

/// By the declared type. What is none of the known ones is read as a stream: proxies relabel them.
fn kind_of(response: &Response) -> Kind {
    let declared = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    match declared
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
        .as_str()
    {
        "application/json" => Kind::Json,
        "text/html" => Kind::Page,
        _ => Kind::Stream,
    }
}

/// The innermost reason of an error of the client. It names hosts and TLS faults; the outer ones print whole URLs,
/// which may hold secrets.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    cause.map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}
