//! What tests look at: cards, headers, lines, and what was said in private. What no look has touched is unlooked.

use std::sync::Arc;

use super::state::{Message, Place};
use super::{Discord, Inner, text};
use crate::fake::looks::{Kind, Unlooked};

/// A message at its place. Everything it tells is read anew each time.
#[derive(Clone)]
pub struct Posted {
    pub(super) inner: Arc<Inner>,
    pub channel: String,
    pub id: String,
}

impl Posted {
    #[track_caller]
    pub(super) fn message(&self) -> Message {
        let mut guild = self.inner.guild();
        let found = guild.state.message_mut(&self.channel, &self.id).map(|message| {
            message.looked = true;
            message.clone()
        });
        drop(guild);
        found.expect("the message is still there")
    }

    #[track_caller]
    pub fn text(&self) -> String {
        text::of(&self.message().body)
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

    /// The labels of its buttons, in order.
    #[track_caller]
    pub fn buttons(&self) -> Vec<String> {
        text::buttons(&self.message().body)
            .into_iter()
            .map(|(label, _)| label)
            .collect()
    }

    #[track_caller]
    pub fn has_no_buttons(&self) {
        let labels = self.buttons();
        assert!(labels.is_empty(), "there are buttons: {labels:?}");
    }

    /// The name of the thread that it stands in.
    #[track_caller]
    pub fn thread(&self) -> Option<String> {
        let guild = self.inner.guild();
        let channel = guild.state.channel(&self.channel)?;
        matches!(channel.place, Place::Thread { .. }).then(|| channel.name.clone())
    }
}

fn kind(message: &Message) -> Kind {
    let versions = message.earlier.iter().chain([&message.body]);
    let mut labels = versions.flat_map(text::buttons);
    let decides = labels.any(|(label, _)| ["Approve", "Edit", "Reject"].contains(&label.as_str()));
    let embedded = message.body["embeds"]
        .as_array()
        .is_some_and(|embeds| !embeds.is_empty());
    match (decides, embedded, message.channel == super::CHANNEL) {
        (true, ..) => Kind::Card,
        (false, _, true) => Kind::Header,
        // A card of shadow mode has no buttons, and a footer as every card.
        (false, true, false) if message.body["embeds"][0].get("footer").is_some() => Kind::Card,
        (false, ..) => Kind::Line,
    }
}

impl Discord {
    fn of_kind(&self, wanted: Kind) -> Vec<Posted> {
        let guild = self.guild();
        let ours = guild
            .state
            .messages
            .iter()
            .filter(|m| m.by_bot && !m.deleted && kind(m) == wanted);
        ours.map(|m| Posted {
            inner: self.inner.clone(),
            channel: m.channel.clone(),
            id: m.id.clone(),
        })
        .collect()
    }

    /// All cards, the oldest first. Does not count as a look.
    pub fn cards(&self) -> Vec<Posted> {
        self.of_kind(Kind::Card)
    }

    /// The one card that still has buttons.
    #[track_caller]
    pub fn only_open_card(&self) -> Posted {
        let open = |card: &Posted| {
            let guild = self.guild();
            guild
                .state
                .message(&card.id)
                .is_some_and(|m| !text::buttons(&m.body).is_empty())
        };
        let mut cards: Vec<_> = self.cards().into_iter().filter(open).collect();
        assert_eq!(cards.len(), 1, "open cards: {}", cards.len());
        cards.remove(0)
    }

    /// All headers, the oldest first.
    pub fn headers(&self) -> Vec<Posted> {
        self.of_kind(Kind::Header)
    }

    /// All lines in threads, the oldest first. Looks at them.
    pub fn lines(&self) -> Vec<String> {
        self.of_kind(Kind::Line).iter().map(Posted::text).collect()
    }

    /// What the bot said in a channel that is no card, the oldest first. Looks at it.
    pub fn lines_in(&self, channel: &str) -> Vec<String> {
        let plain = [Kind::Line, Kind::Header].map(|kind| self.of_kind(kind)).concat();
        let here = plain.iter().filter(|posted| posted.channel == channel);
        let unadorned = here.filter(|posted| {
            let guild = self.guild();
            let message = guild.state.message(&posted.id);
            message.is_some_and(|message| message.body["embeds"].as_array().is_none_or(Vec::is_empty))
        });
        unadorned.map(Posted::text).collect()
    }

    /// What the bot wrote to somebody directly. Looks at it.
    #[track_caller]
    pub fn direct_lines(&self, name: &str) -> Vec<String> {
        let channel = format!("9{}", self.id_of(name));
        let mut lines = self.of_kind(Kind::Line);
        lines.retain(|line| line.channel == channel);
        lines.iter().map(Posted::text).collect()
    }

    /// What the bot made people see and no assertion has touched, headers included: who asks may leave them out.
    pub fn unlooked(&self) -> Vec<Unlooked> {
        let guild = self.guild();
        let messages = guild
            .state
            .messages
            .iter()
            .filter(|m| m.by_bot && !m.deleted && !m.looked);
        let messages = messages.map(|m| Unlooked {
            kind: kind(m),
            text: text::of(&m.body),
        });
        let privates = guild
            .state
            .privates
            .iter()
            .filter(|private| !private.looked)
            .map(|private| Unlooked {
                kind: Kind::Private,
                text: match private.thinking {
                    true => "thinking, for ever".to_owned(),
                    false => text::of(&private.body),
                },
            });
        messages.chain(privates).collect()
    }
}
