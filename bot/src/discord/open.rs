//! A ticket from a message: what "Triage this" makes of one that names no ticket.

use deskhand_adapters::discord::desk;
use deskhand_adapters::discord::inbound::OnMessage;
use deskhand_adapters::discord::reply;
use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_adapters::postgres::tickets;
use deskhand_core::command::Authority;
use deskhand_core::inbound::{Happening, Inbound, Told};
use deskhand_core::ticket::{OutsideId, Source};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::intake;
use crate::people;

/// A message in the thread of a ticket is a comment on it; any other opens one. A repeat changes nothing.
pub(super) async fn from_message(app: &App, on: OnMessage) -> anyhow::Result<Value> {
    let OnMessage { origin, message } = on;
    match people::may_command(app, Authority::Team, &origin.by).await? {
        Some(true) => {}
        Some(false) => return Ok(reply::private("This is for the support team; nothing was done.")),
        None => {
            return Ok(reply::private(
                "Your rights could not be checked just now. Try again in a minute.",
            ));
        }
    }
    if message.by_bot || message.author.is_none() {
        return Ok(reply::private(
            "A bot wrote this; only what people wrote becomes a ticket.",
        ));
    }
    if message.text.is_empty() {
        return Ok(reply::private("This message has no words; nothing was done."));
    }
    let of = |channel: &str, id: &str| OutsideId {
        source: Source::Discord,
        id: format!("{channel}/{id}"),
    };
    // A thread has the id of the message that it hangs on; a forum's post stands in the thread itself.
    let above = match &message.thread_of {
        Some(parent) => [of(parent, &message.channel), of(&message.channel, &message.channel)],
        None => [of(&message.channel, &message.id), of(&message.channel, &message.id)],
    };
    let mut known = None;
    for outside in above {
        if known.is_none() && tickets::find_outside(&app.pool, &outside).await?.is_some() {
            known = Some(outside);
        }
    }
    let joins = known.is_some();
    let outside = known.unwrap_or_else(|| of(&message.channel, &message.id));
    let told = told(app, &outside, &message, joins).await?;
    let delivery = Delivery {
        source: Source::Discord,
        delivery_id: format!("message-{}", message.id),
        headers: json!({}),
        body: serde_json::to_vec(&json!({ "channel": message.channel, "id": message.id, "text": message.text }))?,
        mapped: Ok(Inbound {
            ticket: outside.clone(),
            what: Happening::Told(Box::new(told)),
        }),
    };
    let accepted = intake::accept(app, delivery)
        .await
        .map_err(|why| anyhow::anyhow!(why))?;
    let id = tickets::find_outside(&app.pool, &outside).await?;
    let ticket = id.map_or_else(|| "a ticket".to_owned(), |id| id.to_string());
    Ok(reply::private(&match (accepted.repeat, joins) {
        (true, _) => format!("This message is on {ticket} already."),
        (false, true) => format!("This message was added to {ticket}."),
        (false, false) => format!("This message is {ticket} now; its approved answer goes into the message's thread."),
    }))
}

/// What the ticket hears of it: everything where it is new, the words alone where it is known.
async fn told(
    app: &App,
    outside: &OutsideId,
    message: &deskhand_adapters::discord::inbound::Message,
    joins: bool,
) -> anyhow::Result<Told> {
    if !joins {
        let requester = desk::requester(message);
        let guild = app.discord.as_ref().and_then(|discord| discord.known_guild());
        return Ok(Told {
            subject: Some(desk::subject(&message.text)),
            url: Some(desk::url(guild, &message.channel, &message.id)),
            comments: vec![desk::comment(message, &requester)],
            requester: Some(requester),
            ..Told::default()
        });
    }
    let first = match tickets::find_outside(&app.pool, outside).await? {
        Some(id) => tickets::get(&app.pool, id).await?.map(|whole| whole.ticket.requester),
        None => None,
    };
    Ok(Told {
        comments: vec![desk::comment(message, &first.unwrap_or_default())],
        ..Told::default()
    })
}
