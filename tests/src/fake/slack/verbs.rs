//! What people do in the workspace: click, command, speak, delete. Each verb comes back with the bot's answer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::looks::Posted;
use super::send::Answered;
use super::state::Message;
use super::text::Button;
use super::{BOT, Inner, Slack, payload, response_url, text};
use crate::fake::Who;

/// What a person saw after they acted: the bot's answer, and what only they were told since.
#[derive(Clone)]
pub struct Seen {
    inner: Arc<Inner>,
    person: String,
    /// HTTP status of the answer; 0 when none came.
    pub status: u16,
    pub body: String,
    since: usize,
}

impl Seen {
    /// What only this person was told since they acted, the oldest first. Grows while workers go on.
    pub fn told(&self) -> Vec<String> {
        let mut team = self.inner.team();
        let state = &mut team.state;
        let new = state
            .privates
            .iter_mut()
            .skip(self.since)
            .filter(|private| private.to == self.person);
        let new: Vec<_> = new
            .map(|private| {
                private.looked = true;
                (private.text.clone(), private.blocks.clone())
            })
            .collect();
        new.iter()
            .map(|(words, blocks)| text::of(state, words, blocks))
            .collect()
    }

    /// The person was told this, by the answer itself or since.
    #[track_caller]
    pub fn says(&self, words: &str) {
        let told = self.told();
        assert!(
            told.iter().any(|line| line.contains(words)),
            "nobody was told {words:?}, but {told:#?}"
        );
    }

    /// The same, once the bot has come to rest.
    pub async fn says_later(&self, bot: &crate::Bot, words: &str) {
        bot.settle().await;
        self.says(words);
    }

    #[track_caller]
    pub fn says_nothing(&self) {
        let told = self.told();
        assert!(told.is_empty(), "something was said: {told:#?}");
    }
}

impl Slack {
    /// Clicks the button with this label.
    #[track_caller]
    pub fn clicks<'a>(&'a self, card: &Posted, label: &str, who: Who) -> impl Future<Output = Seen> + use<'a> {
        let message = card.message();
        let button = found(&message.blocks, label);
        let Some(button) = button else {
            let labels: Vec<_> = text::buttons(&message.blocks)
                .iter()
                .map(|b| b.label().to_owned())
                .collect();
            panic!("there is no button {label:?} here, only {labels:?}");
        };
        self.presses(message, button, who)
    }

    /// Clicks a button that is not there any more, on a screen that has not been drawn again.
    #[track_caller]
    pub fn clicks_stale<'a>(&'a self, card: &Posted, label: &str, who: Who) -> impl Future<Output = Seen> + use<'a> {
        let mut message = card.message();
        let before = message
            .earlier
            .iter()
            .rev()
            .find_map(|blocks| Some((blocks.clone(), found(blocks, label)?)));
        let (blocks, button) = before
            .or_else(|| Some((message.blocks.clone(), found(&message.blocks, label)?)))
            .expect("the card had such a button once");
        message.blocks = blocks;
        self.presses(message, button, who)
    }

    /// Two people click in the same moment.
    #[track_caller]
    pub fn clicks_at_once<'a>(
        &'a self,
        card: &Posted,
        first: (&str, Who),
        second: (&str, Who),
    ) -> impl Future<Output = (Seen, Seen)> + use<'a> {
        let first = self.clicks(card, first.0, first.1);
        let second = self.clicks(card, second.0, second.1);
        async { tokio::join!(first, second) }
    }

    async fn presses(&self, message: Message, button: Button, who: Who) -> Seen {
        self.presses_with_trigger(message, button, who).await.0
    }

    pub(super) async fn presses_with_trigger(&self, message: Message, button: Button, who: Who) -> (Seen, String) {
        let inner = &self.inner;
        let person = inner.team().state.named(&who.0).clone();
        let trigger = inner.fresh_trigger(&person.id);
        let thread = message.thread_ts.as_deref();
        let url = inner.fresh_response_url(&person.id, &message.channel, Some(&message.ts), thread);
        let mut body = payload::interaction("block_actions", &person, &trigger);
        let mut container = json!({
            "type": "message", "message_ts": message.ts, "channel_id": message.channel, "is_ephemeral": false,
        });
        if let Some(thread) = thread {
            container["thread_ts"] = thread.into();
        }
        let mut action = button.element.clone();
        action["block_id"] = button.block_id.into();
        action["action_ts"] = format!("{}.456789", inner.clock.now().timestamp()).into();
        if let Some(action) = action.as_object_mut() {
            action.remove("confirm");
        }
        body["container"] = container;
        body["channel"] = json!({ "id": message.channel, "name": self.channel_name(&message.channel) });
        body["message"] = payload::message(&message, Some(&inner.team().state), true);
        body["state"] = json!({ "values": {} });
        body["response_url"] = url.into();
        body["actions"] = json!([action]);
        let since = inner.team().state.privates.len();
        let answered = inner.interact(&body).await;
        (self.seen(person.id, answered, since), trigger)
    }

    fn channel_name(&self, id: &str) -> String {
        self.team()
            .state
            .channel(id)
            .map_or(String::new(), |channel| channel.name.clone())
    }

    pub(super) fn seen(&self, person: String, answered: Answered, since: usize) -> Seen {
        Seen {
            inner: self.inner.clone(),
            person,
            status: answered.status,
            body: answered.body,
            since,
        }
    }

    /// Types a slash command: `commands("/triage T-1001", by("sam"), slack::CHANNEL)`. An answer in the body is told to
    /// the person, or to the channel when it says `in_channel`.
    #[track_caller]
    pub fn commands<'a>(&'a self, line: &str, who: Who, channel: &str) -> impl Future<Output = Seen> + use<'a> {
        let (person, place) = {
            let team = self.team();
            let place = team.state.channel(channel).expect("the channel is there").clone();
            (team.state.named(&who.0).clone(), place)
        };
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut fields = payload::command(&person, (&place.id, &place.name), (command, rest));
        async move {
            fields.push((
                "response_url",
                self.inner.fresh_response_url(&person.id, &place.id, None, None),
            ));
            fields.push(("trigger_id", self.inner.fresh_trigger(&person.id)));
            let since = self.team().state.privates.len();
            let answered = self.inner.command(&fields).await;
            self.hears(&answered, &person.id, &place.id);
            self.seen(person.id, answered, since)
        }
    }

    /// Shows what stands in the body of an answer to a command.
    fn hears(&self, answered: &Answered, person: &str, channel: &str) {
        if answered.status != 200 || answered.body.trim().is_empty() {
            return;
        }
        let body: Value = serde_json::from_str(&answered.body).unwrap_or_else(|_| json!({ "text": answered.body }));
        let words = body["text"].as_str().unwrap_or("").to_owned();
        let blocks = body["blocks"].as_array().cloned().unwrap_or_default();
        let mut team = self.team();
        if let Err(refused) = super::blocks::check(&blocks, super::blocks::Surface::Message) {
            team.violations.push(format!(
                "the answer to a command is {}: {:?}",
                refused.error, refused.details
            ));
        }
        if body["response_type"] == "in_channel" {
            let now = self.inner.clock.now();
            let mut message = team.state.spoken(channel, BOT, &words, None, now);
            message.blocks = blocks;
            team.state.messages.push(message);
        } else {
            let private = response_url::private(channel.to_owned(), person.to_owned(), None, words, blocks);
            team.state.privates.push(private);
        }
    }

    /// Chooses the message shortcut with this callback id.
    #[track_caller]
    pub fn uses_shortcut<'a>(&'a self, callback: &str, on: &Posted, who: Who) -> impl Future<Output = Seen> + use<'a> {
        let (message, callback) = (on.message(), callback.to_owned());
        let person = self.team().state.named(&who.0).clone();
        async move {
            let inner = &self.inner;
            let mut body = payload::interaction("message_action", &person, &inner.fresh_trigger(&person.id));
            body["callback_id"] = callback.into();
            body["action_ts"] = format!("{}.000001", inner.clock.now().timestamp()).into();
            body["channel"] = json!({ "id": message.channel, "name": self.channel_name(&message.channel) });
            body["message_ts"] = message.ts.clone().into();
            body["message"] = payload::message(&message, Some(&inner.team().state), false);
            body["response_url"] = inner
                .fresh_response_url(&person.id, &message.channel, None, None)
                .into();
            let since = self.team().state.privates.len();
            let answered = inner.interact(&body).await;
            self.seen(person.id, answered, since)
        }
    }
}

fn found(blocks: &[Value], label: &str) -> Option<Button> {
    text::buttons(blocks).into_iter().find(|button| button.label() == label)
}
