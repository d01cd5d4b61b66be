//! What people do in the server: click, fill in forms, type commands. Each verb comes back with what they saw.

use std::sync::Arc;

use serde_json::{Value, json};

use super::looks::Posted;
use super::state::{Message, Person};
use super::{CHANNEL, Discord, Inner, Said, text};
use crate::fake::Who;

/// Where somebody is while they act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Guild,
    /// In a direct message: the payload has no member and no roles.
    Direct,
    OtherGuild,
}

/// What a person saw after they acted.
#[derive(Clone)]
pub struct Seen {
    inner: Arc<Inner>,
    token: String,
    /// HTTP status of the answer; 0 when none came.
    pub status: u16,
    /// The answer as it was sent.
    pub answer: Value,
}

impl Seen {
    /// What this person alone was told in answer. Grows while workers go on; "thinking" is nothing yet.
    pub fn told(&self) -> Vec<String> {
        let mut guild = self.inner.guild();
        let privates = guild
            .state
            .privates
            .iter_mut()
            .filter(|private| private.token == self.token && !private.thinking);
        privates
            .map(|private| {
                private.looked = true;
                text::of(&private.body)
            })
            .collect()
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        let told = self.told();
        assert!(
            told.iter().any(|line| line.contains(words)),
            "nobody was told {words:?}, but {told:#?}"
        );
    }

    #[track_caller]
    pub fn says_nothing(&self) {
        let told = self.told();
        assert!(told.is_empty() && !self.is_thinking(), "something was said: {told:#?}");
    }

    /// The person looks at "thinking".
    pub fn is_thinking(&self) -> bool {
        let mut guild = self.inner.guild();
        let mut privates = guild.state.privates.iter_mut();
        privates.any(|private| {
            let thinks = private.token == self.token && private.thinking;
            private.looked |= thinks;
            thinks
        })
    }

    /// The file that came with the answer.
    #[track_caller]
    pub fn file(&self) -> String {
        let guild = self.inner.guild();
        let file = guild
            .state
            .privates
            .iter()
            .find(|private| private.token == self.token)
            .and_then(|p| p.file.clone());
        drop(guild);
        file.expect("a file came with it")
    }
}

/// A form on somebody's screen.
#[derive(Clone)]
pub struct Form {
    discord: Discord,
    who: Who,
    on: Posted,
    pub body: Value,
}

impl Discord {
    #[track_caller]
    pub fn clicks<'a>(&'a self, card: &Posted, label: &str, who: Who) -> impl Future<Output = Seen> + use<'a> {
        self.clicks_from(card, label, who, From::Guild)
    }

    /// Clicks from somewhere else. A button that is gone is clicked on a screen that was not drawn again.
    #[track_caller]
    pub fn clicks_from<'a>(
        &'a self,
        card: &Posted,
        label: &str,
        who: Who,
        from: From,
    ) -> impl Future<Output = Seen> + use<'a> {
        let message = card.message();
        let versions = message.earlier.iter().rev();
        let custom_id = [&message.body].into_iter().chain(versions).find_map(|body| {
            let buttons = text::buttons(body).into_iter();
            buttons.filter(|(known, _)| known == label).map(|(_, id)| id).next()
        });
        let custom_id = custom_id.expect("the card has or had such a button");
        async move {
            let person = self.guild().state.named(&who.0).clone();
            self.presses(&message, &custom_id, &person, from).await
        }
    }

    async fn presses(&self, message: &Message, custom_id: &str, person: &Person, from: From) -> Seen {
        let (mut body, token) = self.inner.interaction(3, person, &message.channel, from);
        body["message"] = message.drawn();
        body["data"] = json!({ "custom_id": custom_id, "component_type": 2, "id": 2 });
        let (status, answer) = self.inner.interact(body, person, &token, Some(&message.id)).await;
        self.seen(token, status, answer)
    }

    fn seen(&self, token: String, status: u16, answer: Value) -> Seen {
        Seen {
            inner: self.inner.clone(),
            token,
            status,
            answer,
        }
    }

    /// Clicks a button that opens a form.
    #[track_caller]
    pub fn opens_form<'a>(&'a self, card: &Posted, label: &str, who: Who) -> impl Future<Output = Form> + use<'a> {
        let clicked = self.clicks(card, label, who.clone());
        let on = card.clone();
        async move {
            let seen = clicked.await;
            assert_eq!(
                seen.answer["type"],
                9,
                "a form opens: {} {:?}",
                seen.answer,
                seen.told()
            );
            Form {
                discord: self.clone(),
                who,
                on,
                body: seen.answer["data"].clone(),
            }
        }
    }

    /// Types `/triage <sub> …`: `commands("show", &[("ticket", "T-1001")], by("sam"))`.
    pub async fn commands(&self, sub: &str, options: &[(&str, &str)], who: Who) -> Seen {
        let options: Vec<Value> = options
            .iter()
            .map(|(name, value)| json!({ "type": 3, "name": name, "value": value }))
            .collect();
        let data = json!({
            "id": "771825006014889984", "name": "triage", "type": 1,
            "options": [{ "type": 1, "name": sub, "options": options }],
        });
        self.types(2, data, who).await
    }

    /// What is offered while an option is being typed: the values.
    pub async fn is_offered(&self, sub: &str, option: &str, begun: &str, who: Who) -> Vec<String> {
        let option = json!({ "type": 3, "name": option, "value": begun, "focused": true });
        let data = json!({
            "id": "771825006014889984", "name": "triage", "type": 1,
            "options": [{ "type": 1, "name": sub, "options": [option] }],
        });
        let seen = self.types(4, data, who).await;
        let choices = seen.answer["data"]["choices"].as_array().cloned().unwrap_or_default();
        choices
            .iter()
            .map(|choice| choice["value"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Chooses "Triage this" on a message that somebody wrote.
    pub async fn uses_on_message(&self, said: &Said, who: Who) -> Seen {
        let (message, channel) = {
            let guild = self.guild();
            let message = guild
                .state
                .message(&said.id)
                .expect("the message is still there")
                .clone();
            let channel = guild
                .state
                .channel(&message.channel)
                .expect("its channel is there")
                .drawn();
            (message, channel)
        };
        let person = self.guild().state.named(&who.0).clone();
        let (mut body, token) = self.inner.interaction(2, &person, &message.channel, From::Guild);
        body["channel"] = channel;
        body["data"] = json!({
            "id": "771825006014889985", "name": "Triage this", "type": 3, "target_id": message.id,
            "resolved": { "messages": { message.id.clone(): message.drawn() } },
        });
        let (status, answer) = self.inner.interact(body, &person, &token, None).await;
        self.seen(token, status, answer)
    }

    async fn types(&self, kind: u64, data: Value, who: Who) -> Seen {
        let person = self.guild().state.named(&who.0).clone();
        let (mut body, token) = self.inner.interaction(kind, &person, CHANNEL, From::Guild);
        body["data"] = data;
        let (status, answer) = self.inner.interact(body, &person, &token, None).await;
        self.seen(token, status, answer)
    }

    /// Sends an interaction as it is, rightly signed: for what Discord may invent.
    pub async fn sends(&self, change: impl FnOnce(&mut Value), who: Who) -> Seen {
        let person = self.guild().state.named(&who.0).clone();
        let (mut body, token) = self.inner.interaction(1, &person, CHANNEL, From::Guild);
        change(&mut body);
        let (status, answer) = self.inner.interact(body, &person, &token, None).await;
        self.seen(token, status, answer)
    }
}

impl Form {
    /// Labels, what stands below them, and what stands in the inputs.
    pub fn text(&self) -> String {
        let labels = self.body["components"].as_array().cloned().unwrap_or_default();
        let said = labels.iter().map(|label| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (name, below) = (text(&label["label"]), text(&label["description"]));
            format!("{name}: {below}\n{}", text(&label["component"]["value"]))
        });
        format!(
            "{}\n{}",
            self.body["title"].as_str().unwrap_or_default(),
            said.collect::<Vec<_>>().join("\n")
        )
    }

    /// Sends it as it stands.
    pub async fn submits_untouched(&self) -> Seen {
        self.submits_with(|component| component["value"].clone()).await
    }

    /// Sends it with these words in the first input, and chooses the option that says the same, if there is one.
    pub async fn submits(&self, words: &str) -> Seen {
        let mut typed = false;
        let options = self.body["components"][0]["component"]["options"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let chosen = options
            .iter()
            .find(|option| option["label"] == words)
            .map(|option| option["value"].clone());
        self.submits_with(|component| match (component["type"].as_u64(), &chosen) {
            (Some(3), Some(value)) => value.clone(),
            (Some(3), None) => "other".into(),
            (_, Some(_)) => "".into(),
            (_, None) if typed => "".into(),
            (_, None) => {
                typed = true;
                words.into()
            }
        })
        .await
    }

    async fn submits_with(&self, mut fill: impl FnMut(&Value) -> Value) -> Seen {
        let labels = self.body["components"].as_array().cloned().unwrap_or_default();
        let filled: Vec<Value> = labels
            .iter()
            .map(|label| {
                let component = &label["component"];
                let value = fill(component);
                let (kind, id) = (&component["type"], &component["custom_id"]);
                let inner = match kind.as_u64() {
                    Some(3) => json!({ "type": kind, "id": 2, "custom_id": id, "values": [value] }),
                    _ => json!({ "type": kind, "id": 2, "custom_id": id, "value": value.as_str().unwrap_or_default().trim() }),
                };
                json!({ "type": 18, "id": 1, "component": inner })
            })
            .collect();
        let message = self.on.message();
        let person = self.discord.guild().state.named(&self.who.0).clone();
        let (mut body, token) = self
            .discord
            .inner
            .interaction(5, &person, &message.channel, From::Guild);
        body["message"] = message.drawn();
        body["data"] = json!({ "custom_id": self.body["custom_id"], "components": filled });
        let (status, answer) = self
            .discord
            .inner
            .interact(body, &person, &token, Some(&message.id))
            .await;
        self.discord.seen(token, status, answer)
    }
}
