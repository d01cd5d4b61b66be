//! A reply of ours that came back: it counts as undelivered, and people are told.

use deskhand_adapters::email::inbound::Thread;
use deskhand_adapters::postgres::mails;
use deskhand_adapters::postgres::outbox::{self, Kind, New};
use deskhand_adapters::postgres::tickets;
use deskhand_core::mail::robot::Bounce;
use deskhand_core::ticket::TicketState;
use serde_json::json;

use super::belongs;
use crate::app::App;
use crate::worker::header;

/// Before the bounce itself is stored: a crash in between has the provider send it again, and nothing is done twice.
pub(super) async fn tell(app: &App, bounce: &Bounce, thread: &Thread) -> anyhow::Result<()> {
    let effects = belongs::effects(&thread.effects, Some(bounce));
    if bounce.delayed || effects.is_empty() {
        return Ok(());
    }
    let Some(found) = mails::by_effects(&app.pool, &effects).await? else {
        return Ok(());
    };
    // Whoever it names must be the one whom we wrote to.
    if !bounce.recipients.is_empty() && !bounce.recipients.contains(&found.requester) {
        return Ok(());
    }
    let why = why(bounce);
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, found.id).await?;
    if mails::undelivered(&mut tx, &effects, &why).await? {
        let trouble = format!("The reply did not arrive: {why}");
        tickets::set_trouble(&mut tx, found.id, &trouble).await?;
        tickets::set_state(&mut tx, found.id, TicketState::Triaged).await?;
        let mut shown = header(app, found.id);
        for lane in app.home_lanes() {
            shown.push(New {
                payload: json!({ "text": format!("{}: {trouble}", found.id), "broadcast": true }),
                ..New::of(Kind::Line, found.id, lane)
            });
        }
        outbox::enqueue_and_refresh(&mut tx, found.id, &shown).await?;
    }
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(())
}

/// The receiving server's own words, as plain as they come; nothing of it is an address of anybody else.
fn why(bounce: &Bounce) -> String {
    // RFC 3464 puts the kind before it: "smtp; 550 5.1.1 unknown".
    let words = bounce.diagnostic.as_ref().map(|words| match words.split_once(';') {
        Some(("smtp" | "SMTP" | "X-Postfix" | "x-postfix" | "unix", said)) => said.trim().to_owned(),
        Some(_) | None => words.clone(),
    });
    match (&bounce.status, &words) {
        (Some(status), Some(words)) if words.contains(status.as_str()) => format!("the mail came back ({words})"),
        (Some(status), Some(words)) => format!("the mail came back ({status}: {words})"),
        (Some(one), None) | (None, Some(one)) => format!("the mail came back ({one})"),
        (None, None) => "the mail came back".to_owned(),
    }
}
