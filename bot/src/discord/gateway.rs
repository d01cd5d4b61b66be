//! Listening to Discord's gateway: one process of all does, by a lock in the database, and another takes over when it ends.
//!
//! Whatever is told has a number. What was dealt with is written down, so that whoever listens next takes up the same
//! session and hears the rest; where Discord has forgotten the session, what was written meanwhile is read instead. A
//! thing may be told twice: the ids of messages and clicks make that a repeat, which changes nothing.

mod missed;
mod places;
mod progress;

use std::sync::Arc;
use std::time::Duration;

use deskhand_adapters::discord::client::{Own, id_of};
use deskhand_adapters::discord::gateway::{Event, Intents, Resume, Told, listen};
use deskhand_adapters::discord::{DiscordChat, inbound};
use deskhand_adapters::postgres::{gateway as store, lock};
use deskhand_core::heard::Post;
use deskhand_core::port::PortError;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::places::Places;
use self::progress::Progress;
use crate::app::App;
use crate::heard;

/// Any number that nothing else locks.
const LOCK: i64 = 0x6469_7363;
/// So often those who do not listen look whether they may.
const LOOK: Duration = Duration::from_secs(1);
/// After so many tries, one at once after the other, a thing is kept for the operator.
const TRIES: u32 = 3;
/// Told and not yet dealt with; beyond it, Discord waits.
const AHEAD: usize = 256;

/// How this process listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listening {
    /// Empty while it does not.
    pub session: String,
    /// Everything up to this number of the session was dealt with.
    pub seq: u64,
    /// Why it never will again until it is started anew.
    pub stopped: Option<String>,
}

/// Why listening ended.
enum Ended {
    /// Another process may have the lock.
    LostLock,
    Cancelled,
    /// It is of no use to try again.
    ForGood(String),
    Failed(anyhow::Error),
}

/// Listens until it is cancelled; does nothing where the settings say so.
pub async fn work(app: App, cancel: CancellationToken) {
    let Some(discord) = app.discord.clone() else { return };
    if !app.config.discord.as_ref().is_some_and(|config| config.gateway) {
        return;
    }
    let mut pause = LOOK;
    loop {
        match in_turn(&app, &discord, &cancel).await {
            None => pause = LOOK,
            Some(Ended::Cancelled) => return,
            Some(Ended::LostLock) => {
                tracing::warn!("the lock for Discord's gateway was lost; another process may listen now");
                pause = LOOK;
            }
            Some(Ended::ForGood(why)) => {
                tracing::error!(%why, "Discord's gateway is not listened to");
                app.listening.send_modify(|listening| listening.stopped = Some(why));
                return;
            }
            Some(Ended::Failed(error)) => {
                // It had worked for a while: what failed now is something new.
                if !app.listening.borrow().session.is_empty() {
                    pause = LOOK;
                }
                tracing::warn!(
                    error = format!("{error:#}"),
                    "Discord's gateway could not be listened to; trying again"
                );
                pause = (pause * 2).min(Duration::from_secs(60));
            }
        }
        app.listening.send_replace(Listening::default());
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cancel.cancelled() => return,
        }
    }
}

/// Listens as the one process that does; `None` where another one is it.
async fn in_turn(app: &App, discord: &Arc<DiscordChat>, cancel: &CancellationToken) -> Option<Ended> {
    let mut held = match lock::take(&app.pool, LOCK).await {
        Ok(Some(held)) => held,
        Ok(None) => return None,
        Err(error) => return Some(Ended::Failed(error.into())),
    };
    let ended = tokio::select! {
        () = held.lost() => return Some(Ended::LostLock),
        () = cancel.cancelled() => Ended::Cancelled,
        ended = hear(app, discord) => ended.unwrap_or_else(Ended::Failed),
    };
    held.release().await;
    Some(ended)
}

async fn hear(app: &App, discord: &Arc<DiscordChat>) -> anyhow::Result<Ended> {
    let own = match discord.own().await {
        Ok(own) => own.clone(),
        Err(PortError::Permanent { why }) => return Ok(Ended::ForGood(why)),
        Err(error) => return Err(error.into()),
    };
    let name = app.config.discord.as_ref().map(|config| config.application_id.clone());
    let name = name.unwrap_or_default();
    let before = store::heard(&app.pool, &name).await?;
    let resume = before.as_ref().map(|before| Resume {
        session: before.session.clone(),
        url: before.url.clone(),
        seq: u64::try_from(before.seq).unwrap_or_default(),
    });
    let watched = app
        .config
        .discord
        .as_ref()
        .is_some_and(|config| !config.watch.is_empty());
    // Without a channel to watch, a bot that lacks the privilege still hears mentions and clicks.
    let intents = match watched || discord.portal().await?.content {
        true => Intents::CONTENT,
        false => Intents::MESSAGES,
    };
    let (sender, mut told) = mpsc::channel(AHEAD);
    let mut listening = AbortOnDropHandle::new(tokio::spawn(listen(Arc::clone(discord), intents, resume, sender)));
    let mut ear = Ear {
        app,
        discord,
        own,
        name,
        newest: before.map(|before| before.newest),
        places: Places::default(),
        progress: Progress::default(),
        clicks: JoinSet::new(),
    };
    loop {
        tokio::select! {
            next = told.recv() => match next {
                Some(next) => ear.hears(next).await?,
                None => return Ok(match (&mut listening).await? {
                    Some(why) => Ended::ForGood(why),
                    None => Ended::Cancelled,
                }),
            },
            Some(done) = ear.clicks.join_next() => ear.progress.ends(done?),
        }
        ear.notes().await?;
    }
}

struct Ear<'a> {
    app: &'a App,
    discord: &'a Arc<DiscordChat>,
    own: Own,
    /// By which the store knows us.
    name: String,
    newest: Option<i64>,
    places: Places,
    progress: Progress,
    /// Interactions, which wait for nothing that is written; each gives its number when it is answered.
    clicks: JoinSet<u64>,
}

impl Ear<'_> {
    async fn hears(&mut self, told: Told) -> anyhow::Result<()> {
        self.progress.is_at(&told.at);
        match told.event {
            Event::Resumed => tracing::info!("Discord's gateway is listened to, from where it was left"),
            Event::Began => {
                let newest = self.newest.unwrap_or_else(|| missed::id_at(self.app.clock.now()));
                if self.newest.is_some() {
                    missed::read(self, newest).await?;
                }
                let heard = self.progress.stored(newest);
                store::begin(&self.app.pool, &self.name, &heard).await?;
                self.newest = Some(self.newest.unwrap_or(newest).max(newest));
                tracing::info!("Discord's gateway is listened to");
            }
            Event::Happened { kind, data } => {
                let mut tries = 0;
                while let Err(error) = self.happened(&kind, &data, told.at.seq).await {
                    tries += 1;
                    if tries < TRIES {
                        continue;
                    }
                    // Kept for the operator, so that one thing does not stop all others. Where not even that works, the
                    // database is away, and all of it is told again.
                    let why = format!("{error:#}");
                    super::keep_unread(self.app, data.to_string().as_bytes(), &why).await?;
                    tracing::error!(
                        error = why,
                        "something that Discord told could not be served; deskhand inbox shows it"
                    );
                    break;
                }
            }
        }
        Ok(())
    }

    async fn happened(&mut self, kind: &str, data: &Value, seq: u64) -> anyhow::Result<()> {
        self.places.learn(kind, data);
        if kind == "INTERACTION_CREATE" {
            self.progress.begins(seq);
            let (app, discord, data) = (self.app.clone(), Arc::clone(self.discord), data.clone());
            self.clicks.spawn(async move {
                interaction(&app, &discord, &data).await;
                seq
            });
            return Ok(());
        }
        if !kind.starts_with("MESSAGE_") || data["guild_id"] != self.own.guild.as_str() {
            return Ok(());
        }
        let channel = data["channel_id"].as_str().unwrap_or_default().to_owned();
        match kind {
            "MESSAGE_CREATE" => {
                self.written(data).await?;
                self.newest = self.newest.max(i64::try_from(id_of(data)).ok());
                self.progress.matters();
            }
            "MESSAGE_UPDATE" => {
                let stands = self.places.find(self.discord, &channel).await;
                if let Some(post) = inbound::edited(data, &stands, &self.own) {
                    self.heard(post).await?;
                    self.progress.matters();
                }
            }
            "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => {
                let many = data["ids"].as_array().cloned().unwrap_or_default();
                let stands = self.places.find(self.discord, &channel).await;
                for id in many.iter().chain([&data["id"]]).filter_map(Value::as_str) {
                    self.heard(inbound::deleted(&channel, id, &stands)).await?;
                }
                self.progress.matters();
            }
            _ => {}
        }
        Ok(())
    }

    /// A message, as the gateway or a page of messages shows it.
    async fn written(&mut self, message: &Value) -> anyhow::Result<()> {
        // A bot's posts, ours above all, are nothing to look up a channel for.
        if message["author"]["bot"] == true {
            return Ok(());
        }
        let channel = message["channel_id"].as_str().unwrap_or_default();
        let stands = self.places.find(self.discord, channel).await;
        match inbound::written(message, &stands, &self.own) {
            Some(post) => self.heard(post).await,
            None => Ok(()),
        }
    }

    async fn heard(&self, post: Post) -> anyhow::Result<()> {
        heard::heard(self.app, post).await
    }

    /// Writes down how far things were dealt with, where that matters, and tells whoever looks on.
    async fn notes(&mut self) -> anyhow::Result<()> {
        let heard = self.progress.stored(self.newest.unwrap_or_default());
        if self.progress.is_to_be_stored() {
            store::advance_in_session(&self.app.pool, &self.name, &heard).await?;
            self.progress.was_stored();
        }
        self.app.listening.send_replace(Listening {
            session: heard.session,
            seq: u64::try_from(heard.seq).unwrap_or_default(),
            stopped: None,
        });
        Ok(())
    }
}

/// Answers one, within three seconds if the database lets us. One that was answered before, or is too old, is a line in the
/// log: whoever clicked sees the first answer, or that it failed.
async fn interaction(app: &App, discord: &DiscordChat, data: &Value) {
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let plain =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.=".contains(&b));
    let (id, token) = (text("id"), text("token"));
    if !plain(id) || !plain(token) {
        tracing::warn!("an interaction came without an id or a token, so it cannot be answered");
        return;
    }
    let raw = data.to_string();
    let answer = match super::taken(app, inbound::of(data), raw.as_bytes()).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(%error, "an interaction could not be kept");
            return;
        }
    };
    if let Err(why) = discord.call_back(id, token, &answer).await {
        tracing::warn!(%why, "the answer to an interaction did not arrive");
    }
}
