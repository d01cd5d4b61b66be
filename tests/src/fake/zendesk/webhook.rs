//! Webhooks: which deliveries a change makes, their signatures, repeats, and what the bot answered.

mod body;

pub(super) use body::{comment_added, trigger};

use std::collections::VecDeque;

use chrono::{DateTime, SecondsFormat, Utc};

use super::Inner;
use super::rest::Changed;
use super::state::Ticket;
use crate::fake::wire::{self, Forgery};

/// Which webhooks are set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hook {
    /// A subscription to ticket events.
    #[default]
    Events,
    /// A trigger that fires when a ticket is created and at each comment.
    Trigger,
    /// Both at once, as when somebody set up one and forgot the other.
    Both,
    Neither,
}

/// A webhook as it was sent.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub invocation: String,
    pub body: Vec<u8>,
    /// What the bot answered; `None` when it did not.
    pub status: Option<u16>,
}

#[derive(Default)]
pub(super) struct Hooks {
    pub(super) bot: Option<String>,
    pub(super) hook: Hook,
    pub(super) template: String,
    pub(super) echo_first: bool,
    pub(super) forgery: Option<Forgery>,
    sent: Vec<Delivery>,
    echoes: VecDeque<Changed>,
    /// Bodies that the bot asked to have later (429 and 503 with `Retry-After`), or never answered.
    again: VecDeque<(String, Vec<u8>)>,
    invocations: u64,
}

impl Hooks {
    fn fresh_invocation(&mut self) -> String {
        self.invocations += 1;
        format!("{}", 5_000_000_000 + self.invocations)
    }
}

impl Inner {
    /// Tells the bot of a change, as the set-up webhooks do.
    pub(super) async fn tell(&self, ticket: u64, before: Option<Box<Ticket>>, by: u64) {
        let (bodies, invocations): (Vec<_>, Vec<_>) = {
            let mut desk = self.desk();
            let now = self.clock.now();
            let hook = desk.hooks.hook;
            let mut bodies = Vec::new();
            if matches!(hook, Hook::Events | Hook::Both) {
                let sequence = desk.state.fresh_id();
                bodies.extend(body::events(&desk.state, ticket, before.as_deref(), by, now, sequence));
            }
            if matches!(hook, Hook::Trigger | Hook::Both) {
                let template = desk.hooks.template.clone();
                bodies.extend(body::trigger(
                    &desk.state,
                    &self.url,
                    ticket,
                    before.as_deref(),
                    by,
                    &template,
                ));
            }
            bodies
                .into_iter()
                .map(|body| (body, desk.hooks.fresh_invocation()))
                .unzip()
        };
        for (body, invocation) in bodies.into_iter().zip(invocations) {
            self.deliver(invocation, body).await;
        }
    }

    /// Keeps a write of the bot to tell of it later.
    pub(super) fn queue_echo(&self, changed: Changed) {
        self.desk().hooks.echoes.push_back(changed);
    }

    /// Tells of the bot's own writes; gives back how many.
    pub(super) async fn deliver_echoes(&self) -> usize {
        let echoes = std::mem::take(&mut self.desk().hooks.echoes);
        let n = echoes.len();
        for echo in echoes {
            self.tell(echo.ticket, echo.before, echo.by).await;
        }
        n
    }

    /// Sends again what the bot asked to have later.
    pub(super) async fn deliver_again(&self) -> usize {
        let again = std::mem::take(&mut self.desk().hooks.again);
        let n = again.len();
        for (invocation, body) in again {
            self.deliver(invocation, body).await;
        }
        n
    }

    pub(super) fn fresh_invocation(&self) -> String {
        self.desk().hooks.fresh_invocation()
    }

    pub(super) fn sent(&self) -> Vec<Delivery> {
        self.desk().hooks.sent.clone()
    }

    pub(super) async fn deliver(&self, invocation: String, body: Vec<u8>) -> Option<u16> {
        let (bot, forgery) = {
            let mut desk = self.desk();
            (desk.hooks.bot.clone(), desk.hooks.forgery.take())
        };
        // Nobody set the webhook up yet.
        let bot = bot?;
        let (timestamp, signature, sent) = sign(self.clock.now(), &body, forgery);
        let mut request = self.client.post(format!("{bot}/webhooks/zendesk")).body(sent);
        request = request
            .header("content-type", "application/json; charset=utf-8")
            .header("user-agent", "Zendesk Webhook")
            .header("x-zendesk-account-id", "7004711")
            .header("x-zendesk-webhook-id", "01JZDESKHANDFAKE0000000001")
            .header("x-zendesk-webhook-invocation-id", &invocation);
        if let Some(signature) = signature {
            request = request
                .header("x-zendesk-webhook-signature", signature)
                .header("x-zendesk-webhook-signature-timestamp", timestamp);
        }
        let status = request.send().await.ok().map(|response| response.status().as_u16());
        let mut desk = self.desk();
        match (status, forgery) {
            (Some(200..=299), None) | (_, Some(_)) => {}
            (None | Some(409 | 429 | 503), None) => desk.hooks.again.push_back((invocation.clone(), body.clone())),
            (Some(status), None) => desk.violations.push(format!("a genuine webhook was answered {status}")),
        }
        desk.hooks.sent.push(Delivery {
            invocation,
            body,
            status,
        });
        status
    }
}

/// Timestamp, signature and body of a delivery, genuine or forged.
fn sign(now: DateTime<Utc>, body: &[u8], forgery: Option<Forgery>) -> (String, Option<String>, Vec<u8>) {
    let ten = chrono::Duration::minutes(10);
    let stamp = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let timestamp = match forgery {
        Some(Forgery::OldTimestamp) => stamp(now - ten),
        Some(Forgery::FutureTimestamp) => stamp(now + ten),
        Some(Forgery::SillyTimestamp) => "the day before yesterday".to_owned(),
        Some(Forgery::WrongSecret | Forgery::ChangedBody | Forgery::NoSignature) | None => stamp(now),
    };
    let secret = match forgery {
        Some(Forgery::WrongSecret) => "a guess",
        Some(_) | None => super::SECRET,
    };
    let signature = wire::zendesk_signature(secret, &timestamp, body);
    let mut sent = body.to_vec();
    if forgery == Some(Forgery::ChangedBody) {
        sent.push(b' ');
    }
    let signature = (forgery != Some(Forgery::NoSignature)).then_some(signature);
    (timestamp, signature, sent)
}
