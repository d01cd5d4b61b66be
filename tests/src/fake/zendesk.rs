//! A help desk that behaves like Zendesk: tickets, people, audits, an API and signed webhooks.
//!
//! The truth is [`state::State`]; [`http`] draws it as the API and [`webhook`] tells the bot of changes. Requesters and
//! agents act by the verbs in [`verbs`], and tests look by those in [`looks`]. It knows nothing of our adapter.

mod change;
mod http;
mod looks;
mod rest;
mod show;
pub mod state;
mod verbs;
mod webhook;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::clock::Clock;
use super::faults::Faults;
use super::wire::{self, Forgery};
use state::State;
pub use webhook::{Delivery, Hook};

/// Shared by the test and the server.
pub(crate) struct Inner {
    pub(crate) clock: Clock,
    client: reqwest::Client,
    /// The API's base, `http://127.0.0.1:PORT`.
    url: String,
    desk: Mutex<Desk>,
}

/// Everything that changes.
pub(crate) struct Desk {
    pub(crate) state: State,
    pub(crate) faults: Faults,
    /// So many safe updates are refused, whatever their stamp.
    pub(crate) conflicts: usize,
    hooks: webhook::Hooks,
    /// Answers to creations by idempotency key, with the body they answered.
    created: HashMap<String, (Vec<u8>, u16, Value, DateTime<Utc>)>,
    requests: Vec<Request>,
    violations: Vec<String>,
}

/// A request that the API got.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Value,
    pub status: u16,
}

/// The fake itself. Cheap to clone; the server ends with the last clone.
#[derive(Clone)]
pub struct Zendesk {
    inner: Arc<Inner>,
    _server: Arc<AbortOnDropHandle<()>>,
}

/// A ticket that a test speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TicketHandle {
    pub id: u64,
    pub subject: String,
}

/// What the bot's account is called here, and how it proves who it is.
pub const EMAIL: &str = "deskhand@shop.example";
pub const TOKEN: &str = "zd-token-of-the-fake";
pub const SECRET: &str = "zd-webhook-secret-of-the-fake";

impl Zendesk {
    pub async fn start(clock: Clock) -> Self {
        // The address is known only after binding, and the server needs what knows the address.
        let (sender, receiver) = tokio::sync::watch::channel(None::<Arc<Inner>>);
        let router = Router::new().fallback(http::answer).with_state(receiver);
        let (url, server) = wire::serve(router).await;
        let desk = Desk {
            state: State::new(),
            faults: Faults::default(),
            conflicts: 0,
            hooks: webhook::Hooks::default(),
            created: HashMap::new(),
            requests: Vec::new(),
            violations: Vec::new(),
        };
        let inner = Arc::new(Inner {
            clock,
            client: wire::client(),
            url,
            desk: Mutex::new(desk),
        });
        sender.send_replace(Some(inner.clone()));
        Self {
            inner,
            _server: Arc::new(server),
        }
    }

    /// `ZENDESK_URL`.
    pub fn url(&self) -> String {
        self.inner.url.clone()
    }

    /// Where webhooks go from now on: the bot's base URL. Before it is told, nothing is sent.
    pub fn bot_is_at(&self, url: &str) {
        self.desk().hooks.bot = Some(url.trim_end_matches('/').to_owned());
    }

    /// Which webhooks are set up; event subscriptions only, unless told.
    pub fn subscribes(&self, hook: Hook) {
        self.desk().hooks.hook = hook;
    }

    /// The body of the trigger's webhook, with Zendesk's placeholders.
    pub fn uses_trigger_template(&self, template: &str) {
        self.desk().hooks.template = template.to_owned();
    }

    /// Whether the webhook about a write of the bot is sent, and heard, before the write itself is answered. Otherwise
    /// it waits for [`delivers_echoes`](Self::delivers_echoes).
    pub fn echoes_before_answering(&self, yes: bool) {
        self.desk().hooks.echo_first = yes;
    }

    /// The next webhook is forged.
    pub fn forges_next(&self, how: Forgery) {
        self.desk().hooks.forgery = Some(how);
    }

    /// Down for maintenance: 503 with an HTML page, until told otherwise.
    pub fn is_down(&self, down: bool) {
        self.desk().faults.down = down;
    }

    /// Breaks every connection without an answer, until told otherwise.
    pub fn resets_connections(&self, resets: bool) {
        self.desk().faults.resets = resets;
    }

    /// Applies the next write and loses its answer: the writer cannot know.
    pub fn times_out_after_applying_next_write(&self) {
        self.desk().faults.lose_next_answer = true;
    }

    /// Loses the next write before it is applied: to the writer it looks the same.
    pub fn times_out_before_applying_next_write(&self) {
        self.desk().faults.lose_next_request = true;
    }

    /// The next `n` updates that ask for a safe update are refused, whatever their stamp.
    pub fn conflicts_next(&self, n: usize) {
        self.desk().conflicts = n;
    }

    /// 429 with `Retry-After` until the clock has moved on by so many seconds.
    pub fn slow_down(&self, seconds: u64) {
        let now = self.inner.clock.now();
        self.desk().faults.slow_down(now, seconds);
    }

    /// How many requests came before `Retry-After` had passed; the first one, which learns of it, is not counted.
    pub fn came_too_early(&self) -> usize {
        self.desk().faults.came_too_early()
    }

    /// All requests to the API, the oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.desk().requests.clone()
    }

    /// What no honest client would have sent, and answers that no honest bot would have given.
    pub fn violations(&self) -> Vec<String> {
        self.desk().violations.clone()
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.inner.desk()
    }
}

impl Inner {
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
