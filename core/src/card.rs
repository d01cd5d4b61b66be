//! An approval as people see it: one neutral card, drawn by Slack, Discord, the terminal and the console.
//!
//! Every string here is plain and unescaped, whoever wrote it; each surface escapes all of them. A card is a view of a
//! row and never the truth: what is executed is the approval's effect, not what a card shows.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, TicketId};
use crate::ticket::{Priority, TicketState};
use crate::words;

/// Sections in the order in which people read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    pub approval: ApprovalId,
    pub ticket: TicketId,
    pub subject: String,
    pub requester: String,
    /// When the ticket was opened; surfaces show the age.
    pub opened_at: DateTime<Utc>,
    pub url: Option<String>,
    /// What will happen on approval, in one sentence.
    pub will: String,
    /// The customer's last words.
    pub last_words: String,
    pub body: Body,
    pub why: String,
    /// Titles of the articles and numbers of the tickets that it rests on.
    pub sources: Vec<String>,
    /// 0 to 1.
    pub confidence: Option<f64>,
    pub marks: Vec<Mark>,
    /// Chosen by core; surfaces draw them and no others. Empty once settled.
    pub buttons: Vec<Button>,
    pub footer: Footer,
    pub settled: Option<Settled>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A reply, word for word as the customer would get it.
    Draft(String),
    /// A unified diff.
    Diff(String),
    /// Name and value, one line each.
    Facts(Vec<(String, String)>),
}

impl Body {
    /// What a supervisor may change of it; empty where that does not stand on the card.
    pub fn editable(&self) -> &str {
        match self {
            Self::Draft(text) => text,
            Self::Diff(_) => "",
            Self::Facts(facts) => facts.last().map_or("", |(_, value)| value),
        }
    }
}

/// A risk that an inspector saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// One sentence: "The amount 5000 EUR comes from the customer's text."
    pub text: String,
}

words! {
    pub enum ButtonKind {
        Approve = "approve",
        /// Opens a form with the draft.
        Edit = "edit",
        /// Opens a form with reasons.
        Reject = "reject",
        /// Shows everything that did not fit.
        View = "view",
        /// Answers a question with one of its options.
        Choose = "choose",
        /// Opens a form for an answer in words.
        Answer = "answer",
    }
}

impl ButtonKind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Approve => "Approve",
            Self::Edit => "Edit",
            Self::Reject => "Reject",
            Self::View => "View full",
            Self::Choose => "Choose",
            Self::Answer => "Answer",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub kind: ButtonKind,
    /// What the button carries back: see [`ButtonValue`].
    pub value: ButtonValue,
    /// What a [`Choose`](ButtonKind::Choose) answers; `None` for the other kinds.
    pub choice: Option<Choice>,
}

/// An option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// From 0, in the question's order.
    pub option: usize,
    /// At most 75 characters.
    pub text: String,
}

impl Button {
    /// What stands on it.
    pub fn label(&self) -> &str {
        match &self.choice {
            Some(choice) => &choice.text,
            None => self.kind.label(),
        }
    }

    /// Tells it from the card's other buttons, for surfaces that want an id of each: `approve`, `choose-2`.
    pub fn id(&self) -> String {
        match &self.choice {
            Some(choice) => format!("{}-{}", self.kind, choice.option),
            None => self.kind.to_string(),
        }
    }

    /// Kind and option of a button, from its [`id`](Self::id). `None` for anything else.
    pub fn read_id(id: &str) -> Option<(ButtonKind, Option<usize>)> {
        let (kind, option) = match id.split_once('-') {
            Some((kind, option)) => (kind.parse().ok()?, Some(option.parse().ok()?)),
            None => (id.parse().ok()?, None),
        };
        ((kind == ButtonKind::Choose) == option.is_some()).then_some((kind, option))
    }
}

/// What a button carries: which deployment drew it, the approval, and the first characters of the digest that the card
/// was made from. Written as `deployment:17:0123456789ab`, at most 80 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonValue {
    /// Lower-case letters, digits and dashes, at most 40.
    pub deployment: String,
    pub approval: ApprovalId,
    /// Lower-case hex, twelve characters.
    pub digest: String,
}

impl ButtonValue {
    pub fn encode(&self) -> String {
        format!("{}:{}:{}", self.deployment, self.approval.0, self.digest)
    }

    /// `None` for anything that [`encode`](Self::encode) did not write.
    pub fn decode(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (deployment, approval, digest) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || digest.len() != 12 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        Some(Self {
            deployment: deployment.to_owned(),
            approval: approval.parse().ok()?,
            digest: digest.to_owned(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// Who is asked, in words: "support leads", "anyone on the approvers' list".
    pub owner: String,
    pub expires_at: Option<DateTime<Utc>>,
    /// First twelve hex characters of the effect's digest.
    pub digest: String,
    /// "shadow: nothing will be sent" and the like; empty when there is nothing to say.
    pub note: String,
}

/// How it ended. The card keeps its words and loses its buttons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    pub ending: SettledAs,
    /// "Approved by sam", "Withdrawn: the customer wrote again".
    pub line: String,
    pub at: DateTime<Utc>,
}

words! {
    pub enum SettledAs {
        Approved = "approved",
        Edited = "edited",
        Answered = "answered",
        Rejected = "rejected",
        Expired = "expired",
        Withdrawn = "withdrawn",
        Superseded = "superseded",
        /// Shadow mode: shown, never asked.
        Recorded = "recorded",
    }
}

/// The one message of a ticket under which its cards hang, kept current by edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub ticket: TicketId,
    /// `zendesk:35436`
    pub outside: String,
    pub subject: String,
    pub requester: String,
    pub state: TicketState,
    pub category: Option<String>,
    pub priority: Option<Priority>,
    pub team: Option<String>,
    /// What waits, a line each: "A-17: reply to the customer".
    pub waits: Vec<String>,
    /// What the run means to do, a line each; empty without a plan.
    pub plan: Vec<String>,
    /// Why a person must look, when that is so: "The reply could not be delivered: …".
    pub trouble: Option<String>,
    pub url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_is_found_again_by_its_id() {
        let value = ButtonValue {
            deployment: "shop".into(),
            approval: ApprovalId(17),
            digest: "0123456789ab".into(),
        };
        for kind in ButtonKind::ALL {
            let choice = (*kind == ButtonKind::Choose).then(|| Choice {
                option: 2,
                text: "Yes".into(),
            });
            let button = Button {
                kind: *kind,
                value: value.clone(),
                choice,
            };
            let option = button.choice.as_ref().map(|choice| choice.option);
            assert_eq!(Button::read_id(&button.id()), Some((*kind, option)));
        }
        for id in ["", "choose", "choose-", "choose-x", "approve-1", "other"] {
            assert_eq!(Button::read_id(id), None, "{id}");
        }
    }

    #[test]
    fn a_button_carries_its_approval_there_and_back() {
        let value = ButtonValue {
            deployment: "shop-eu".into(),
            approval: ApprovalId(17),
            digest: "0123456789ab".into(),
        };
        assert_eq!(ButtonValue::decode(&value.encode()), Some(value));
        for text in [
            "",
            "a:b",
            "shop:17:short",
            "shop:17:0123456789ab:more",
            "shop:-1:0123456789ab",
            "run:1:tok",
        ] {
            assert_eq!(ButtonValue::decode(text), None, "{text}");
        }
    }
}
