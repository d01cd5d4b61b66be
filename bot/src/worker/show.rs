//! Reading what cards and headers are made from. They are drawn anew from the rows each time, never from memory.

use deskhand_adapters::postgres::{approvals, articles, helpers, mails, posts, runs, tickets};
use deskhand_core::approval::ApprovalState;
use deskhand_core::card::{Card, Header, Mark};
use deskhand_core::effect::Effect;
use deskhand_core::id::{ApprovalId, CallKey, TicketId};
use deskhand_core::show::{self, Shown, Waiting};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;

use crate::app::App;

/// The card of an approval as it stands now; with the state it is in.
pub(super) async fn card(app: &App, id: ApprovalId) -> sqlx::Result<Option<(Card, approvals::Row)>> {
    let Some(row) = approvals::read(&app.pool, approvals::Which::One(id))
        .await?
        .into_iter()
        .next()
    else {
        return Ok(None);
    };
    let Some(whole) = tickets::get(&app.pool, row.ticket).await? else {
        return Ok(None);
    };
    let comments = tickets::comments(&app.pool, row.ticket, 0).await?;
    let article = match &row.effect {
        Effect::ProposeKnowledgeEdit(edit) => articles::get(&app.pool, &edit.article)
            .await?
            .map(|filed| filed.article),
        Effect::ReplyCustomer(_) | Effect::EscalateTicket(_) | Effect::UseTool(_) | Effect::AskQuestion(_) => None,
    };
    let transcript = runs::transcript(&app.pool, row.run).await?;
    let sources = transcript
        .outcomes()
        .filter_map(|(_, outcome)| outcome.details["title"].as_str().map(str::to_owned))
        .collect();
    let mut marks = row.marks.clone();
    marks.extend(took_over(&transcript, row.call));
    if row.state == ApprovalState::Open && matches!(row.effect, Effect::ReplyCustomer(_)) {
        let heard = transcript.heard_before(row.call.step);
        let changes = posts::changes(&app.pool, row.ticket, heard).await?;
        marks.extend(changes.iter().map(|change| changed_since(change)));
    }
    let owner = owner(app, &row.tool);
    let shown = Shown {
        deployment: &app.config.deployment,
        id: row.id,
        effect: &row.effect,
        digest: &row.digest,
        why: &row.why,
        marks: &marks,
        state: row.state,
        decision: row.decision.as_ref(),
        recorded: row.recorded,
        expires_at: row.expires_at,
        created_at: row.created_at,
        ticket: &whole.ticket,
        url: whole.url.as_deref(),
        comments: &comments,
        article: article.as_ref(),
        sources,
        owner: &owner,
    };
    Ok(Some((show::card(&shown), row)))
}

/// That the customer corrected what the draft answers: whoever decides about it must know.
fn changed_since(change: &str) -> Mark {
    let change = change
        .split(" It says now:")
        .next()
        .unwrap_or(change)
        .trim_end_matches(['.', ':']);
    Mark {
        text: format!("{change}; this draft does not know of it."),
    }
}

/// The same with the whole mail that the last words are from; empty where it said no more.
pub(super) async fn full(app: &App, id: ApprovalId) -> sqlx::Result<Option<(Card, String)>> {
    let Some((card, row)) = card(app, id).await? else {
        return Ok(None);
    };
    let mail = mails::whole_of_last_words(&app.pool, row.ticket).await?;
    Ok(Some((card, mail.unwrap_or_default())))
}

/// That the call was made by a substitute, and why: whoever decides about a draft must know whose it is.
fn took_over(transcript: &Transcript, call: CallKey) -> Option<Mark> {
    let before = transcript.steps().iter().rfind(|step| step.seq < call.step)?;
    match &before.kind {
        StepKind::Stumbled { what } => Some(Mark { text: what.clone() }),
        _ => None,
    }
}

/// Who is asked, in words.
fn owner(app: &App, tool: &str) -> String {
    match app.config.route(tool).approvers.len() {
        0 => "nobody is set as approver".into(),
        1 => "one approver, as set".into(),
        n => format!("any of {n} approvers, as set"),
    }
}

pub(super) async fn header(app: &App, ticket: TicketId) -> sqlx::Result<Option<Header>> {
    let Some(whole) = tickets::get(&app.pool, ticket).await? else {
        return Ok(None);
    };
    let rows = approvals::read(&app.pool, approvals::Which::OfTicket(ticket)).await?;
    let at_work = helpers::at_work(&app.pool, ticket).await?;
    let waiting: Vec<Waiting<'_>> = rows
        .iter()
        .filter(|row| row.state == ApprovalState::Open && !row.recorded)
        .map(|row| Waiting::Approval {
            id: row.id,
            effect: &row.effect,
        })
        .chain(
            at_work
                .iter()
                .map(|(number, task)| Waiting::Helper { number: *number, task }),
        )
        .collect();
    let mode = app.mode().await?;
    let (plan, paused) = runs::for_header(&app.pool, ticket).await?;
    let mut header = show::header(
        &whole.ticket,
        whole.url.as_deref(),
        &whole.trouble,
        &waiting,
        paused,
        plan.as_ref(),
        mode,
    );
    header.waits.extend(tried_again(app, ticket).await?);
    Ok(Some(header))
}

/// Why the ticket's run is tried again later, where it is.
pub(crate) async fn tried_again(app: &App, ticket: TicketId) -> sqlx::Result<Option<String>> {
    let runs = runs::of_ticket(&app.pool, ticket).await?;
    let waits = runs
        .into_iter()
        .find(|run| run.state == "queued" && !run.error.is_empty());
    Ok(waits.map(|run| format!("the run is tried again later: {}", run.error)))
}
