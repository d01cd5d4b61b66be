//! Modals as people use them: they open by a click, are filled in, and are sent or closed.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::form::{filled, inputs};
use super::looks::Posted;
use super::state::View;
use super::verbs::Seen;
use super::{Inner, Slack, payload, text, views};
use crate::fake::Who;

/// An open modal on somebody's screen.
#[derive(Clone)]
pub struct Modal {
    slack: Slack,
    pub id: String,
    who: Who,
}

/// What was done with a form.
pub struct Sent {
    pub seen: Seen,
    /// What the bot said inside the form, by block id; the form stays open then.
    pub errors: Map<String, Value>,
    /// Whether the form is gone from the screen.
    pub closed: bool,
}

impl Slack {
    /// Clicks a button that opens a modal, and waits until the modal is more than a notice that it loads.
    #[track_caller]
    pub fn opens_modal<'a>(&'a self, card: &Posted, label: &str, who: Who) -> impl Future<Output = Modal> + use<'a> {
        let message = card.message();
        let button = text::buttons(&message.blocks)
            .into_iter()
            .find(|button| button.label() == label);
        let button = button.expect("the card has such a button");
        async move {
            let (seen, trigger) = self.presses_with_trigger(message, button, who.clone()).await;
            let Some(id) = self.inner.loaded(&trigger).await else {
                panic!(
                    "no modal opened; the click was answered {} {:?} {:?}",
                    seen.status,
                    seen.body,
                    seen.told()
                );
            };
            Modal {
                slack: self.clone(),
                id,
                who,
            }
        }
    }

    /// Edits the draft of a card and sends the form.
    #[track_caller]
    pub fn edits<'a>(&'a self, card: &Posted, who: Who, text: &str) -> impl Future<Output = Sent> + use<'a> {
        let (modal, text) = (self.opens_modal(card, "Edit", who), text.to_owned());
        async move { modal.await.submits(&text).await }
    }

    /// Rejects with a reason: one of those offered if it is among them, else in free text.
    #[track_caller]
    pub fn rejects<'a>(&'a self, card: &Posted, who: Who, reason: &str) -> impl Future<Output = Sent> + use<'a> {
        let (modal, reason) = (self.opens_modal(card, "Reject", who), reason.to_owned());
        async move { modal.await.submits(&reason).await }
    }

    /// Opens "View full" and reads it.
    #[track_caller]
    pub fn views_full<'a>(&'a self, card: &Posted, who: Who) -> impl Future<Output = String> + use<'a> {
        let modal = self.opens_modal(card, "View full", who);
        async move { modal.await.text() }
    }

    /// The newest modal that is open on somebody's screen.
    #[track_caller]
    pub fn modal(&self, who: Who) -> Modal {
        let team = self.team();
        let person = team.state.named(&who.0).id.clone();
        let open = team
            .state
            .views
            .iter()
            .rev()
            .find(|view| view.open && view.person == person);
        let id = open.expect("a modal is open").id.clone();
        drop(team);
        Modal {
            slack: self.clone(),
            id,
            who,
        }
    }
}

impl Inner {
    /// The id of the view that the trigger opened, once it is more than a notice that it loads. It waits for the bot's
    /// next call and not for time; the limit only ends a test that would hang.
    async fn loaded(self: &Arc<Self>, trigger: &str) -> Option<String> {
        let mut changes = self.changes.subscribe();
        let waits = async {
            loop {
                let found = {
                    let team = self.team();
                    let view = team.state.views.iter().find(|view| view.trigger == trigger);
                    view.filter(|view| !is_loading(view)).map(|view| view.id.clone())
                };
                if found.is_some() || changes.changed().await.is_err() {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), waits)
            .await
            .ok()
            .flatten()
    }
}

/// A modal that is there in time and filled later says so, and can do nothing yet.
fn is_loading(view: &View) -> bool {
    let blocks = view.body["blocks"].as_array();
    let inputs = blocks.into_iter().flatten().any(|block| block["type"] == "input");
    !inputs && view.body["blocks"].to_string().contains("oading")
}

impl Modal {
    fn view(&self) -> View {
        let team = self.slack.team();
        let view = team.state.views.iter().find(|view| view.id == self.id);
        view.cloned().expect("views are never forgotten")
    }

    /// All that can be read in it, what stands in its inputs included.
    pub fn text(&self) -> String {
        let view = self.view();
        let team = self.slack.team();
        let blocks = view.body["blocks"].as_array().cloned().unwrap_or_default();
        let title = view.body["title"]["text"].as_str().unwrap_or("");
        format!("{title}\n{}", text::of(&team.state, "", &blocks))
    }

    /// Its blocks, for a snapshot.
    pub fn blocks(&self) -> Value {
        super::blocks::without_given_ids(&self.view().body["blocks"])
    }

    pub fn is_open(&self) -> bool {
        self.view().open
    }

    /// Puts the words into the form and sends it: an option of that text is chosen, else they go into the first text
    /// input. What is left alone keeps what stands in it.
    pub async fn submits(&self, words: &str) -> Sent {
        self.submits_as(self.who.clone(), words).await
    }

    /// The same in somebody else's name: no client does so, and a bot must not rely on it.
    pub async fn submits_as(&self, who: Who, words: &str) -> Sent {
        let view = self.view();
        assert!(view.open, "the modal is closed");
        let values = filled(&view, words);
        let person = self.slack.team().state.named(&who.0).clone();
        let trigger = self.slack.inner.fresh_trigger(&person.id);
        let mut body = payload::interaction("view_submission", &person, &trigger);
        body["view"] = views::drawn(&view, values);
        body["response_urls"] = json!([]);
        let since = self.slack.team().state.privates.len();
        let answered = self.slack.inner.interact(&body).await;
        let answer: Value = serde_json::from_str(&answered.body).unwrap_or(Value::Null);
        let (errors, closed) = self.takes(&view, &answer, answered.status);
        let seen = self.slack.seen(person.id, answered, since);
        Sent { seen, errors, closed }
    }

    /// What the answer does to the modal.
    fn takes(&self, view: &View, answer: &Value, status: u16) -> (Map<String, Value>, bool) {
        let mut team = self.slack.team();
        let mut errors = Map::new();
        let mut open = status != 200;
        match answer["response_action"].as_str() {
            Some("errors") => {
                open = true;
                errors = answer["errors"].as_object().cloned().unwrap_or_default();
                let inputs: Vec<_> = inputs(view).filter_map(|block| block["block_id"].as_str()).collect();
                let strays: Vec<_> = errors
                    .keys()
                    .filter(|id| !inputs.contains(&id.as_str()))
                    .cloned()
                    .collect();
                if errors.is_empty() || !strays.is_empty() {
                    team.violations
                        .push(format!("a form's errors name no inputs of it: {strays:?}"));
                }
            }
            Some("update" | "push") => {
                open = true;
                let wrong = views::faults(&answer["view"]);
                team.violations.extend(
                    wrong
                        .into_iter()
                        .map(|why| format!("a form was answered with a view: {why}")),
                );
                let mut body = answer["view"].clone();
                let sent = body["blocks"].as_array().cloned().unwrap_or_default();
                body["blocks"] = super::blocks::with_ids(&sent, || team.state.fresh()).into();
                if let Some(known) = team.state.views.iter_mut().find(|known| known.id == self.id) {
                    known.body = body;
                }
            }
            Some("clear") | None => {}
            Some(other) => team.violations.push(format!("a form was answered with {other:?}")),
        }
        if let Some(known) = team.state.views.iter_mut().find(|known| known.id == self.id) {
            known.open = open;
        }
        (errors, !open)
    }

    /// Closes it without sending; Slack tells of it when `notify_on_close` is set.
    pub async fn closes(&self) {
        let view = self.view();
        let person = self.slack.team().state.named(&self.who.0).clone();
        if let Some(known) = self
            .slack
            .team()
            .state
            .views
            .iter_mut()
            .find(|known| known.id == self.id)
        {
            known.open = false;
        }
        if view.body["notify_on_close"] == true {
            let mut body = payload::interaction("view_closed", &person, "");
            body.as_object_mut().map(|body| body.remove("trigger_id"));
            body["view"] = views::drawn(&view, json!({}));
            body["is_cleared"] = false.into();
            self.slack.inner.interact(&body).await;
        }
    }
}
