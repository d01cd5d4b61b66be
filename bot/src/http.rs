//! The routes. A handler verifies, writes to Postgres and answers; it calls no outside system (but `views.open`, and
//! SNS for a certificate that it does not know yet).

pub mod api;
pub mod discord;
pub mod email;
pub mod events;
pub mod health;
pub mod intake;
pub mod slack;
pub mod webhooks;

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use deskhand_adapters::signature::{self, Refused};
use serde_json::json;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::app::App;

/// Zendesk's and Slack's payloads are small; a comment may have 64 KB, in three forms.
const WEBHOOK_LIMIT: usize = 2 * 1024 * 1024;
const SLACK_LIMIT: usize = 1024 * 1024;
const DISCORD_LIMIT: usize = 1024 * 1024;
const API_LIMIT: usize = 1024 * 1024;

pub fn router(app: App) -> Router {
    Router::new()
        .route(
            "/webhooks/zendesk",
            post(webhooks::zendesk).layer(DefaultBodyLimit::max(WEBHOOK_LIMIT)),
        )
        .route(
            "/webhooks/email/mailgun",
            post(email::mailgun).layer(DefaultBodyLimit::max(email::LIMIT)),
        )
        .route(
            "/webhooks/email/sendgrid",
            post(email::sendgrid).layer(DefaultBodyLimit::max(email::LIMIT)),
        )
        .route(
            "/webhooks/email/postmark",
            post(email::postmark).layer(DefaultBodyLimit::max(email::LIMIT)),
        )
        .route(
            "/webhooks/email/ses",
            post(email::ses).layer(DefaultBodyLimit::max(email::LIMIT)),
        )
        .route(
            "/webhooks/email/raw",
            post(email::raw).layer(DefaultBodyLimit::max(email::LIMIT)),
        )
        .route(
            "/slack/events",
            post(slack::events).layer(DefaultBodyLimit::max(SLACK_LIMIT)),
        )
        .route(
            "/slack/interactions",
            post(slack::interactions).layer(DefaultBodyLimit::max(SLACK_LIMIT)),
        )
        .route(
            "/slack/commands",
            post(slack::commands).layer(DefaultBodyLimit::max(SLACK_LIMIT)),
        )
        .route(
            "/discord/interactions",
            post(discord::interactions).layer(DefaultBodyLimit::max(DISCORD_LIMIT)),
        )
        .route(
            "/api/tickets",
            post(api::open).get(api::list).layer(DefaultBodyLimit::max(API_LIMIT)),
        )
        .route("/api/tickets/{ticket}", get(api::ticket))
        .route("/api/runs/{run}", get(api::run))
        .route("/api/runs/{run}/events", get(events::events))
        .route("/api/approvals", get(api::approvals))
        .route(
            "/api/approvals/{approval}/decide",
            post(api::decide).layer(DefaultBodyLimit::max(API_LIMIT)),
        )
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::new())
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            Duration::from_secs(30),
        ))
        .with_state(app)
}

async fn nothing_here() -> Response {
    sentence(StatusCode::NOT_FOUND, "There is nothing at this address.")
}

async fn wrong_method() -> Response {
    sentence(StatusCode::METHOD_NOT_ALLOWED, "This address takes another method.")
}

/// An answer in one sentence.
fn sentence(status: StatusCode, text: impl Into<String>) -> Response {
    (status, axum::Json(json!({ "error": text.into() }))).into_response()
}

/// Something of ours failed: the sender may try again in a moment.
fn unavailable(error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a request could not be served");
    let mut response = sentence(
        StatusCode::SERVICE_UNAVAILABLE,
        "Not available just now; try again in a moment.",
    );
    response
        .headers_mut()
        .insert("retry-after", axum::http::HeaderValue::from_static("5"));
    response
}

fn unauthorized(refused: &Refused) -> Response {
    tracing::warn!(%refused, "an unsigned or wrongly signed request was refused");
    sentence(StatusCode::UNAUTHORIZED, "The request is not signed as it should be.")
}

/// The one value of a header.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refused> {
    signature::only(headers.get_all(name).iter().map(axum::http::HeaderValue::as_bytes))
}

/// A body that was read whole, or 413 and the like in one sentence.
type Body = Result<Bytes, axum::extract::rejection::BytesRejection>;

fn body(body: Body) -> Result<Bytes, Response> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => sentence(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large."),
        status => sentence(status, "The body could not be read."),
    })
}
