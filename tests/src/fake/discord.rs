//! A server that behaves like Discord: channels with threads, members with roles, forms, the REST API and signed
//! interactions.
//!
//! The truth is [`state::State`]; [`http`] draws it as the REST API. People act by the verbs in [`verbs`], and tests look by
//! those in [`looks`]. It knows nothing of our adapter.

mod check;
mod gateway;
mod http;
mod looks;
mod rest;
mod send;
mod speech;
pub mod state;
mod text;
mod verbs;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::task::AbortOnDropHandle;

use super::clock::Clock;
use super::faults::Faults;
use super::wire::{self, Forgery};
pub use gateway::Told;
pub use looks::Posted;
pub use speech::Said;
use state::State;
pub use verbs::{Form, From, Seen};

/// The application and its bot here.
pub const BOT_TOKEN: &str = "discord-token-of-the-fake";
pub const APPLICATION: &str = "1100000000000000001";
/// The server, and another one that has added the application too.
pub const GUILD: &str = "290926798626357250";
pub const OTHER_GUILD: &str = "290926798626357999";
/// The channel that is there from the start, with the bot in it.
pub const CHANNEL: &str = "645027906669510660";
/// A channel where customers write.
pub const HELP: &str = "645027906669510777";
/// A forum where customers post.
pub const FORUM: &str = "645027906669510888";
/// A role, which sam has.
pub const LEADS: &str = "539082325061836999";

/// The key that the fake signs with; [`public_key`] is its other half.
const SEED: [u8; 32] = [7; 32];

pub(crate) fn key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&SEED).expect("32 bytes are a seed")
}

/// `DISCORD_PUBLIC_KEY`.
pub fn public_key() -> String {
    hex::encode(key().public_key().as_ref())
}

pub(crate) struct Inner {
    pub(crate) clock: Clock,
    client: reqwest::Client,
    url: String,
    guild: Mutex<Guild>,
}

pub(crate) struct Guild {
    pub(crate) state: State,
    pub(crate) faults: Faults,
    gateway: gateway::Gateway,
    /// Where interactions go: to the address that is set in the developer portal, or else to the gateway.
    pub(crate) endpoint: bool,
    /// Who waits for the answer to an interaction that went to the gateway, by its token.
    callbacks: HashMap<String, oneshot::Sender<Value>>,
    /// So many calls get 429 and are to come again at once.
    pub(crate) slow: usize,
    /// So many messages with embeds are refused as an invalid form.
    pub(crate) refuse_embeds: usize,
    /// Looking people up fails.
    pub(crate) members_down: bool,
    bot: Option<String>,
    forgery: Option<Forgery>,
    requests: Vec<Request>,
    violations: Vec<String>,
}

/// A call of the REST API.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Value,
    pub status: u16,
}

/// The fake itself. Cheap to clone; the server ends with the last clone.
#[derive(Clone)]
pub struct Discord {
    inner: Arc<Inner>,
    _servers: Arc<[AbortOnDropHandle<()>; 2]>,
}

impl Discord {
    pub async fn start(clock: Clock) -> Self {
        let (sender, receiver) = watch::channel(None::<Arc<Inner>>);
        let router = Router::new().fallback(http::answer).with_state(receiver);
        let (url, server) = wire::serve(router).await;
        let guild = Guild {
            state: State::new(),
            faults: Faults::default(),
            gateway: gateway::Gateway::new(),
            endpoint: true,
            callbacks: HashMap::new(),
            slow: 0,
            refuse_embeds: 0,
            members_down: false,
            bot: None,
            forgery: None,
            requests: Vec::new(),
            violations: Vec::new(),
        };
        let inner = Arc::new(Inner {
            clock,
            client: wire::client(),
            url,
            guild: Mutex::new(guild),
        });
        let gateway = gateway::open(&inner).await;
        sender.send_replace(Some(inner.clone()));
        Self {
            inner,
            _servers: Arc::new([server, gateway]),
        }
    }

    /// `DISCORD_API_URL`.
    pub fn url(&self) -> String {
        format!("{}/api/v10", self.inner.url)
    }

    /// Where interactions go from now on: the bot's base URL.
    pub fn bot_is_at(&self, url: &str) {
        self.guild().bot = Some(url.trim_end_matches('/').to_owned());
    }

    /// The id of a person, for `DESKHAND_APPROVERS`.
    #[track_caller]
    pub fn id_of(&self, name: &str) -> String {
        self.guild().state.named(name).id.clone()
    }

    /// The roles of a person from now on.
    #[track_caller]
    pub fn gives_roles(&self, name: &str, roles: &[&str]) {
        let mut guild = self.guild();
        let id = guild.state.named(name).id.clone();
        for person in guild.state.people.iter_mut().filter(|person| person.id == id) {
            person.roles = roles.iter().map(|role| (*role).to_owned()).collect();
        }
    }

    /// No interactions endpoint is set in the developer portal: clicks and commands go to the gateway.
    pub fn has_no_endpoint(&self) {
        self.guild().endpoint = false;
    }

    /// The next interaction is forged.
    pub fn forges_next(&self, how: Forgery) {
        self.guild().forgery = Some(how);
    }

    /// 503, until told otherwise.
    pub fn is_down(&self, down: bool) {
        self.guild().faults.down = down;
    }

    /// Looking people up fails, until told otherwise.
    pub fn members_are_down(&self, down: bool) {
        self.guild().members_down = down;
    }

    /// Applies the next message that is posted and loses the answer.
    pub fn times_out_after_applying_next_write(&self) {
        self.guild().faults.lose_next_answer = true;
    }

    /// The next `n` calls get 429 and are to come again at once.
    pub fn slows_down(&self, n: usize) {
        self.guild().slow = n;
    }

    /// The next `n` messages with embeds are refused as an invalid form.
    pub fn refuses_embeds(&self, n: usize) {
        self.guild().refuse_embeds = n;
    }

    /// All calls of the REST API, the oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.guild().requests.clone()
    }

    /// What no honest client would have sent, and answers that no honest bot would have given.
    pub fn violations(&self) -> Vec<String> {
        self.guild().violations.clone()
    }

    pub(crate) fn guild(&self) -> MutexGuard<'_, Guild> {
        self.inner.guild()
    }
}

impl Inner {
    pub(crate) fn guild(&self) -> MutexGuard<'_, Guild> {
        self.guild.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
