//! The bot, made from its settings; the same for the program and for scenarios.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32};

use anyhow::Context;
use deskhand_adapters::discord::DiscordChat;
use deskhand_adapters::email::out::Post;
use deskhand_adapters::postgres::inbox::Intake;
use deskhand_adapters::slack::SlackChat;
use deskhand_adapters::zendesk::OurAuthor;
use deskhand_core::facts::Prompt;
use deskhand_core::port::{Chat, Desk, Model, Tools};
use deskhand_core::skill::Skill;
use deskhand_core::ticket::{Mode, Source};
use sqlx::PgPool;
use tokio::sync::{Notify, RwLock};

use crate::clock::Clock;
use crate::config::Config;
use crate::discord::gateway::Listening;
use crate::follow::Followers;
use crate::http::intake::Door;
use crate::live::Live;
use crate::mail::Certificates;
use crate::models::{Make, Models};
use crate::worker::runner::Seats;

/// Everything that the parts share. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

pub struct Inner {
    pub config: Config,
    pub pool: PgPool,
    pub clock: Clock,
    pub models: Models,
    /// Replies while they are written.
    pub live: Live,
    /// Who looks on at runs.
    pub followers: Followers,
    pub slack: Option<Arc<SlackChat>>,
    pub discord: Option<Arc<DiscordChat>>,
    pub desks: BTreeMap<Source, Arc<dyn Desk>>,
    /// By whom replies go out where a ticket came by mail.
    pub post: Option<Arc<dyn Post>>,
    /// What SNS signs with.
    pub certificates: Certificates,
    /// Tools of servers outside, where the settings name some.
    pub tools: Option<Arc<dyn Tools>>,
    pub skills: Skills,
    pub prompt: Prompt,
    pub helper_prompt: Prompt,
    /// Our own account at Zendesk, once it was asked for.
    pub zendesk_author: RwLock<OurAuthor>,
    /// Wakes this process's runners without a round trip.
    pub runs_ready: Notify,
    /// Where a resumed run is handed over to this process's runner.
    pub seats: Seats,
    /// Wakes this process's dispatcher.
    pub effects_ready: Notify,
    /// A person paused or stopped a run: whoever has it in hand looks at once.
    pub run_words: Notify,
    /// There is something to tell other processes.
    pub news: Notify,
    /// This process among all that share the database.
    pub instance: String,
    pub door: Door,
    /// How this process listens to Discord's gateway, if it does.
    pub listening: tokio::sync::watch::Sender<Listening>,
    /// Set while shutting down: `/health/ready` says no.
    pub closing: std::sync::atomic::AtomicBool,
    /// Runs at work in this process.
    pub at_work: AtomicU32,
    /// The version of what the offline model goes by; 0 before it learned anything.
    pub learned: AtomicI64,
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

/// Playbooks and house rules, as they were read at start.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    pub rules: String,
    pub skills: Vec<Skill>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

impl Skills {
    /// Reads `RULES.md` and `<name>/SKILL.md`. A folder that is not there is no problem; a broken playbook is left out
    /// and named.
    pub fn read(folder: &Path) -> Self {
        let mut all = Self::default();
        if let Ok(rules) = std::fs::read_to_string(folder.join("RULES.md")) {
            all.rules = rules;
        }
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        entries.sort();
        for file in entries
            .iter()
            .map(|entry| entry.join("SKILL.md"))
            .filter(|file| file.is_file())
        {
            match std::fs::read_to_string(&file)
                .map_err(|error| error.to_string())
                .and_then(|text| deskhand_core::skill::parse(&text).map_err(|error| error.to_string()))
            {
                Ok(skill) => all.skills.push(skill),
                Err(why) => all.problems.push(format!("{}: {why}", file.display())),
            }
        }
        all
    }

    /// The playbooks that come with the program, for a start far from the checkout.
    pub fn built_in() -> Self {
        let mut all = Self {
            rules: include_str!("../../skills/RULES.md").into(),
            ..Self::default()
        };
        for text in [
            include_str!("../../skills/escalation-rules/SKILL.md"),
            include_str!("../../skills/refunds/SKILL.md"),
            include_str!("../../skills/tone/SKILL.md"),
            include_str!("../../skills/triage-sop/SKILL.md"),
        ] {
            match deskhand_core::skill::parse(text) {
                Ok(skill) => all.skills.push(skill),
                Err(error) => all.problems.push(error.to_string()),
            }
        }
        all
    }
}

/// What the outside looks like; scenarios put their fakes here.
pub struct Outside {
    pub model: Arc<dyn Model>,
    /// What takes over when the model's provider is down, in order; after the last one a person.
    pub substitutes: Vec<Arc<dyn Model>>,
    /// Makes the model that an admin chooses by name.
    pub make_model: Make,
    pub slack: Option<Arc<SlackChat>>,
    pub discord: Option<Arc<DiscordChat>>,
    pub desks: BTreeMap<Source, Arc<dyn Desk>>,
    pub post: Option<Arc<dyn Post>>,
    pub tools: Option<Arc<dyn Tools>>,
}

impl Outside {
    /// A model, and nobody else.
    pub fn of(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            substitutes: Vec::new(),
            make_model: Arc::new(|name| Err(anyhow::anyhow!("There is no model {name} here."))),
            slack: None,
            discord: None,
            desks: BTreeMap::new(),
            post: None,
            tools: None,
        }
    }
}

impl App {
    pub fn new(config: Config, pool: PgPool, clock: Clock, outside: Outside) -> Self {
        let skills = if config.skills.is_dir() {
            Skills::read(&config.skills)
        } else {
            Skills::built_in()
        };
        let categories: Vec<(String, String)> = config
            .categories
            .iter()
            .map(|(name, category)| (name.clone(), category.description.clone()))
            .collect();
        let teams: Vec<String> = config.teams.keys().cloned().collect();
        let system = deskhand_core::prompt::system(&skills.rules, &skills.skills, &categories, &teams);
        let inner = Inner {
            config,
            pool,
            clock,
            models: Models::new(outside.model, outside.substitutes, outside.make_model),
            live: Live::default(),
            followers: Followers::default(),
            slack: outside.slack,
            discord: outside.discord,
            desks: outside.desks,
            post: outside.post,
            certificates: Certificates::default(),
            tools: outside.tools,
            skills,
            prompt: Prompt {
                system,
                max_tokens: 4096,
            },
            helper_prompt: Prompt {
                system: deskhand_core::prompt::helper(),
                max_tokens: 2048,
            },
            zendesk_author: RwLock::new(OurAuthor::default()),
            runs_ready: Notify::new(),
            seats: Seats::default(),
            effects_ready: Notify::new(),
            run_words: Notify::new(),
            news: Notify::new(),
            instance: uuid::Uuid::now_v7().to_string(),
            door: Door::default(),
            listening: tokio::sync::watch::Sender::default(),
            closing: std::sync::atomic::AtomicBool::new(false),
            at_work: AtomicU32::new(0),
            learned: AtomicI64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The mode now: what an admin set at run time, else the settings'.
    pub async fn mode(&self) -> sqlx::Result<Mode> {
        let set = deskhand_adapters::postgres::settings::get(&self.pool, "mode").await?;
        Ok(set.and_then(|mode| mode.parse().ok()).unwrap_or(self.config.mode))
    }

    /// Takes up what an admin chose at run time.
    pub async fn learn_choices(&self) -> sqlx::Result<()> {
        let model = deskhand_adapters::postgres::settings::get(&self.pool, "model").await?;
        self.models.choose(model.as_deref());
        Ok(())
    }

    pub async fn intake(&self) -> sqlx::Result<Intake> {
        Ok(Intake {
            mode: self.mode().await?,
            quiet: self.config.limits.quiet_time.as_secs_f64(),
        })
    }

    pub fn chat(&self, name: &str) -> Option<Arc<dyn Chat>> {
        match name {
            "slack" => self.slack.clone().map(|slack| slack as Arc<dyn Chat>),
            "discord" => self.discord.clone().map(|discord| discord as Arc<dyn Chat>),
            _ => None,
        }
    }

    /// Where the cards of a tool are shown: `slack:C024BE91L`, in every chat that is connected.
    pub fn card_lanes(&self, tool: &str) -> Vec<String> {
        self.connected(self.config.card_lanes(tool))
    }

    /// Where tickets have their headers, and lines for the team go.
    pub fn home_lanes(&self) -> Vec<String> {
        self.connected(self.config.home_lanes())
    }

    fn connected(&self, mut lanes: Vec<String>) -> Vec<String> {
        lanes.retain(|lane| lane.split_once(':').is_some_and(|(chat, _)| self.chat(chat).is_some()));
        lanes
    }

    /// Something became ready: wakes this process's workers.
    pub fn wake(&self) {
        self.runs_ready.notify_one();
        self.effects_ready.notify_one();
    }

    /// A person paused or stopped a run: whoever has it in hand looks at once.
    pub fn pass_word(&self) {
        self.run_words.notify_waiters();
        self.wake();
    }

    /// Something became ready, and is committed: wakes this process's workers at once and other processes soon.
    pub fn announce(&self) {
        self.wake();
        self.news.notify_one();
    }
}

/// How many connections a process needs for so many runners. A run holds one for as long as a statement or a transaction
/// takes and none while its model thinks, so a few serve many; and the fewer there are, the sooner each knows all its
/// statements.
pub fn connections(runners: usize) -> u32 {
    10 + u32::try_from(runners / 4).unwrap_or(u32::MAX - 10)
}

/// Applies the migrations.
pub async fn migrate(pool: &PgPool) -> anyhow::Result<()> {
    deskhand_adapters::postgres::MIGRATOR
        .run(pool)
        .await
        .context("The database could not be migrated")
}
