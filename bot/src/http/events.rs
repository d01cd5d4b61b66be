//! `GET /api/runs/{id}/events`: a run as it goes, as server-sent events that resume after `Last-Event-ID`.
//!
//! Only the shell: what a reader is told next is decided in [`deskhand_core::follow`], and read in [`crate::follow`].
//! The format is that of <https://html.spec.whatwg.org/multipage/server-sent-events.html>: by it, a 204 tells a browser
//! not to come again.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use deskhand_core::follow::{Cursor, Told};
use deskhand_core::id::RunId;
use futures_util::stream::{self, Stream};

use super::api::authorized;
use super::{sentence, unavailable};
use crate::app::App;
use crate::follow::Reader;

/// Proxies give up on a connection on which nothing comes for a minute or less.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub async fn events(State(app): State<App>, headers: HeaderMap, Path(run): Path<String>) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    let Ok(run) = run.parse::<RunId>() else {
        return sentence(StatusCode::BAD_REQUEST, "A run's id is a UUID.");
    };
    let from = match headers.get("last-event-id").map(HeaderValue::to_str) {
        None | Some(Ok("")) => Cursor::default(),
        Some(Ok(id)) => match id.parse() {
            Ok(cursor) => cursor,
            Err(error) => return sentence(StatusCode::BAD_REQUEST, format!("Last-Event-ID: {error}.")),
        },
        Some(Err(_)) => return sentence(StatusCode::BAD_REQUEST, "Last-Event-ID is no event's id."),
    };
    let mut reader = match app.followers.follow(&app, run, from).await {
        Ok(Some(reader)) => reader,
        Ok(None) => return sentence(StatusCode::NOT_FOUND, "There is no such run."),
        Err(error) => return unavailable(&error),
    };
    if reader.is_done() {
        return StatusCode::NO_CONTENT.into_response();
    }
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(told(reader)).keep_alive(alive).into_response();
    // nginx would hold events back: https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
    response
        .headers_mut()
        .insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn told(reader: Reader) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(
        (reader, VecDeque::<Told>::new()),
        |(mut reader, mut ready)| async move {
            if ready.is_empty() {
                ready.extend(reader.next().await?);
            }
            let told = ready.pop_front()?;
            let event = Event::default()
                .id(told.id.to_string())
                .event(told.event.name())
                .data(told.event.json());
            Some((Ok(event), (reader, ready)))
        },
    )
}
