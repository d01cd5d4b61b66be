//! The Desk port: tickets are read from Zendesk's REST API and written back to it.
//!
//! Every call is one or a few bounded requests; none is repeated here. When to try again is the dispatcher's to decide,
//! from what the errors say.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use deskhand_core::port::{Desk, DeskChange, DeskTicket, DeskWrite, PortError, Receipt};
use secrecy::SecretString;
use url::Url;

use super::http::{Ask, Http};
use super::pages::Pages;
use super::wire::{Group, Person, PersonAnswer};
use super::{OurAuthor, follow_up, ticket, update};

/// Tells the time to the rate limits; a test moves it.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// How to reach a help desk.
#[derive(Clone)]
pub struct ZendeskConfig {
    /// `https://example.zendesk.com`; `/api/v2` may stand behind it.
    pub url: Url,
    /// The bot's own account, an agent. Comments by it are the bot's.
    pub email: String,
    pub api_token: SecretString,
    /// For one request with its answer.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub clock: Clock,
}

impl ZendeskConfig {
    pub fn new(url: Url, email: impl Into<String>, api_token: SecretString) -> Self {
        Self {
            url,
            email: email.into(),
            api_token,
            timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(5),
            clock: Arc::new(Utc::now),
        }
    }
}

impl fmt::Debug for ZendeskConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZendeskConfig")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

pub struct Zendesk {
    http: Http,
    groups: Mutex<Option<Groups>>,
}

struct Groups {
    read_at: DateTime<Utc>,
    /// Names in lower case.
    ids: HashMap<String, String>,
}

/// Groups change rarely; an unknown name is looked for anew after a minute.
const GROUPS_FRESH: TimeDelta = TimeDelta::minutes(10);
const GROUPS_MISSING: TimeDelta = TimeDelta::minutes(1);

impl Zendesk {
    /// Makes no request. Needs a default crypto provider of rustls.
    ///
    /// # Errors
    /// `Permanent`, naming the setting, if the address cannot be used.
    pub fn new(config: ZendeskConfig) -> Result<Self, PortError> {
        Ok(Self {
            http: Http::new(config)?,
            groups: Mutex::new(None),
        })
    }

    /// The account that the token belongs to, for `inbound::read`. Errors as `check`.
    pub async fn who(&self) -> Result<OurAuthor, PortError> {
        let me = self.me().await?;
        Ok(OurAuthor {
            id: me.id.map(|id| id.0),
            email: Some(me.email.unwrap_or_else(|| self.http.config().email.clone())),
        })
    }

    /// Zendesk answers a stranger with an anonymous person, not with 401.
    async fn me(&self) -> Result<Person, PortError> {
        let me = self.http.ask::<PersonAnswer>(Ask::get("/api/v2/users/me")).await?.user;
        if me.id.is_none() || me.email.is_none() {
            return Err(PortError::permanent(
                "Zendesk does not know us: ZENDESK_EMAIL and ZENDESK_API_TOKEN do not belong together.",
            ));
        }
        Ok(me)
    }

    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    /// The id of the group with this name, in any case.
    pub(super) async fn group(&self, name: &str) -> Result<Option<String>, PortError> {
        let name = name.trim().to_lowercase();
        let now = self.http.now();
        {
            let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(groups) = groups.as_ref() {
                let age = now - groups.read_at;
                match groups.ids.get(&name) {
                    Some(id) if age < GROUPS_FRESH => return Ok(Some(id.clone())),
                    None if age < GROUPS_MISSING => return Ok(None),
                    Some(_) | None => {}
                }
            }
        }
        let mut ids = HashMap::new();
        let mut pages = Pages::groups(&self.http);
        while let Some(page) = pages.next::<Group>().await? {
            let live = page.items.into_iter().filter(|group| group.deleted != Some(true));
            ids.extend(live.filter_map(|group| Some((group.name?.trim().to_lowercase(), group.id.0))));
        }
        let id = ids.get(&name).cloned();
        *self.groups.lock().unwrap_or_else(PoisonError::into_inner) = Some(Groups { read_at: now, ids });
        Ok(id)
    }

    fn ours(&self) -> OurAuthor {
        OurAuthor {
            id: None,
            email: Some(self.http.config().email.clone()),
        }
    }
}

/// A ticket's number goes into the request's path, so it must be one.
fn checked(outside_id: &str) -> Result<(), PortError> {
    let is_number = !outside_id.is_empty() && outside_id.len() <= 19 && outside_id.bytes().all(|b| b.is_ascii_digit());
    if is_number {
        Ok(())
    } else {
        Err(PortError::permanent("A Zendesk ticket has a number: digits only."))
    }
}

#[async_trait]
impl Desk for Zendesk {
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        checked(outside_id)?;
        ticket::read(&self.http, self.ours(), outside_id).await
    }

    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError> {
        checked(&write.outside_id)?;
        match &write.change {
            DeskChange::Reply { text } => update::reply(&self.http, write, text).await,
            DeskChange::Bookkeeping(what) => update::bookkeeping(self, write, what).await,
            DeskChange::FollowUp { subject, text } => follow_up::open(&self.http, write, subject, text).await,
        }
    }

    async fn find(&self, outside_id: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
        checked(outside_id)?;
        match update::find(&self.http, outside_id, marker).await? {
            Some(receipt) => Ok(Some(receipt)),
            None => follow_up::find_among(&self.http, outside_id, marker).await,
        }
    }

    async fn check(&self) -> Result<String, PortError> {
        let me = self.me().await?;
        let name = me.name.unwrap_or_default();
        let role = me.role.unwrap_or_default();
        if !matches!(role.as_str(), "agent" | "admin") {
            return Err(PortError::permanent(format!(
                "At Zendesk the account in ZENDESK_EMAIL ({name}) is \"{role}\"; it must be an agent."
            )));
        }
        if me.only_private_comments == Some(true) {
            return Err(PortError::permanent(format!(
                "At Zendesk the account in ZENDESK_EMAIL ({name}) may write internal notes only, so no reply can be sent."
            )));
        }
        let host = self.http.config().url.host_str().unwrap_or_default();
        Ok(format!("{name} ({role}) at {host}"))
    }
}
