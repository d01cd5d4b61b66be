//! What Slack sends, from the raw bytes of a verified request to one value.
//!
//! Parsing is lenient: unknown fields, nulls and unknown types are no errors. What is of no interest becomes
//! [`SlackInbound::Ignored`] with a sentence; only a body that is no JSON, or no form, is [`Malformed`]. Nothing here
//! checks who may do what: it only carries who they are.

mod command;
mod event;
mod interaction;
mod pick;
pub(super) mod post;

use deskhand_core::approval::Actor;
use deskhand_core::card::{ButtonKind, ButtonValue};
use deskhand_core::heard::Post;

pub use command::command;
pub use event::event;
pub use interaction::interaction;

/// A body that cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Slack's request cannot be read: {0}")]
pub struct Malformed(pub String);

#[derive(Clone, Debug, PartialEq)]
pub enum SlackInbound {
    /// Slack tries the events address: answer with this text.
    Challenge(String),
    /// Slack tries the commands address: answer 200.
    SslCheck,
    /// A button on a card.
    Click(Click),
    /// The edit form was sent.
    DraftSubmitted(DraftSubmitted),
    /// The reject form was sent.
    RejectSubmitted(RejectSubmitted),
    /// The form with the answer to a question was sent.
    AnswerSubmitted(AnswerSubmitted),
    /// `/triage …`
    Command(Command),
    /// The bot was mentioned, or written to directly.
    Mention(Said),
    /// `!triage …` in a channel or thread.
    Bang(Said),
    /// "Triage this" in a post's menu.
    Shortcut(Shortcut),
    /// Anything else that somebody wrote, changed or took back where the bot is.
    Post(Box<Post>),
    Ignored {
        why: String,
    },
}

impl SlackInbound {
    fn ignored(why: impl Into<String>) -> Self {
        Self::Ignored { why: why.into() }
    }
}

/// A person as the signed payload names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// `workspace` is the person's own, not the one where it happened.
    pub actor: Actor,
    /// The payload shows that the person belongs to another organisation (Slack Connect). `false` proves nothing: guests
    /// and what the payload leaves out are settled by asking Slack.
    pub outsider: bool,
}

/// A post, by its channel and `ts`; and the thread that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub channel: String,
    /// The post itself. For an ephemeral one Slack's own stand-in.
    pub ts: String,
    /// The thread's parent, when the post is a reply.
    pub thread_ts: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Click {
    pub by: Person,
    /// Unique for this click.
    pub delivery: String,
    pub kind: ButtonKind,
    /// Which option of a question it chooses.
    pub option: Option<usize>,
    pub value: ButtonValue,
    /// `None` when the button was in a form.
    pub spot: Option<Spot>,
    /// Opens a form, within three seconds.
    pub trigger_id: String,
    /// Answers the person alone: five times within thirty minutes.
    pub response_url: Option<String>,
}

/// What every form of ours carries, so that no view's state is kept here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub by: Person,
    pub delivery: String,
    pub value: ButtonValue,
    /// The card that the form was opened from.
    pub spot: Spot,
    pub view_id: String,
    /// Slack's guard for `views.update`.
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DraftSubmitted {
    pub form: Submission,
    /// The whole draft as it is now; may be blank.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RejectSubmitted {
    pub form: Submission,
    /// The chosen reason and the person's words, never blank.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSubmitted {
    pub form: Submission,
    /// May be blank.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub by: Person,
    pub delivery: String,
    /// `/triage`, or what the app calls it.
    pub command: String,
    /// What stands after it.
    pub text: String,
    pub channel: String,
    pub trigger_id: String,
    pub response_url: Option<String>,
}

/// A command in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub by: Person,
    /// Slack's event id.
    pub delivery: String,
    pub spot: Spot,
    /// Without the mention, or without `!triage`; plain text.
    pub text: String,
    /// Said in a direct conversation with the bot.
    pub direct: bool,
    /// The same as something that was written, for where it is no command.
    pub post: Box<Post>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Shortcut {
    pub by: Person,
    pub delivery: String,
    pub spot: Spot,
    pub post: Box<Post>,
    pub trigger_id: String,
    pub response_url: Option<String>,
}
