//! `POST /webhooks/…`: what help desks send. What is verified is never lost, whatever its shape.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_adapters::signature::{self, Refused, ZendeskPolicy};
use deskhand_adapters::zendesk::inbound;
use deskhand_core::inbound::{Happening, Inbound};
use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{Body, body, header, intake, unauthorized, unavailable};
use crate::app::App;

pub async fn zendesk(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    let raw = match body(raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    if let Err(refused) = verify_zendesk(&app, &headers, &raw) {
        return unauthorized(&refused);
    }
    let mapped = map_zendesk(&app, &headers, &raw).await;
    let delivery = Delivery {
        source: Source::Zendesk,
        delivery_id: inbound::delivery_id(&headers, &raw),
        headers: kept_headers(&headers),
        body: raw.to_vec(),
        mapped,
    };
    match intake::accept(&app, delivery).await {
        Ok(accepted) => {
            let ticket = accepted.ticket.map(|ticket| ticket.to_string());
            (
                StatusCode::OK,
                axum::Json(json!({ "repeat": accepted.repeat, "ticket": ticket })),
            )
                .into_response()
        }
        Err(error) => unavailable(&error),
    }
}

fn verify_zendesk(app: &App, headers: &HeaderMap, raw: &[u8]) -> Result<(), Refused> {
    let secret = app.config.zendesk.as_ref().map(|zendesk| &zendesk.webhook_secret);
    let secret = secret.ok_or(Refused::NoSecret)?;
    signature::zendesk(
        secret.expose_secret(),
        header(headers, "x-zendesk-webhook-signature-timestamp")?,
        header(headers, "x-zendesk-webhook-signature")?,
        raw,
        app.clock.now(),
        ZendeskPolicy::default(),
    )
}

/// From bytes to what happened. Without an API account the trigger's own words must do.
pub async fn map_zendesk(app: &App, headers: &HeaderMap, raw: &[u8]) -> Result<Inbound, String> {
    let ours = app.zendesk_author.read().await.clone();
    let mut read = inbound::read(headers, raw, &ours).map_err(|error| error.to_string())?;
    if let (Happening::NeedsRead { .. }, Some(preview)) = (&read.inbound.what, read.preview.take())
        && !app.desks.contains_key(&Source::Zendesk)
    {
        read.inbound.what = Happening::Told(preview);
    }
    Ok(read.inbound)
}

/// The headers that mapping needs again; no signatures, no cookies.
fn kept_headers(headers: &HeaderMap) -> Value {
    let kept = headers
        .iter()
        .filter(|(name, _)| {
            name.as_str().starts_with("x-zendesk-") && !name.as_str().contains("signature")
                || name.as_str() == "content-type"
        })
        .filter_map(|(name, value)| Some((name.to_string(), Value::String(value.to_str().ok()?.to_owned()))));
    Value::Object(kept.collect())
}

/// Headers as the inbox kept them.
pub fn headers_from(kept: &Value) -> HeaderMap {
    let pairs = kept.as_object().into_iter().flatten();
    pairs
        .filter_map(|(name, value)| {
            let name: axum::http::HeaderName = name.parse().ok()?;
            Some((name, value.as_str()?.parse().ok()?))
        })
        .collect()
}
