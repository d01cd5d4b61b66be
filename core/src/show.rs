//! Making cards and headers from rows. Surfaces draw them; what is on them is decided here.

mod header;

use chrono::{DateTime, Utc};

use crate::approval::{ApprovalState, Decision};
use crate::article::Article;
use crate::card::{Body, Button, ButtonKind, ButtonValue, Card, Choice, Footer, Mark, Settled, SettledAs};
use crate::diff;
use crate::digest;
use crate::effect::{Edit, EditChange, Effect};
use crate::id::{ApprovalId, TicketId};
use crate::ticket::{Author, Comment, Source, Ticket};
use crate::tool::outside::ToolUse;

pub use header::{Waiting, header, helper};

/// Everything a card is made from.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    pub deployment: &'a str,
    pub id: ApprovalId,
    pub effect: &'a Effect,
    pub digest: &'a str,
    pub why: &'a str,
    pub marks: &'a [Mark],
    pub state: ApprovalState,
    pub decision: Option<&'a Decision>,
    /// Shadow mode: shown, never asked.
    pub recorded: bool,
    pub expires_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub ticket: &'a Ticket,
    pub url: Option<&'a str>,
    pub comments: &'a [Comment],
    /// The article as it stands, for an edit.
    pub article: Option<&'a Article>,
    /// Titles of articles and numbers of tickets that the draft rests on.
    pub sources: Vec<String>,
    /// Who is asked, in words.
    pub owner: &'a str,
}

/// Above the mail that a customer's last words are from, with all that was split off.
pub const WHOLE_MAIL: &str = "The whole mail";

pub fn card(shown: &Shown<'_>) -> Card {
    let last_words = shown
        .comments
        .iter()
        .filter(|comment| comment.public && matches!(comment.author, Author::Requester | Author::Other))
        .max_by_key(|comment| (comment.created_at, comment.id))
        .map(|comment| comment.body.clone())
        .unwrap_or_default();
    let triage = shown.ticket.triage.as_ref();
    let settled = settled(shown);
    let asked = settled.is_none();
    Card {
        approval: shown.id,
        ticket: shown.ticket.id,
        subject: shown.ticket.subject.clone(),
        requester: shown.ticket.requester.to_string(),
        opened_at: shown.ticket.created_at,
        url: shown.url.map(str::to_owned),
        will: will(shown.effect),
        last_words,
        body: body(shown),
        why: match (triage, shown.effect) {
            (_, Effect::EscalateTicket(escalation)) => escalation.reason.clone(),
            (_, Effect::ProposeKnowledgeEdit(edit)) => edit.rationale.clone(),
            (_, Effect::UseTool(_) | Effect::AskQuestion(_)) => shown.why.to_owned(),
            (Some(triage), Effect::ReplyCustomer(_)) => triage.reason.clone(),
            (None, Effect::ReplyCustomer(_)) => shown.why.to_owned(),
        },
        sources: shown.sources.clone(),
        confidence: triage.map(|triage| triage.confidence),
        marks: shown.marks.to_vec(),
        buttons: if asked { buttons(shown) } else { Vec::new() },
        footer: Footer {
            owner: shown.owner.to_owned(),
            expires_at: shown.expires_at.filter(|_| asked),
            digest: digest::prefix(shown.digest),
            note: if shown.recorded {
                "shadow mode: nothing is asked and nothing is sent".into()
            } else {
                String::new()
            },
        },
        settled,
    }
}

/// What will happen on approval, in one sentence.
pub fn will(effect: &Effect) -> String {
    match effect {
        // A mail's id says nothing to anybody, and its address is what must be right.
        Effect::ReplyCustomer(reply) if reply.outside.source == Source::Email => match reply.to.name.as_str() {
            "" => format!("This reply goes to {} by e-mail.", reply.to.address),
            name => format!("This reply goes to {name} ({}) by e-mail.", reply.to.address),
        },
        // Nor does a message's number.
        Effect::ReplyCustomer(reply) if matches!(reply.outside.source, Source::Slack | Source::Discord) => {
            let chat = match reply.outside.source {
                Source::Slack => "Slack",
                _ => "Discord",
            };
            format!(
                "This reply goes to {} in {chat}, into the thread of their message.",
                reply.to
            )
        }
        Effect::ReplyCustomer(reply) => format!("This reply goes to {} on {}.", reply.to, reply.outside),
        Effect::EscalateTicket(escalation) => {
            let team = if escalation.team.is_empty() {
                "the next line"
            } else {
                &escalation.team
            };
            format!("The ticket goes to {team}, level {}.", escalation.level)
        }
        Effect::ProposeKnowledgeEdit(edit) => match &edit.change {
            EditChange::Replace { base_revision, .. } => {
                format!(
                    "The article {} changes from revision {base_revision}, as the diff shows.",
                    edit.article
                )
            }
            EditChange::Create { title, .. } => format!("A new article is published: {title}."),
            EditChange::Retire { .. } => format!("The article {} is taken out of use.", edit.article),
        },
        Effect::UseTool(used) => format!("The tool {} is called once, with exactly these arguments.", used.tool),
        Effect::AskQuestion(question) => question.question.clone(),
    }
}

fn body(shown: &Shown<'_>) -> Body {
    let edited = shown.decision.and_then(|decision| decision.edited.as_deref());
    match shown.effect {
        Effect::ReplyCustomer(reply) => Body::Draft(edited.unwrap_or(&reply.text).to_owned()),
        Effect::EscalateTicket(escalation) => Body::Facts(vec![
            ("Level".into(), escalation.level.to_string()),
            ("Team".into(), escalation.team.clone()),
            ("Reason".into(), edited.unwrap_or(&escalation.reason).to_owned()),
        ]),
        Effect::ProposeKnowledgeEdit(edit) => Body::Diff(edit_diff(edit, edited, shown.article)),
        Effect::UseTool(used) => Body::Facts(arguments(used)),
        Effect::AskQuestion(_) => Body::Facts(
            edited
                .map(|text| ("Answer".into(), text.to_owned()))
                .into_iter()
                .collect(),
        ),
    }
}

fn arguments(used: &ToolUse) -> Vec<(String, String)> {
    let all = used.args.as_object().into_iter().flatten();
    all.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), value)
    })
    .collect()
}

/// The edit as a unified diff of the whole article; of the passage alone where the article is not at hand.
pub fn edit_diff(edit: &Edit, edited: Option<&str>, article: Option<&Article>) -> String {
    let name = &edit.article.0;
    match &edit.change {
        EditChange::Replace {
            old_text,
            new_text,
            base_revision,
        } => {
            let new_text = edited.unwrap_or(new_text);
            let whole = article
                .filter(|article| article.revision == *base_revision)
                .and_then(|article| Some((&article.body, diff::apply(&article.body, old_text, new_text).ok()?)));
            match whole {
                Some((old, new)) => diff::unified(old, &new, name).text,
                None => diff::unified(old_text, new_text, name).text,
            }
        }
        EditChange::Create { body, .. } => diff::unified("", edited.unwrap_or(body), name).text,
        EditChange::Retire { .. } => diff::unified(article.map_or("", |article| article.body.as_str()), "", name).text,
    }
}

fn buttons(shown: &Shown<'_>) -> Vec<Button> {
    let value = ButtonValue {
        deployment: shown.deployment.to_owned(),
        approval: shown.id,
        digest: digest::prefix(shown.digest),
    };
    let of = |kind: ButtonKind, choice: Option<Choice>| Button {
        kind,
        value: value.clone(),
        choice,
    };
    let as_it_is = match shown.effect {
        Effect::ProposeKnowledgeEdit(edit) => matches!(edit.change, EditChange::Retire { .. }),
        Effect::UseTool(_) => true,
        Effect::ReplyCustomer(_) | Effect::EscalateTicket(_) => false,
        Effect::AskQuestion(question) => {
            let options = question.options.iter().enumerate();
            return options
                .map(|(option, text)| {
                    let text = text.clone();
                    of(ButtonKind::Choose, Some(Choice { option, text }))
                })
                .chain([ButtonKind::Answer, ButtonKind::Reject, ButtonKind::View].map(|kind| of(kind, None)))
                .collect();
        }
    };
    let kinds = [
        ButtonKind::Approve,
        ButtonKind::Edit,
        ButtonKind::Reject,
        ButtonKind::View,
    ];
    kinds
        .into_iter()
        .filter(|kind| *kind != ButtonKind::Edit || !as_it_is)
        .map(|kind| of(kind, None))
        .collect()
}

fn settled(shown: &Shown<'_>) -> Option<Settled> {
    if shown.recorded {
        let line = "Shadow mode: shown, not asked; nothing was sent".into();
        return Some(Settled {
            ending: SettledAs::Recorded,
            line,
            at: shown.created_at,
        });
    }
    let ending = match shown.state {
        ApprovalState::Open => return None,
        ApprovalState::Approved => SettledAs::Approved,
        ApprovalState::Edited => SettledAs::Edited,
        ApprovalState::Answered => SettledAs::Answered,
        ApprovalState::Rejected => SettledAs::Rejected,
        ApprovalState::Expired => SettledAs::Expired,
        ApprovalState::Withdrawn => SettledAs::Withdrawn,
        ApprovalState::Superseded => SettledAs::Superseded,
    };
    let by = shown.decision.map_or("", |decision| decision.by_name.as_str());
    let reason = shown.decision.map_or("", |decision| decision.reason.as_str());
    let because = if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    };
    let line = match ending {
        SettledAs::Approved => format!("Approved by {by}"),
        SettledAs::Edited => format!("Edited and approved by {by}"),
        SettledAs::Answered => {
            let answer = shown.decision.and_then(|decision| decision.edited.as_deref());
            format!("Answered by {by}: {}", answer.unwrap_or_default())
        }
        SettledAs::Rejected => format!("Rejected by {by}{because}"),
        SettledAs::Expired => "Expired: nobody decided in time".into(),
        SettledAs::Withdrawn => format!("Withdrawn{because}"),
        SettledAs::Superseded => format!("Superseded{because}"),
        SettledAs::Recorded => "Recorded".into(),
    };
    let at = shown.decision.map_or(shown.created_at, |decision| decision.at);
    Some(Settled { ending, line, at })
}

/// `A-17 · Reply to Ada · T-1001`: one line for lists.
pub fn title(id: ApprovalId, ticket: TicketId, effect: &Effect) -> String {
    let what = match effect {
        Effect::ReplyCustomer(reply) => format!("reply to {}", reply.to),
        Effect::EscalateTicket(escalation) => format!("escalation to level {}", escalation.level),
        Effect::ProposeKnowledgeEdit(edit) => format!("edit of {}", edit.article),
        Effect::UseTool(used) => format!("call of {}", used.tool),
        Effect::AskQuestion(question) => format!("question: {}", question.question),
    };
    format!("{id} · {what} · {ticket}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Reply;
    use crate::ticket::{OutsideId, Requester, TicketState};

    fn ticket() -> Ticket {
        Ticket {
            id: TicketId(1001),
            outside: OutsideId {
                source: Source::Zendesk,
                id: "35436".into(),
            },
            subject: "Where is my refund?".into(),
            requester: Requester {
                name: "Ada".into(),
                address: "ada@example.com".into(),
            },
            state: TicketState::Triaged,
            version: 1,
            triage: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn reply() -> Effect {
        Effect::ReplyCustomer(Reply {
            ticket: TicketId(1001),
            outside: OutsideId {
                source: Source::Zendesk,
                id: "35436".into(),
            },
            to: Requester {
                name: "Ada".into(),
                address: "ada@example.com".into(),
            },
            text: "On Monday.".into(),
            version: 1,
        })
    }

    fn drawn(state: ApprovalState, decision: Option<&Decision>, recorded: bool) -> Card {
        let (ticket, effect) = (ticket(), reply());
        let digest = digest::of(&effect);
        card(&Shown {
            deployment: "deskhand",
            id: ApprovalId(17),
            effect: &effect,
            digest: &digest,
            why: "a reply leaves the house",
            marks: &[],
            state,
            decision,
            recorded,
            expires_at: None,
            created_at: DateTime::UNIX_EPOCH,
            ticket: &ticket,
            url: None,
            comments: &[],
            article: None,
            sources: Vec::new(),
            owner: "support leads",
        })
    }

    #[test]
    fn an_open_card_has_buttons_that_carry_the_digest() {
        let card = drawn(ApprovalState::Open, None, false);
        assert_eq!(card.will, "This reply goes to Ada on zendesk:35436.");
        assert_eq!(card.body, Body::Draft("On Monday.".into()));
        let kinds: Vec<_> = card.buttons.iter().map(|button| button.kind).collect();
        assert_eq!(
            kinds,
            [
                ButtonKind::Approve,
                ButtonKind::Edit,
                ButtonKind::Reject,
                ButtonKind::View
            ]
        );
        assert!(
            card.buttons
                .iter()
                .all(|button| button.value.digest == card.footer.digest)
        );
    }

    #[test]
    fn a_settled_card_keeps_its_words_and_loses_its_buttons() {
        let decision = Decision {
            state: ApprovalState::Edited,
            by: "slack:U1".into(),
            by_name: "sam".into(),
            at: DateTime::UNIX_EPOCH,
            reason: String::new(),
            edited: Some("On Tuesday.".into()),
        };
        let card = drawn(ApprovalState::Edited, Some(&decision), false);
        assert!(card.buttons.is_empty());
        assert_eq!(card.body, Body::Draft("On Tuesday.".into()));
        assert_eq!(
            card.settled.map(|settled| settled.line),
            Some("Edited and approved by sam".into())
        );
    }

    #[test]
    fn shadow_mode_shows_and_asks_nothing() {
        let card = drawn(ApprovalState::Open, None, true);
        assert!(card.buttons.is_empty());
        assert!(card.footer.note.contains("shadow"));
        assert_eq!(card.settled.map(|settled| settled.ending), Some(SettledAs::Recorded));
    }
}
