//! What people say, and what is deleted: events. Also events and bytes as no person would send them.

use serde_json::{Value, json};

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
            let mut event = payload::message_event(&message);
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
            self.inner.event(payload::message_event(&message)).await;
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
        let person = team.state.named(&who.0).clone();
        let message = Message {
            team: person.team,
            ..team.state.spoken(&channel, &person.id, words, thread_ts, now)
        };
        team.state.messages.push(message.clone());
        message
    }

    /// Somebody deletes a message, the bot's too (an owner can).
    #[track_caller]
    pub fn deletes<'a>(&'a self, posted: &Posted) -> impl Future<Output = ()> + use<'a> {
        let gone = posted.message();
        // Of a person's thread a stone is left; of the bot's own, whose replies land in the channel then, nothing.
        let begins = !gone.is_by_bot() && self.team().state.replies(&gone.channel, &gone.ts).next().is_some();
        if let Some(message) = self.team().state.message_mut(&gone.channel, &gone.ts) {
            (message.deleted, message.looked) = (true, true);
        }
        async move {
            let now = self.inner.clock.now();
            let event = match begins {
                true => payload::stone_event(&gone, now),
                false => payload::deleted_event(&gone, now),
            };
            self.inner.event(event).await;
        }
    }

    /// Somebody changes what they said.
    #[track_caller]
    pub fn edits_post<'a>(&'a self, posted: &Posted, words: &str) -> impl Future<Output = ()> + use<'a> {
        let before = posted.message();
        let now = self.inner.clock.now();
        let mut is = before.clone();
        words.clone_into(&mut is.text);
        is.edited = Some(format!("{}.000000", now.timestamp()));
        if let Some(message) = self.team().state.message_mut(&before.channel, &before.ts) {
            *message = is.clone();
        }
        async move {
            self.inner.event(payload::changed_event(&is, &before, now)).await;
        }
    }

    /// Slack found the preview of a link in what somebody said, and tells so as if it had been changed.
    #[track_caller]
    pub fn finds_preview<'a>(&'a self, posted: &Posted) -> impl Future<Output = ()> + use<'a> {
        let message = posted.message();
        async move {
            let mut event = payload::changed_event(&message, &message, self.inner.clock.now());
            event["message"]["attachments"] =
                json!([{ "from_url": "https://example.com", "id": 1, "title": "Example" }]);
            self.inner.event(event).await;
        }
    }

    /// Says something with a file: its name, its media type, what it holds. `lid.log` has the id `F0LIDLOG`.
    #[track_caller]
    pub fn shares<'a>(
        &'a self,
        words: &str,
        file: (&str, &str, &[u8]),
        who: Who,
        channel: &str,
    ) -> impl Future<Output = Posted> + use<'a> {
        let mut message = self.speaks(words, who, channel, None);
        let (name, kind, content) = file;
        {
            let mut team = self.team();
            let plain = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
            let id = format!("F0{}", plain.to_ascii_uppercase());
            let at = format!("{}/files/{id}/{name}", self.inner.url);
            team.state.files.insert(format!("/files/{id}/{name}"), content.to_vec());
            message.files.push(json!({
                "id": id, "name": name, "title": name, "mimetype": kind, "size": content.len(), "mode": "hosted",
                "is_external": false, "url_private": at, "url_private_download": at, "file_access": "visible",
            }));
            if let Some(known) = team.state.message_mut(&message.channel, &message.ts) {
                *known = message.clone();
            }
        }
        async move {
            self.inner.event(payload::message_event(&message)).await;
            Posted::of(&self.inner, &message)
        }
    }

    /// Another app posts something.
    pub async fn app_posts(&self, words: &str, channel: &str) {
        let message = self.speaks(words, crate::fake::by("other-bot"), channel, None);
        let mut event = payload::message_event(&message);
        event["bot_id"] = "B0OTHERBOT".into();
        event["app_id"] = "A0OTHERAPP".into();
        self.inner.event(event).await;
    }

    /// Somebody joins a channel, or changes its topic: `happens("channel_join", …)`.
    pub async fn happens(&self, subtype: &str, who: Who, channel: &str) {
        let message = self.speaks("has done something", who, channel, None);
        let mut event = payload::message_event(&message);
        event["subtype"] = subtype.into();
        self.inner.event(event).await;
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
            team: TEAM.to_owned(),
            files: Vec::new(),
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
