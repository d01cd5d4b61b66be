//! Where headers and cards stand in a chat: a view of rows, kept so that it can be edited.

use deskhand_core::id::{ApprovalId, TicketId};
use deskhand_core::port::Place;
use sqlx::{PgConnection, PgExecutor};

/// Remembers where something was posted. Of two that raced, the first stays and is given back.
pub async fn remember(
    tx: &mut PgConnection,
    ticket: TicketId,
    approval: Option<ApprovalId>,
    chat: &str,
    place: &Place,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO place (ticket_id, approval_id, chat, channel, message) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING",
        ticket.0,
        approval.map(|id| id.0),
        chat,
        place.channel,
        place.message,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// The ticket's header in a channel.
pub async fn header(
    db: impl PgExecutor<'_>,
    ticket: TicketId,
    chat: &str,
    channel: &str,
) -> sqlx::Result<Option<Place>> {
    sqlx::query_as!(
        Place,
        "SELECT channel, message FROM place
          WHERE ticket_id = $1 AND chat = $2 AND channel = $3 AND approval_id IS NULL",
        ticket.0,
        chat,
        channel,
    )
    .fetch_optional(db)
    .await
}

/// The approval's card in a channel.
pub async fn card(db: impl PgExecutor<'_>, id: ApprovalId, chat: &str, channel: &str) -> sqlx::Result<Option<Place>> {
    sqlx::query_as!(
        Place,
        "SELECT channel, message FROM place WHERE approval_id = $1 AND chat = $2 AND channel = $3",
        id.0,
        chat,
        channel,
    )
    .fetch_optional(db)
    .await
}

/// Forgets a place whose message is gone, so that it is posted anew.
pub async fn forget(db: impl PgExecutor<'_>, chat: &str, place: &Place) -> sqlx::Result<()> {
    sqlx::query!(
        "DELETE FROM place WHERE chat = $1 AND channel = $2 AND message = $3",
        chat,
        place.channel,
        place.message
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Whose thread a message belongs to: the ticket, and the approval where it is a card.
pub async fn at(
    db: impl PgExecutor<'_>,
    chat: &str,
    channel: &str,
    message: &str,
) -> sqlx::Result<Option<(TicketId, Option<ApprovalId>)>> {
    let row = sqlx::query!(
        "SELECT ticket_id, approval_id FROM place WHERE chat = $1 AND channel = $2 AND message = $3",
        chat,
        channel,
        message,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| (TicketId(row.ticket_id), row.approval_id.map(ApprovalId))))
}
