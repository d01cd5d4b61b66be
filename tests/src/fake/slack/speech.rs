//! What people say, and what is deleted: events. Also events and bytes as no person would send them.

use serde_json::Value;

use super::looks::Posted;
use super::state::{Message, State};
use super::{BOT, Slack, TEAM, payload};
use crate::fake::Who;

impl Slack {
    /// Mentions the bot: `mentions("triage T-1001", by("sam"), CHANNEL, Some(&card))`. Slack tells of it twice, as a
    /// mention and as a message.
    #[track_caller]
    pub fn mentions<'a>(
        &'a self,
        words: &str,
        who: Who,
        channel: &str,
        thread: Option<&Posted>,
    ) -> impl Future<Output = Posted> + use<'a> {
        let message = self.speaks(&format!("<@{BOT}> {words}"), who, channel, thread);
        async move {
            let mut event = self.spoken_event(&message);
            self.inner.event(event.clone()).await;
            event["type"] = "app_mention".into();
            event.as_object_mut().map(|event| event.remove("channel_type"));
            self.inner.event(event).await;
            Posted::of(&self.inner, &message)
        }
    }

    /// Says something in a channel, or in the thread of a card: `!triage T-1001`.
    #[track_caller]
    pub fn says<'a>(
        &'a self,
        words: &str,
        who: Who,
        channel: &str,
        thread: Option<&Posted>,
    ) -> impl Future<Output = Posted> + use<'a> {
        let message = self.speaks(words, who, channel, thread);
        async move {
            self.inner.event(self.spoken_event(&message)).await;
            Posted::of(&self.inner, &message)
        }
    }

    #[track_caller]
    fn speaks(&self, words: &str, who: Who, channel: &str, thread: Option<&Posted>) -> Message {
        let now = self.inner.clock.now();
        let thread_ts = thread
            .map(|posted| posted.message())
            .map(|m| m.thread_ts.unwrap_or(m.ts));
        let mut team = self.team();
        let channel = team.state.channel(channel).expect("the channel is there").id.clone();
        let person = team.state.named(&who.0).id.clone();
        let message = team.state.spoken(&channel, &person, words, thread_ts, now);
        team.state.messages.push(message.clone());
        message
    }

    /// Somebody deletes a message, the bot's too (an owner can).
    #[track_caller]
    pub fn deletes<'a>(&'a self, posted: &Posted) -> impl Future<Output = ()> + use<'a> {
        let gone = posted.message();
        if let Some(message) = self.team().state.message_mut(&gone.channel, &gone.ts) {
            (message.deleted, message.looked) = (true, true);
        }
        async move {
            self.inner
                .event(payload::deleted_event(&gone, self.inner.clock.now()))
                .await;
        }
    }

    /// What a person of another workspace says in a shared channel tells of their own team.
    fn spoken_event(&self, message: &Message) -> Value {
        let mut event = payload::message_event(message);
        let team = self
            .team()
            .state
            .person(&message.user)
            .map_or(String::new(), |person| person.team.clone());
        if team != TEAM {
            for name in ["team", "user_team", "source_team"] {
                event[name] = team.clone().into();
            }
        }
        event
    }

    /// Sends the newest event again, as Slack does when it heard no answer in time.
    #[track_caller]
    pub fn repeats_last_event(&self) -> impl Future<Output = u16> + '_ {
        let last = self.team().last_event.clone().expect("an event was sent");
        async move { self.inner.send_event(last, true).await.status }
    }

    /// Sends any event, in its envelope and rightly signed. Gives back the status.
    pub async fn sends_event(&self, event: Value) -> u16 {
        self.inner.event(event).await.status
    }

    /// Sends any bytes to one of the bot's paths, rightly signed. Gives back status and body.
    pub async fn sends_bytes(&self, path: &str, content_type: &str, body: &[u8]) -> (u16, String) {
        let answered = self.inner.send(path, content_type, body.to_vec()).await;
        (answered.status, answered.body)
    }

    /// Tells the bot of its own posts, edits and deletions since the last time, as a subscription to the channel's
    /// messages does. Gives back how many there were.
    pub async fn delivers_echoes(&self) -> usize {
        let echoes = std::mem::take(&mut self.team().echoes);
        let n = echoes.len();
        for echo in echoes {
            self.inner.event(echo).await;
        }
        n
    }
}

impl State {
    pub(super) fn spoken(
        &mut self,
        channel: &str,
        user: &str,
        words: &str,
        thread_ts: Option<String>,
        now: chrono::DateTime<chrono::Utc>,
    ) -> Message {
        Message {
            channel: channel.to_owned(),
            ts: self.fresh_ts(now),
            thread_ts,
            user: user.to_owned(),
            text: words.to_owned(),
            blocks: Vec::new(),
            metadata: None,
            broadcast: false,
            edited: None,
            deleted: false,
            earlier: Vec::new(),
            looked: user != BOT,
        }
    }
}
