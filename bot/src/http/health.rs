//! For load balancers and operators: alive, ready, and figures.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use deskhand_adapters::postgres::{approvals, outbox, runs};
use std::fmt::Write;
use std::sync::atomic::Ordering;

use super::{sentence, unavailable};
use crate::app::App;

pub async fn live() -> &'static str {
    "alive\n"
}

/// Ready means: not shutting down, and the database answers.
pub async fn ready(State(app): State<App>) -> Response {
    if app.closing.load(Ordering::Relaxed) {
        return sentence(StatusCode::SERVICE_UNAVAILABLE, "Shutting down.");
    }
    match app.mode().await {
        Ok(_) => "ready\n".into_response(),
        Err(error) => unavailable(&error),
    }
}

/// Figures in Prometheus' text format, read from the tables: they are right after a restart and on every replica.
pub async fn metrics(State(app): State<App>) -> Response {
    match figures(&app).await {
        Ok(text) => ([("content-type", "text/plain; version=0.0.4")], text).into_response(),
        Err(error) => unavailable(&error),
    }
}

async fn figures(app: &App) -> sqlx::Result<String> {
    let mut text = String::from("# TYPE deskhand_runs gauge\n");
    for (state, count) in runs::counts(&app.pool).await? {
        let _ = writeln!(text, "deskhand_runs{{state=\"{state}\"}} {count}");
    }
    let open = approvals::read(&app.pool, approvals::Which::Open).await?.len();
    let _ = writeln!(
        text,
        "# TYPE deskhand_approvals_open gauge\ndeskhand_approvals_open {open}"
    );
    text.push_str("# TYPE deskhand_effects gauge\n");
    for (kind, state, count) in outbox::counts(&app.pool).await? {
        let _ = writeln!(text, "deskhand_effects{{kind=\"{kind}\",state=\"{state}\"}} {count}");
    }
    let at_work = app.at_work.load(Ordering::Relaxed);
    let _ = writeln!(
        text,
        "# TYPE deskhand_runs_at_work gauge\ndeskhand_runs_at_work {at_work}"
    );
    Ok(text)
}
