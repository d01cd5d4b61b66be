//! The outside, answering at once: a model that follows a script, and a desk that remembers what it was sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use chrono::Utc;
use deskhand_core::inbound::DeskStatus;
use deskhand_core::model::{Call, ModelReply, ModelRequest, Part, Stop, Turn, Usage};
use deskhand_core::port::{Desk, DeskChange, DeskTicket, DeskWrite, Model, ModelError, PortError, Receipt, Sink};
use deskhand_core::ticket::Requester;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// What a reply says beside its calls: about as much as a model writes.
const THOUGHT: &str = "The customer asks where the refund for the returned kettle is. The return was registered, so I look \
                       up how long refunds take, record what this is about, and answer with the usual time and a number.";
const ANSWER: &str = "Thank you for writing to us. Your refund left us on Monday; banks take up to five working days to \
                      show it. If it is not there by then, answer to this and we will look into it at once.";

/// A model that asks for as many replies as it is told to, one approval among them.
pub(crate) struct Scripted {
    /// Requests of a whole run, at least 4.
    pub(crate) requests: usize,
    /// Told of every request: the ticket, which request of its run it is, and when it came.
    pub(crate) seen: Option<UnboundedSender<(String, usize, Instant)>>,
}

/// The ticket's number, as the model was told it.
pub(crate) fn ticket_of(request: &ModelRequest) -> String {
    let parts = request.turns.iter().filter_map(|turn| match turn {
        Turn::Told(parts) => Some(parts),
        Turn::Said(_) | Turn::Outcomes(_) => None,
    });
    parts
        .flatten()
        .find_map(|part| match part {
            Part::Ticket(brief) => Some(brief.number.clone()),
            Part::Text(_) | Part::Comment { .. } => None,
        })
        .unwrap_or_default()
}

pub(crate) fn replies_so_far(request: &ModelRequest) -> usize {
    request
        .turns
        .iter()
        .filter(|turn| matches!(turn, Turn::Said(_)))
        .count()
}

/// The reply to the request that comes after `before` replies, of `all`.
pub(crate) fn reply(before: usize, all: usize) -> ModelReply {
    let from_the_end = all - before.min(all);
    let calls = match (before, from_the_end) {
        (_, 0 | 1) => vec![],
        (_, 2) => vec![("reply_customer", json!({ "text": ANSWER }))],
        (1, _) => vec![
            (
                "classify_ticket",
                json!({ "category": "refund", "priority": "normal", "language": "en", "action": "needs_approval",
                        "confidence": 0.9, "reason": "The customer asks for money back." }),
            ),
            ("route_ticket", json!({ "team": "Billing" })),
        ],
        _ => vec![(
            "search_knowledge",
            json!({ "query": "refund for a returned kettle", "limit": 2 }),
        )],
    };
    said(before, &calls)
}

pub(crate) fn said(before: usize, calls: &[(&str, Value)]) -> ModelReply {
    let calls: Vec<Call> = calls
        .iter()
        .enumerate()
        .map(|(n, (name, args))| Call {
            id: format!("call_{before}_{n}"),
            name: (*name).into(),
            args: args.clone(),
        })
        .collect();
    ModelReply {
        text: if calls.is_empty() {
            "The refund is explained; nothing is left to do.".into()
        } else {
            THOUGHT.into()
        },
        stop: if calls.is_empty() { Stop::EndOfTurn } else { Stop::Calls },
        calls,
        usage: Usage {
            input: 1200,
            output: 90,
            ..Usage::default()
        },
        raw: None,
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn reply(&self, request: &ModelRequest, _sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let before = replies_so_far(request);
        if let Some(seen) = &self.seen {
            // Nobody listens any more when the benchmark is over.
            let _ = seen.send((ticket_of(request), before, Instant::now()));
        }
        Ok(reply(before, self.requests))
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

/// A desk on which nothing else happens.
#[derive(Default)]
pub(crate) struct Quiet {
    replies: AtomicUsize,
}

impl Quiet {
    /// Replies that reached the customer.
    pub(crate) fn replies(&self) -> usize {
        self.replies.load(Ordering::Relaxed)
    }
}

/// A ticket as a desk tells it that nobody else works on.
pub(crate) fn untouched(outside_id: &str) -> DeskTicket {
    DeskTicket {
        outside_id: outside_id.to_owned(),
        subject: "Where is my refund?".into(),
        requester: Requester {
            name: "Ada".into(),
            address: "ada@example.com".into(),
        },
        status: DeskStatus::Open,
        priority: None,
        assignee: None,
        assignee_name: String::new(),
        merged_into: None,
        url: None,
        stamp: "2026-11-30T10:00:00Z".into(),
        updated_at: Utc::now(),
        comments: Vec::new(),
        posts: Vec::new(),
    }
}

#[async_trait]
impl Desk for Quiet {
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        Ok(untouched(outside_id))
    }

    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError> {
        match write.change {
            DeskChange::Reply { .. } => {
                self.replies.fetch_add(1, Ordering::Relaxed);
            }
            DeskChange::Bookkeeping(_) | DeskChange::FollowUp { .. } => {}
        }
        Ok(Receipt {
            remote_id: format!("remote-{}", write.marker),
            remark: None,
        })
    }

    async fn find(&self, _outside_id: &str, _marker: &str) -> Result<Option<Receipt>, PortError> {
        Ok(None)
    }

    async fn check(&self) -> Result<String, PortError> {
        Ok("a desk of the benchmark".into())
    }
}
