//! What leaves: effects into the outbox with their outcomes, edits into the knowledge base, calls outside that begin.

use deskhand_adapters::postgres::approvals;
use deskhand_adapters::postgres::articles::{self, Publish};
use deskhand_adapters::postgres::outbox::{self, Kind, New, desk_lane};
use deskhand_adapters::postgres::runs::Lease;
use deskhand_core::article::ArticleState;
use deskhand_core::delivery::Ground;
use deskhand_core::effect::Effect;
use deskhand_core::facts::Facts;
use deskhand_core::id::ApprovalId;
use deskhand_core::next::{Ask, NewText, Sending, Starting};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;
use serde_json::json;
use sqlx::PgConnection;

use super::{Done, begin, cards, header, open, seal};
use crate::app::App;

/// Writes down that a call of a tool outside begins, and executes its approval: from here on it is not made twice.
pub async fn start(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    facts: &Facts,
    starting: &Starting,
) -> anyhow::Result<Done> {
    if starting.again {
        return Ok(Done::Yes);
    }
    let (mut tx, _) = match begin(app, lease, facts, starting.heard).await? {
        Ok(begun) => begun,
        Err(done) => return Ok(done),
    };
    if let Some(id) = starting.approval
        && !approvals::execute_once(&mut tx, id, digest_of(facts, id)).await?
    {
        return Ok(Done::Moved);
    }
    outbox::refresh_header(&mut tx, lease.ticket).await?;
    let begun = vec![StepKind::Started { call: starting.call }];
    seal(app, lease, transcript, tx, begun).await
}

fn digest_of(facts: &Facts, id: ApprovalId) -> &str {
    let approval = facts.approvals.iter().find(|approval| approval.id == id);
    approval.map_or("", |approval| approval.digest.as_str())
}

/// Puts an effect into the outbox with its outcome, or applies an edit of the knowledge base.
pub async fn send(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    facts: &Facts,
    sending: Sending,
) -> anyhow::Result<Done> {
    let (mut tx, held) = match begin(app, lease, facts, sending.heard).await? {
        Ok(begun) => begun,
        Err(done) => return Ok(done),
    };
    if !put_out(app, &mut tx, lease, transcript, facts, &sending, held.assignee).await? {
        return Ok(Done::Moved);
    }
    seal(app, lease, transcript, tx, vec![sending.told]).await
}

/// The part of a sending that has nothing to do with a lease: also used for approvals whose run has moved on or ended.
/// False when the approval was executed already, or the article is no longer at its base.
pub(in crate::worker) async fn put_out(
    app: &App,
    tx: &mut PgConnection,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    sending: &Sending,
    assignee: String,
) -> anyhow::Result<bool> {
    if let (Some(text), Effect::ProposeKnowledgeEdit(edit)) = (&sending.article, &sending.effect)
        && !sending.recorded
    {
        if let Some(id) = sending.approval
            && !approvals::execute_once(tx, id, digest_of(facts, id)).await?
        {
            return Ok(false);
        }
        let author = facts
            .approvals
            .iter()
            .find(|approval| Some(approval.id) == sending.approval)
            .and_then(|approval| approval.decision.as_ref())
            .map_or_else(|| "deskhand".to_owned(), |decision| decision.by.clone());
        return publish(tx, edit, text, &author, lease, sending.approval).await;
    }
    let mut effects = Vec::new();
    let ground = Ground {
        heard: sending.heard,
        assignee,
    };
    let kind = match &sending.effect {
        Effect::ReplyCustomer(_) => Some(Kind::Reply),
        Effect::EscalateTicket(_) => Some(Kind::Escalation),
        Effect::ProposeKnowledgeEdit(_) | Effect::UseTool(_) | Effect::AskQuestion(_) => None,
    };
    if let Some(kind) = kind {
        effects.push(New {
            run: Some(lease.run),
            approval: sending.approval,
            call: Some(sending.call),
            payload: json!({ "effect": sending.effect, "ground": ground }),
            recorded: sending.recorded,
            ..New::of(kind, lease.ticket, desk_lane(lease.ticket))
        });
    }
    if sending.recorded && sending.approval.is_none() {
        // Shadow mode shows what it would have asked, without buttons.
        let ask = Ask {
            call: sending.call,
            effect: sending.effect.clone(),
            digest: deskhand_core::digest::of(&sending.effect),
            why: "shadow mode".into(),
            marks: deskhand_core::policy::inspect(&sending.effect, transcript, facts),
            replaces: None,
        };
        let id = open(app, tx, lease, transcript, &ask, true).await?;
        effects.extend(header(app, lease.ticket));
        effects.extend(cards(app, lease.ticket, id, sending.effect.tool()));
    }
    match sending.approval {
        Some(id) => Ok(outbox::enqueue_once(tx, lease.ticket, &effects, (id, digest_of(facts, id))).await?),
        None => {
            outbox::enqueue_and_refresh(tx, lease.ticket, &effects).await?;
            Ok(true)
        }
    }
}

async fn publish(
    tx: &mut PgConnection,
    edit: &deskhand_core::effect::Edit,
    text: &NewText,
    author: &str,
    lease: &Lease,
    approval: Option<ApprovalId>,
) -> anyhow::Result<bool> {
    let publish = Publish {
        id: &edit.article,
        title: &text.title,
        section: "",
        body: &text.body,
        language: &text.language,
        state: if text.retired {
            ArticleState::Retired
        } else {
            ArticleState::Published
        },
        base: text.base_revision,
        author,
        rationale: &edit.rationale,
        run: Some(lease.run),
        approval,
    };
    Ok(articles::publish(tx, &publish).await?.is_some())
}
