//! The last look before a public reply: the desk's own present state against what the reply was made for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::inbound::DeskStatus;
use crate::port::DeskTicket;
use crate::ticket::Author;

/// What the reply was made for, kept with it in the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The newest comment that the model had heard, by our number.
    pub heard: i64,
    /// The desk's id of who had it when the reply was decided; empty for nobody.
    pub assignee: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Go,
    /// It must not be sent any more; one sentence why. The run wakes.
    Withdraw {
        why: String,
    },
    /// The ticket is closed for good: nothing can be added.
    Closed {
        why: String,
    },
}

/// `heard` are the outside ids of the comments that the model had heard, and of our own. A changed `updated_at` alone
/// never withdraws.
pub fn judge(present: &DeskTicket, ground: &Ground, heard: &BTreeSet<String>) -> Judgement {
    if let Some(into) = &present.merged_into {
        return Judgement::Withdraw {
            why: format!("the ticket was merged into {into}"),
        };
    }
    match present.status {
        DeskStatus::Closed => {
            return Judgement::Closed {
                why: "the ticket is closed; it takes no more comments".into(),
            };
        }
        DeskStatus::Solved => {
            return Judgement::Withdraw {
                why: "the ticket was solved meanwhile".into(),
            };
        }
        DeskStatus::Open | DeskStatus::Pending => {}
    }
    let unseen = present.comments.iter().rev().find(|comment| {
        comment.public
            && comment.marker.is_none()
            && comment.author != Author::Bot
            && comment.outside_id.as_ref().is_none_or(|id| !heard.contains(id))
    });
    if let Some(comment) = unseen {
        let why = match comment.author {
            Author::Agent => format!("{} answered meanwhile", named(&comment.author_name, "a colleague")),
            Author::Requester | Author::Other | Author::Bot => "the customer wrote again".into(),
        };
        return Judgement::Withdraw { why };
    }
    match present.assignee.as_deref() {
        Some(assignee) if !assignee.is_empty() && assignee != ground.assignee => Judgement::Withdraw {
            why: format!(
                "the ticket was assigned to {} meanwhile",
                named(&present.assignee_name, "a colleague")
            ),
        },
        _ => Judgement::Go,
    }
}

fn named<'a>(name: &'a str, other: &'a str) -> &'a str {
    if name.trim().is_empty() { other } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbound::NewComment;
    use crate::ticket::Requester;
    use chrono::DateTime;

    fn comment(id: &str, author: Author) -> NewComment {
        NewComment {
            outside_id: Some(id.into()),
            author,
            author_name: "Kim".into(),
            public: true,
            body: "…".into(),
            created_at: None,
            marker: None,
        }
    }

    fn judged(change: impl FnOnce(&mut DeskTicket)) -> Judgement {
        let mut present = DeskTicket {
            outside_id: "1".into(),
            subject: String::new(),
            requester: Requester::default(),
            status: DeskStatus::Open,
            priority: None,
            assignee: None,
            assignee_name: "Kim".into(),
            merged_into: None,
            url: None,
            stamp: "2026-10-09T08:53:21Z".into(),
            updated_at: DateTime::UNIX_EPOCH,
            comments: vec![comment("1", Author::Requester)],
            posts: Vec::new(),
        };
        change(&mut present);
        judge(
            &present,
            &Ground {
                heard: 1,
                assignee: "7".into(),
            },
            &BTreeSet::from(["1".to_owned()]),
        )
    }

    #[test]
    fn an_unchanged_ticket_gets_its_reply() {
        assert_eq!(judged(|_| {}), Judgement::Go);
        assert_eq!(judged(|t| t.stamp = "2026-10-09T09:00:00Z".into()), Judgement::Go);
        assert_eq!(judged(|t| t.assignee = Some("7".into())), Judgement::Go);
    }

    #[test]
    fn internal_notes_and_our_own_words_are_no_reason() {
        let note = NewComment {
            public: false,
            ..comment("2", Author::Agent)
        };
        assert_eq!(judged(|t| t.comments.push(note)), Judgement::Go);
        assert_eq!(judged(|t| t.comments.push(comment("2", Author::Bot))), Judgement::Go);
        let marked = NewComment {
            marker: Some("x".into()),
            ..comment("2", Author::Agent)
        };
        assert_eq!(judged(|t| t.comments.push(marked)), Judgement::Go);
    }

    #[test]
    fn whatever_happened_meanwhile_withdraws_it_and_says_so() {
        type Change = fn(&mut DeskTicket);
        let cases: [(Change, &str); 5] = [
            (
                |t| t.comments.push(comment("2", Author::Requester)),
                "the customer wrote again",
            ),
            (
                |t| t.comments.push(comment("2", Author::Agent)),
                "Kim answered meanwhile",
            ),
            (|t| t.status = DeskStatus::Solved, "the ticket was solved meanwhile"),
            (|t| t.merged_into = Some("9".into()), "the ticket was merged into 9"),
            (
                |t| t.assignee = Some("8".into()),
                "the ticket was assigned to Kim meanwhile",
            ),
        ];
        for (change, expected) in cases {
            assert_eq!(judged(change), Judgement::Withdraw { why: expected.into() });
        }
        assert!(matches!(
            judged(|t| t.status = DeskStatus::Closed),
            Judgement::Closed { .. }
        ));
    }
}
