//! `POST /discord/interactions`: clicks, forms and commands. The HTTP answer is the answer that people see, within
//! Discord's three seconds and after the commit.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::discord::inbound;
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
    match inbound::interaction(&raw) {
        Ok(inbound) => match discord::taken(&app, inbound, &raw).await {
            Ok(answer) => axum::Json(answer).into_response(),
            Err(error) => unavailable(&error),
        },
        // Verified but unreadable: kept as bytes, for the operator.
        Err(error) => match discord::keep_unread(&app, &raw, &error.to_string()).await {
            Ok(()) => StatusCode::OK.into_response(),
            Err(error) => unavailable(&error),
        },
    }
}

fn verify(app: &App, headers: &HeaderMap, raw: &[u8]) -> Result<(), Refused> {
    let key = app
        .config
        .discord
        .as_ref()
        .and_then(|discord| discord.public_key.as_deref())
        .ok_or(Refused::NoSecret)?;
    signature::discord(
        key,
        header(headers, "x-signature-timestamp")?,
        header(headers, "x-signature-ed25519")?,
        raw,
    )
}
