//! A workspace that behaves like Slack: channels with threads, people, modals, the Web API and signed requests.
//!
//! The truth is [`state::State`]; [`http`] draws it as the Web API. People act by the verbs in [`verbs`], [`speech`] and [`modal`],
//! and tests look by those in [`looks`]. It knows nothing of our adapter.

mod blocks;
mod chat;
mod elements;
mod form;
mod http;
mod looks;
mod lookups;
mod modal;
mod payload;
mod response_url;
mod send;
mod speech;
pub mod state;
mod text;
mod verbs;
mod views;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::clock::Clock;
use super::faults::Faults;
use super::wire::{self, Forgery};
pub use looks::{Card, Posted};
pub use modal::{Modal, Sent};
use state::State;
pub use verbs::Seen;

/// The app's tokens and signing secret here.
pub const BOT_TOKEN: &str = "xoxb-token-of-the-fake";
pub const APP_TOKEN: &str = "xapp-token-of-the-fake";
pub const SIGNING_SECRET: &str = "slack-signing-secret-of-the-fake";
/// The channel that is there from the start, with the bot in it.
pub const CHANNEL: &str = "C0TRIAGE01";
/// A channel where customers write, with the bot in it too.
pub const HELP: &str = "C0HELP0001";
/// The workspace, and another one that shares a channel with it.
pub const TEAM: &str = "T0FAKETEAM";
pub const OTHER_TEAM: &str = "T0OTHER001";
pub const BOT: &str = "U0DESKHAND";
pub const APP: &str = "A0DESKHAND";

pub(crate) struct Inner {
    pub(crate) clock: Clock,
    client: reqwest::Client,
    url: String,
    team: Mutex<Team>,
    /// Counts changes made by the bot, so that a verb can wait for the next one.
    changes: watch::Sender<u64>,
}

pub(crate) struct Team {
    pub(crate) state: State,
    pub(crate) faults: Faults,
    /// More than one post in a second to a channel gets 429.
    pub(crate) strict_rate: bool,
    /// So many posts or updates with blocks are refused.
    pub(crate) refuse_blocks: usize,
    bot: Option<String>,
    mute: bool,
    forgery: Option<Forgery>,
    echoes: VecDeque<Value>,
    last_event: Option<String>,
    requests: Vec<Request>,
    violations: Vec<String>,
}

/// A call of the Web API, or of a response URL (`response_url`).
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub arguments: Value,
    /// `ok`, or Slack's error code.
    pub outcome: String,
}

/// The fake itself. Cheap to clone; the server ends with the last clone.
#[derive(Clone)]
pub struct Slack {
    inner: Arc<Inner>,
    _server: Arc<AbortOnDropHandle<()>>,
}

impl Slack {
    pub async fn start(clock: Clock) -> Self {
        let (sender, receiver) = watch::channel(None::<Arc<Inner>>);
        let router = Router::new().fallback(http::answer).with_state(receiver);
        let (url, server) = wire::serve(router).await;
        let team = Team {
            state: State::new(),
            faults: Faults::default(),
            strict_rate: false,
            refuse_blocks: 0,
            bot: None,
            mute: false,
            forgery: None,
            echoes: VecDeque::new(),
            last_event: None,
            requests: Vec::new(),
            violations: Vec::new(),
        };
        let inner = Arc::new(Inner {
            clock,
            client: wire::client(),
            url,
            team: Mutex::new(team),
            changes: watch::Sender::new(0),
        });
        sender.send_replace(Some(inner.clone()));
        Self {
            inner,
            _server: Arc::new(server),
        }
    }

    /// `SLACK_API_URL`: `http://127.0.0.1:PORT/api`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("{}/api", self.inner.url)
    }

    /// Where events, clicks and commands go from now on: the bot's base URL.
    pub fn bot_is_at(&self, url: &str) {
        self.team().bot = Some(url.trim_end_matches('/').to_owned());
    }

    /// The id of a person: `slack.id_of("sam")` for `DESKHAND_APPROVERS`.
    #[track_caller]
    pub fn id_of(&self, name: &str) -> String {
        self.team().state.named(name).id.clone()
    }

    /// A full member joins the workspace.
    pub fn joins(&self, name: &str) -> String {
        self.team().state.joins(name, TEAM, state::Standing::Member)
    }

    /// The members of a user group: `slack.group("S0LEADS001", &["sam"])`.
    #[track_caller]
    pub fn group(&self, id: &str, names: &[&str]) {
        let mut team = self.team();
        let members = names.iter().map(|name| team.state.named(name).id.clone()).collect();
        team.state.groups.insert(id.to_owned(), members);
    }

    /// A further channel; gives back its id.
    pub fn opens_channel(&self, name: &str, with_bot: bool) -> String {
        self.team().state.opens_channel(name, with_bot)
    }

    /// Somebody archives a channel.
    pub fn archives(&self, channel: &str) {
        if let Some(known) = self.team().state.channels.iter_mut().find(|known| known.id == channel) {
            known.archived = true;
        }
    }

    /// Events are not delivered any more, until told otherwise: what people say, only reading tells.
    pub fn delivers_nothing(&self, nothing: bool) {
        self.team().mute = nothing;
    }

    /// The next request to the bot is forged.
    pub fn forges_next(&self, how: Forgery) {
        self.team().forgery = Some(how);
    }

    /// 503, until told otherwise.
    pub fn is_down(&self, down: bool) {
        self.team().faults.down = down;
    }

    /// Breaks every connection without an answer, until told otherwise.
    pub fn resets_connections(&self, resets: bool) {
        self.team().faults.resets = resets;
    }

    /// Applies the next `chat.*` call and loses its answer.
    pub fn times_out_after_applying_next_write(&self) {
        self.team().faults.lose_next_answer = true;
    }

    /// Loses the next `chat.*` call before it is applied.
    pub fn times_out_before_applying_next_write(&self) {
        self.team().faults.lose_next_request = true;
    }

    /// 429 with `Retry-After` until the clock has moved on by so many seconds.
    pub fn slow_down(&self, seconds: u64) {
        let now = self.inner.clock.now();
        self.team().faults.slow_down(now, seconds);
    }

    /// How many calls came before `Retry-After` had passed; the first one, which learns of it, is not counted.
    pub fn came_too_early(&self) -> usize {
        self.team().faults.came_too_early()
    }

    /// Whether more than one post in a second to a channel gets 429, as Slack's documents promise.
    pub fn strict_rate(&self, strict: bool) {
        self.team().strict_rate = strict;
    }

    /// The next `n` posts or updates with blocks are refused with `invalid_blocks`, whatever they hold.
    pub fn refuses_blocks(&self, n: usize) {
        self.team().refuse_blocks = n;
    }

    /// All calls of the Web API and of response URLs, the oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.team().requests.clone()
    }

    /// What no honest client would have sent, and answers that no honest bot would have given.
    pub fn violations(&self) -> Vec<String> {
        self.team().violations.clone()
    }

    pub(crate) fn team(&self) -> MutexGuard<'_, Team> {
        self.inner.team()
    }
}

impl Inner {
    pub(crate) fn team(&self) -> MutexGuard<'_, Team> {
        self.team.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
