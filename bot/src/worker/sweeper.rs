//! The sweeper: what time brings. Lost leases, expiry, decided approvals whose run has moved on, kept clicks,
//! commands and posts, the ledger's chain, the search's tickets, the members of groups.

use std::time::Duration;

use deskhand_adapters::postgres::runs::{self, Lease};
use deskhand_adapters::postgres::search::{self, Entry, Kind};
use deskhand_adapters::postgres::{approvals, helpers, ledger, live, outbox, roster, tickets};
use deskhand_core::facts::ApprovalFact;
use deskhand_core::next::{Execution, execute};
use tokio_util::sync::CancellationToken;

use super::runner::GIVE_UP;
use super::{commit, facts};
use crate::app::App;
use crate::{heard, kept, people};

/// Does what is due. Gives how much that was, so that scenarios know when nothing is left.
pub async fn tick(app: &App) -> anyhow::Result<usize> {
    let mut done = 0;
    let (back, lost) = runs::sweep(&app.pool, GIVE_UP, app.clock.moved()).await?;
    done += back.len() + lost.len();
    for lost in lost.iter().filter(|lost| !lost.helper) {
        commit::failed(app, lost.ticket, &lost.error).await;
    }
    done += helpers::sweep(&app.pool).await?;
    done += usize::try_from(approvals::expire_due(&app.pool, app.clock.moved()).await?).unwrap_or(0);
    done += kept::serve(app).await?;
    done += heard::serve(app).await?;
    done += execute_left_over(app).await?;
    if done > 0 {
        app.wake();
    }
    Ok(done)
}

/// Approvals that were decided after their run had moved on or ended: executed here, once.
async fn execute_left_over(app: &App) -> anyhow::Result<usize> {
    let mut done = 0;
    for row in approvals::read(&app.pool, approvals::Which::Unexecuted).await? {
        let Some(run) = runs::get(&app.pool, row.run).await? else {
            continue;
        };
        let lease = Lease {
            run: row.run,
            ticket: row.ticket,
            attempt: run.attempt,
            mode: run.mode.parse().unwrap_or(deskhand_core::ticket::Mode::Shadow),
            failures: 0,
            if_news: false,
            helper: false,
        };
        let transcript = runs::transcript(&app.pool, row.run).await?;
        let facts = facts::read(app, (&lease).into(), &transcript).await?;
        let Some(fact) = facts
            .approvals
            .iter()
            .find(|fact| fact.id == row.id && ApprovalFact::is_due(fact))
        else {
            continue;
        };
        let mut tx = app.pool.begin().await?;
        tickets::lock(&mut tx, row.ticket).await?;
        match execute(fact, transcript.last_heard(), &facts) {
            Execution::Send(sending) => {
                let assignee = tickets::assignee(&mut tx, row.ticket).await?;
                if !commit::put_out(app, &mut tx, &lease, &transcript, &facts, &sending, assignee).await? {
                    continue;
                }
            }
            // Its run is over: nobody is there to make the call, or to hear of it.
            Execution::Start(_) if run.finished_at.is_some() => {
                approvals::supersede(&mut tx, row.id, "the run ended before the decision; nothing was called").await?;
                outbox::refresh_header(&mut tx, row.ticket).await?;
            }
            Execution::Start(_) => continue,
            Execution::Drifted { why, .. } | Execution::Refused { why } => {
                approvals::supersede(&mut tx, row.id, &why).await?;
                outbox::refresh_header(&mut tx, row.ticket).await?;
            }
        }
        tx.commit().await?;
        done += 1;
    }
    Ok(done)
}

/// What may be late without anybody noticing: the chain, the search, replies that nobody writes any more.
pub async fn housekeeping(app: &App) -> anyhow::Result<()> {
    live::clear_old(&app.pool).await?;
    while ledger::seal(&app.pool, 500).await? == 500 {}
    while index_tickets(app).await? == INDEXED_AT_ONCE {}
    Ok(())
}

const INDEXED_AT_ONCE: usize = 100;

/// Puts tickets into the search, by one indexer among all replicas.
pub async fn index_tickets(app: &App) -> anyhow::Result<usize> {
    let mut tx = app.pool.begin().await?;
    if !search::only_indexer(&mut tx).await? {
        return Ok(0);
    }
    let rows = tickets::unindexed(&mut tx, i64::try_from(INDEXED_AT_ONCE)?).await?;
    let keys: Vec<String> = rows.iter().map(|(id, ..)| id.to_string()).collect();
    let entries: Vec<Entry<'_>> = rows
        .iter()
        .zip(&keys)
        .map(|((_, subject, body), key)| Entry {
            key,
            title: subject,
            section: "",
            body,
            language: "",
        })
        .collect();
    search::put(&mut tx, Kind::Ticket, &entries).await?;
    let ids: Vec<_> = rows.iter().map(|(id, ..)| *id).collect();
    tickets::mark_indexed(&mut tx, &ids).await?;
    tx.commit().await?;
    Ok(rows.len())
}

/// Keeps every group that a setting names fresh, so that a click need not wait for it; and learns people's names.
pub async fn sync_groups(app: &App) -> anyhow::Result<()> {
    people::learn_names(app).await?;
    for group in people::all_groups(app) {
        let Some(chat) = app.chat(group.surface().as_str()) else {
            continue;
        };
        match chat.members(group.id()).await {
            Ok(members) => {
                roster::sync_group(&app.pool, &people::key(&group), &members, app.clock.moved()).await?;
            }
            Err(error) => tracing::warn!(group = %people::key(&group), %error, "a group could not be looked up"),
        }
    }
    Ok(())
}

/// Ticks every second, keeps house every few, until it is cancelled.
pub async fn work(app: App, cancel: CancellationToken) {
    let mut ticks: u64 = 0;
    while !cancel.is_cancelled() {
        if let Err(error) = tick(&app).await {
            tracing::warn!(error = format!("{error:#}"), "sweeping failed; trying again");
        }
        if ticks.is_multiple_of(5)
            && let Err(error) = housekeeping(&app).await
        {
            tracing::warn!(error = format!("{error:#}"), "housekeeping failed; trying again");
        }
        if ticks.is_multiple_of(240)
            && let Err(error) = sync_groups(&app).await
        {
            tracing::warn!(error = format!("{error:#}"), "groups could not be synced; trying again");
        }
        ticks += 1;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            () = cancel.cancelled() => {}
        }
    }
}
