//! Reading what is true now, for `next`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deskhand_adapters::postgres::runs::Lease;
use deskhand_adapters::postgres::{approvals, articles, facts as store, helpers, mails, runs, spend};
use deskhand_core::approval::{Actor, ApprovalState};
use deskhand_core::budget::{Budget, Ceiling, Spent};
use deskhand_core::effect::{EditChange, Effect};
use deskhand_core::facts::{ApprovalFact, Facts, Limits, Role, Standing};
use deskhand_core::id::{ArticleId, RunId, TicketId};
use deskhand_core::links;
use deskhand_core::ticket::{Mode, Source};
use deskhand_core::tool::{self, Use};
use deskhand_core::transcript::Transcript;

use crate::app::App;
use crate::people;

/// Which run the facts are for.
#[derive(Clone, Copy, Debug)]
pub struct For {
    pub run: RunId,
    pub ticket: TicketId,
    pub mode: Mode,
    pub role: Role,
}

impl From<&Lease> for For {
    fn from(lease: &Lease) -> Self {
        Self {
            run: lease.run,
            ticket: lease.ticket,
            mode: lease.mode,
            role: match lease.helper {
                true => Role::Helper,
                false => Role::Main,
            },
        }
    }
}

/// A run taken up: its transcript, and what is true now.
pub struct TakenUp {
    pub transcript: Transcript,
    pub facts: Facts,
    /// A payload named the ticket but not enough of it.
    pub needs_read: bool,
}

/// Transcript and facts together, in one look. `None` when somebody else has the run by now: a late runner must not even
/// ask the model.
pub async fn take_up(app: &App, lease: &Lease) -> anyhow::Result<Option<TakenUp>> {
    let of = For::from(lease);
    let read = store::read(&app.pool, of.run, of.ticket, 0, true).await?;
    let Some(mut read) = read.filter(|read| read.attempt == Some(lease.attempt)) else {
        return Ok(None);
    };
    let transcript = match read.continues {
        // Earlier runs' steps stand before its own.
        true => runs::transcript(&app.pool, of.run).await?,
        false => Transcript::new(std::mem::take(&mut read.steps)),
    };
    // What is to be read is read by the run that it helps.
    let needs_read = read.ticket.needs_read && of.role == Role::Main;
    let facts = facts(app, of, read, &transcript).await?;
    Ok(Some(TakenUp {
        transcript,
        facts,
        needs_read,
    }))
}

/// Everything that is true now and not in the transcript.
pub async fn read(app: &App, of: For, transcript: &Transcript) -> anyhow::Result<Facts> {
    let read = store::read(&app.pool, of.run, of.ticket, transcript.last_heard(), false)
        .await?
        .ok_or(sqlx::Error::RowNotFound)?;
    facts(app, of, read, transcript).await
}

async fn facts(app: &App, of: For, read: store::Read, transcript: &Transcript) -> anyhow::Result<Facts> {
    let heard = transcript.last_heard();
    let mut unheard = read.comments;
    unheard.retain(|comment| comment.id > heard);
    // A later comment may have come with its webhook before the first one was read from the desk.
    unheard.sort_by_key(|comment| (comment.created_at, comment.id));
    let mut approvals = Vec::new();
    for row in read.approvals {
        let standing = standing(app, &row).await?;
        approvals.push(ApprovalFact {
            id: row.id,
            call: row.call,
            effect: row.effect,
            digest: row.digest,
            state: row.state,
            decision: row.decision,
            executed: row.executed,
            standing,
        });
    }
    // Few runs have a family, and only those read of it.
    let (helpers, others) = match (of.role, transcript.has_helpers()) {
        (Role::Main, false) => (Vec::new(), Spent::default()),
        (Role::Main, true) | (Role::Helper, _) => (
            helpers::facts(&app.pool, of.run).await?,
            helpers::spent_by_others(&app.pool, of.ticket, of.run).await?,
        ),
    };
    let outside = app.tools.as_ref().map_or_else(|| [].into(), |tools| tools.offered());
    // Most decisions are about no draft: then there is nothing more to read.
    let (links, ids) = mentioned(transcript, &approvals);
    let mut articles = BTreeMap::new();
    if !ids.is_empty() {
        let filed = articles::some(&app.pool, &ids).await?;
        articles.extend(filed.into_iter().map(|filed| (filed.article.id.clone(), filed.article)));
    }
    let known_links = articles::known_links(&app.pool, &links).await?.into_iter().collect();
    let doubts = match read.ticket.ticket.outside.source {
        Source::Email => mails::doubts(&app.pool, of.ticket).await?,
        Source::Zendesk | Source::Slack | Source::Discord | Source::Api => Vec::new(),
    };
    let set = read.mode.and_then(|mode| mode.parse().ok());
    Ok(Facts {
        now: app.clock.now(),
        run: of.run,
        role: of.role,
        ticket: read.ticket.ticket,
        automatic: read.ticket.automatic,
        doubts,
        unheard,
        approvals,
        effects: read.effects,
        helpers,
        grants: read.grants,
        mode: set.unwrap_or(app.config.mode).min(of.mode),
        limits: Limits {
            max_steps: app.config.limits.max_steps,
            compact_above_tokens: app.config.limits.compact_above,
            ..Limits::default()
        },
        budget: budget(app, others).await?,
        articles,
        known_links,
        prompt: match of.role {
            Role::Main => app.prompt.clone(),
            Role::Helper => app.helper_prompt.clone(),
        },
        outside,
    })
}

/// The ceilings, and what the day has cost so far where it has one.
async fn budget(app: &App, others: Spent) -> sqlx::Result<Budget> {
    let limits = &app.config.limits;
    let day = Ceiling {
        tokens: limits.day_tokens,
        micros: limits.day_cost,
    };
    let today = match day.is_set() {
        true => spend::since(&app.pool, app.clock.midnight()).await?,
        false => Spent::default(),
    };
    Ok(Budget {
        run: Ceiling {
            tokens: Some(limits.max_tokens),
            micros: limits.max_cost,
        },
        day,
        today,
        others,
        prices: Arc::clone(&app.config.prices),
    })
}

/// Whether whoever decided may still decide: judged anew, right before the execution.
async fn standing(app: &App, row: &approvals::Row) -> anyhow::Result<Standing> {
    let decided = matches!(row.state, ApprovalState::Approved | ApprovalState::Edited) && !row.executed;
    let Some(decision) = row.decision.as_ref().filter(|_| decided) else {
        return Ok(Standing::Holds);
    };
    let Some((surface, id)) = decision.by.split_once(':') else {
        return Ok(Standing::Unknown);
    };
    let Ok(surface) = surface.parse() else {
        return Ok(Standing::Unknown);
    };
    let actor = Actor {
        surface,
        id: id.to_owned(),
        name: decision.by_name.clone(),
        workspace: None,
        roles: Vec::new(),
    };
    people::standing(app, app.config.route(&row.tool).approvers, &actor).await
}

/// Links of the drafts that are to be judged, and the articles that edits are about.
fn mentioned(transcript: &Transcript, approvals: &[ApprovalFact]) -> (Vec<String>, Vec<ArticleId>) {
    let mut found = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (_, call) in transcript.open_calls() {
        match tool::read(call, &[]) {
            Ok(Use::Reply(args)) => found.extend(links::links(&args.text)),
            Ok(Use::Edit(args)) => {
                found.extend(links::links(&args.new_text));
                ids.insert(ArticleId(args.article_id.trim().to_owned()));
            }
            _ => {}
        }
    }
    for approval in approvals.iter().filter(|approval| !approval.executed) {
        if let Effect::ProposeKnowledgeEdit(edit) = &approval.effect {
            ids.insert(edit.article.clone());
            if let EditChange::Replace { new_text, .. } = &edit.change {
                found.extend(links::links(new_text));
            }
        }
    }
    (found.into_iter().collect(), ids.into_iter().collect())
}
