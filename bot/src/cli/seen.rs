//! What a person at the terminal has seen of a ticket's newest run, and whether more of it comes by itself.

use deskhand_adapters::postgres::approvals::{self, Which};
use deskhand_adapters::postgres::helpers;
use deskhand_adapters::postgres::runs::{self, Shown};
use deskhand_core::approval::ApprovalState;
use deskhand_core::follow::Cursor;
use deskhand_core::id::{RunId, TicketId};
use uuid::Uuid;

use crate::app::App;
use crate::follow::Reader;

/// How much of the ticket's newest run was told before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    run: Option<Uuid>,
    step: i32,
}

impl Seen {
    /// Everything up to now counts as told.
    pub(super) async fn all(app: &App, ticket: TicketId) -> sqlx::Result<Self> {
        let Some(run) = newest(app, ticket).await? else {
            return Ok(Self::default());
        };
        let looked = runs::look(&app.pool, RunId(run.id), false).await?;
        Ok(Self {
            run: Some(run.id),
            step: looked.and_then(|run| run.last).unwrap_or(0),
        })
    }

    /// Where the telling of this run begins.
    pub(super) fn cursor(self, run: Uuid) -> Cursor {
        Cursor {
            step: if self.run == Some(run) { self.step } else { 0 },
            ..Cursor::default()
        }
    }

    pub(super) fn up_to(run: Uuid, reader: &Reader) -> Self {
        Self {
            run: Some(run),
            step: reader.with_log(|log| log.last()),
        }
    }
}

pub(super) async fn newest(app: &App, ticket: TicketId) -> sqlx::Result<Option<Shown>> {
    Ok(runs::of_ticket(&app.pool, ticket).await?.into_iter().next())
}

/// Whether the run waits for its helpers alone, who go on without anybody.
pub(super) async fn is_helped(app: &App, run: &Shown) -> anyhow::Result<bool> {
    if run.state != "waiting" || run.paused || run.ending.is_some() {
        return Ok(false);
    }
    let ticket = TicketId(run.ticket_id);
    let asked = approvals::read(&app.pool, Which::OfTicket(ticket)).await?;
    if asked
        .iter()
        .any(|row| row.state == ApprovalState::Open && !row.recorded)
    {
        return Ok(false);
    }
    Ok(!helpers::at_work(&app.pool, ticket).await?.is_empty())
}
