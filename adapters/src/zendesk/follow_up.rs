//! A follow-up of a closed ticket: a new ticket that names the old one.

use deskhand_core::port::{DeskWrite, PortError, Receipt};
use serde_json::json;

use super::http::{Ask, Http};
use super::update::{comment, comment_receipt, current, find, integer};
use super::wire::{MARKER, TicketAnswer};

/// Follow-ups looked through for a lost one, newest first.
const MOST_FOLLOW_UPS: usize = 5;

/// Opens it, for the old ticket's requester: a new ticket without a requester would be the bot's own, and the answer would
/// reach nobody. The marker is the idempotency key, which Zendesk keeps for two hours.
pub(super) async fn open(http: &Http, write: &DeskWrite, subject: &str, text: &str) -> Result<Receipt, PortError> {
    let old = current(http, &write.outside_id).await?.ticket;
    let requester = old.requester_id.ok_or_else(|| {
        PortError::permanent("The closed ticket has no requester, so a follow-up would reach nobody.")
    })?;
    let body = json!({ "ticket": {
        "via_followup_source_id": integer(&write.outside_id)?,
        "requester_id": integer(&requester.0)?,
        "subject": subject,
        "comment": comment(text, true)?,
        "metadata": { MARKER: write.marker },
    }});
    let answer: TicketAnswer = http.ask(Ask::create(&body, &write.marker)).await?;
    let number = &answer.ticket.id.0;
    let receipt = match answer.audit.as_ref().and_then(comment_receipt) {
        Some(receipt) => Some(receipt),
        None => find(http, number, &write.marker).await.unwrap_or(None),
    };
    Ok(Receipt {
        remote_id: receipt.map_or_else(|| format!("ticket:{number}"), |receipt| receipt.remote_id),
        remark: Some(format!("Follow-up ticket zendesk:{number}.")),
    })
}

/// Looks for it among the old ticket's follow-ups.
pub(super) async fn find_among(http: &Http, ticket: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
    let mut ids = current(http, ticket).await?.ticket.followup_ids.unwrap_or_default();
    ids.sort_by_key(|id| std::cmp::Reverse(id.0.parse::<u64>().unwrap_or(0)));
    for id in ids.iter().take(MOST_FOLLOW_UPS).filter(|id| integer(&id.0).is_ok()) {
        if let Some(mut receipt) = find(http, &id.0, marker).await? {
            receipt.remark = Some(format!("Follow-up ticket zendesk:{}.", id.0));
            return Ok(Some(receipt));
        }
    }
    Ok(None)
}
