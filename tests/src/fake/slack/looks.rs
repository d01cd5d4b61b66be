//! What tests look at: cards, headers, lines, and what was said in private. What no look has touched is unlooked.

use std::sync::Arc;

use serde_json::Value;

use super::state::Message;
use super::{Inner, Slack, blocks, text};
use crate::fake::looks::{Kind, Unlooked};
use crate::fake::zendesk::TicketHandle;

/// A message at its place. Everything it tells is read anew each time.
#[derive(Clone)]
pub struct Posted {
    inner: Arc<Inner>,
    pub channel: String,
    pub ts: String,
}

/// An approval as people see it: a message like others.
pub type Card = Posted;

impl Posted {
    pub(super) fn of(inner: &Arc<Inner>, message: &Message) -> Self {
        Self {
            inner: inner.clone(),
            channel: message.channel.clone(),
            ts: message.ts.clone(),
        }
    }

    /// Looks at the message.
    #[track_caller]
    pub(super) fn message(&self) -> Message {
        let mut team = self.inner.team();
        let found = team.state.message_mut(&self.channel, &self.ts).map(|message| {
            message.looked = true;
            message.clone()
        });
        drop(team);
        found.expect("the message is still there")
    }

    /// As people read it: without marks of the markup, names for ids.
    #[track_caller]
    pub fn text(&self) -> String {
        let message = self.message();
        text::of_message(&self.inner.team().state, &message)
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        let text = self.text();
        assert!(text.contains(words), "{words:?} is not in:\n{text}");
    }

    #[track_caller]
    pub fn says_nothing_of(&self, words: &str) {
        let text = self.text();
        assert!(!text.contains(words), "{words:?} is in:\n{text}");
    }

    /// The card, or the header above it, names the ticket.
    #[track_caller]
    pub fn is_about(&self, ticket: &TicketHandle) {
        let above = self.thread_parent().map_or(String::new(), |parent| parent.text());
        let text = self.text();
        assert!(
            names(&text, ticket) || names(&above, ticket),
            "this is not about ticket {}:\n{text}",
            ticket.id
        );
    }

    /// The labels of its buttons, in order.
    #[track_caller]
    pub fn buttons(&self) -> Vec<String> {
        text::buttons(&self.message().blocks)
            .iter()
            .map(|button| button.label().to_owned())
            .collect()
    }

    #[track_caller]
    pub fn has_no_buttons(&self) {
        let labels = self.buttons();
        assert!(labels.is_empty(), "there are buttons: {labels:?}");
    }

    /// Its blocks as they were sent, for a snapshot.
    #[track_caller]
    pub fn blocks(&self) -> Value {
        blocks::without_given_ids(&Value::Array(self.message().blocks))
    }

    #[track_caller]
    pub fn metadata(&self) -> Option<Value> {
        self.message().metadata
    }

    /// Whether it was also shown in the channel.
    #[track_caller]
    pub fn is_broadcast(&self) -> bool {
        self.message().broadcast
    }

    /// The message in whose thread it stands.
    #[track_caller]
    pub fn thread_parent(&self) -> Option<Posted> {
        let ts = self.message().thread_ts?;
        let (inner, channel) = (self.inner.clone(), self.channel.clone());
        Some(Posted { inner, channel, ts })
    }

    /// What the bot wrote in the thread under it, cards left out, the oldest first. Looks at all of it.
    #[track_caller]
    pub fn lines(&self) -> Vec<String> {
        let found = {
            let team = self.inner.team();
            let replies = team.state.replies(&self.channel, &self.ts).filter(|m| m.is_by_bot());
            replies
                .filter(|m| kind(m) == Kind::Line)
                .map(|m| Posted::of(&self.inner, m))
                .collect::<Vec<_>>()
        };
        found.iter().map(Posted::text).collect()
    }
}

fn names(text: &str, ticket: &TicketHandle) -> bool {
    let subject = ticket.subject.trim();
    (!subject.is_empty() && text.contains(subject)) || text.contains(&ticket.id.to_string())
}

/// What a message of the bot is, by how it looks or once looked.
fn kind(message: &Message) -> Kind {
    let versions = message.earlier.iter().chain([&message.blocks]);
    let mut labels = versions.flat_map(|blocks| text::buttons(blocks));
    let decides = labels.any(|button| ["Approve", "Edit", "Reject"].contains(&button.label()));
    match (decides, &message.thread_ts) {
        (true, _) => Kind::Card,
        (false, None) => Kind::Header,
        // A card of shadow mode has no buttons but all of its sections.
        (false, Some(_)) if message.blocks.len() >= 3 => Kind::Card,
        (false, Some(_)) => Kind::Line,
    }
}

impl Slack {
    /// All cards, the oldest first. Does not count as a look.
    pub fn cards(&self) -> Vec<Card> {
        self.of_kind(Kind::Card)
    }

    fn of_kind(&self, wanted: Kind) -> Vec<Posted> {
        let team = self.team();
        let ours = team.state.messages.iter().filter(|m| m.is_by_bot() && !m.deleted);
        ours.filter(|m| kind(m) == wanted)
            .map(|m| Posted::of(&self.inner, m))
            .collect()
    }

    #[track_caller]
    pub fn only_card(&self) -> Card {
        let mut cards = self.cards();
        assert_eq!(
            cards.len(),
            1,
            "cards: {:#?}",
            cards.iter().map(Posted::text).collect::<Vec<_>>()
        );
        cards.remove(0)
    }

    /// The one card that still has buttons.
    #[track_caller]
    pub fn only_open_card(&self) -> Card {
        let open = |card: &Card| {
            self.team()
                .state
                .message(&card.channel, &card.ts)
                .is_some_and(|m| !text::buttons(&m.blocks).is_empty())
        };
        let mut cards: Vec<_> = self.cards().into_iter().filter(open).collect();
        assert_eq!(
            cards.len(),
            1,
            "open cards: {:#?}",
            cards.iter().map(Posted::text).collect::<Vec<_>>()
        );
        cards.remove(0)
    }

    #[track_caller]
    pub fn has_no_cards(&self) {
        let cards: Vec<_> = self.cards().iter().map(Posted::text).collect();
        assert!(cards.is_empty(), "there are cards: {cards:#?}");
    }

    /// A card by its handle.
    pub fn card(&self, card: &Card) -> Card {
        card.clone()
    }

    /// The one parent message of a ticket.
    #[track_caller]
    pub fn header(&self, ticket: &TicketHandle) -> Posted {
        let mut found = self.headers();
        found.retain(|posted| {
            let team = self.team();
            team.state
                .message(&posted.channel, &posted.ts)
                .is_some_and(|m| names(&text::of_message(&team.state, m), ticket))
        });
        assert_eq!(found.len(), 1, "ticket {} has so many parent messages", ticket.id);
        found.remove(0)
    }

    /// All parent messages, the oldest first.
    pub fn headers(&self) -> Vec<Posted> {
        self.of_kind(Kind::Header)
    }

    /// All lines in threads, as people read them, the oldest first. Looks at them.
    pub fn lines(&self) -> Vec<String> {
        self.of_kind(Kind::Line).iter().map(Posted::text).collect()
    }

    /// Somebody, and nobody else, was told this.
    #[track_caller]
    pub fn told_privately(&self, name: &str, words: &str) {
        let told = self.private_lines(name);
        assert!(
            told.iter().any(|line| line.contains(words)),
            "{name} was not told {words:?}, but {told:#?}"
        );
    }

    /// What only this person saw, in channels and on the direct line. Looks at it.
    #[track_caller]
    pub fn private_lines(&self, name: &str) -> Vec<String> {
        let mut team = self.team();
        let id = team.state.named(name).id.clone();
        let line = format!("D{}", &id[1..]);
        let state = &mut team.state;
        let mut raw = Vec::new();
        for private in state.privates.iter_mut().filter(|private| private.to == id) {
            private.looked = true;
            raw.push((private.text.clone(), private.blocks.clone()));
        }
        for message in state.messages.iter_mut().filter(|m| m.channel == line && m.is_by_bot()) {
            message.looked = true;
            raw.push((message.text.clone(), message.blocks.clone()));
        }
        raw.iter()
            .map(|(words, blocks)| text::of(state, words, blocks))
            .collect()
    }

    /// What the bot made people see and no assertion has touched, headers included: who asks may leave them out.
    pub fn unlooked(&self) -> Vec<Unlooked> {
        let team = self.team();
        let state = &team.state;
        let messages = state
            .messages
            .iter()
            .filter(|m| m.is_by_bot() && !m.deleted && !m.looked);
        let messages = messages.map(|m| Unlooked {
            kind: kind(m),
            text: text::of_message(state, m),
        });
        let privates = state
            .privates
            .iter()
            .filter(|private| !private.looked)
            .map(|private| Unlooked {
                kind: Kind::Private,
                text: text::of(state, &private.text, &private.blocks),
            });
        messages.chain(privates).collect()
    }
}
