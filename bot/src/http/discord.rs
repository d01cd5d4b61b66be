//! `POST /discord/interactions`: clicks, forms and commands. The HTTP answer is the answer that people see, within
//! Discord's three seconds and after the commit.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::discord::inbound::{self, DiscordInbound};
use deskhand_adapters::postgres::inbox;
use deskhand_adapters::signature::{self, Refused};

use super::{Body, body, header, unauthorized, unavailable};
use crate::app::App;
use crate::discord;

pub async fn interactions(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    let raw = match body(raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    // Discord sends wrong signatures on purpose and takes an address away that does not refuse them.
    if let Err(refused) = verify(&app, &headers, &raw) {
        return unauthorized(&refused);
    }
    let (inbound, unread) = match inbound::interaction(&raw) {
        Ok(DiscordInbound::Unknown { why }) => (Some(DiscordInbound::Unknown { why: why.clone() }), Some(why)),
        Ok(inbound) => (Some(inbound), None),
        Err(error) => (None, Some(error.to_string())),
    };
    // Verified but not served: kept as bytes, for the operator.
    if let Some(why) = unread {
        let delivery = format!("unread-{}", deskhand_core::digest::of(&raw.as_ref()));
        if let Err(error) = inbox::keep_unmapped(&app.pool, "discord", &delivery, &raw, &why).await {
            return unavailable(&error);
        }
    }
    match inbound {
        Some(inbound) => axum::Json(discord::answer(&app, inbound).await).into_response(),
        None => StatusCode::OK.into_response(),
    }
}

fn verify(app: &App, headers: &HeaderMap, raw: &[u8]) -> Result<(), Refused> {
    let key = app
        .config
        .discord
        .as_ref()
        .map(|discord| discord.public_key.as_str())
        .ok_or(Refused::NoSecret)?;
    signature::discord(
        key,
        header(headers, "x-signature-timestamp")?,
        header(headers, "x-signature-ed25519")?,
        raw,
    )
}
