//! Response URLs: five answers in thirty minutes, to one person unless they say `in_channel`.

use axum::body::Body;
use axum::http::Response;
use serde_json::Value;

use super::blocks::{self, Surface};
use super::http::draw;
use super::state::{Message, Private};
use super::{BOT, Inner, Request, TEAM, Team};
use crate::fake::wire::Asked;

pub(super) fn used(inner: &Inner, asked: &Asked, token: &str) -> Response<Body> {
    let now = inner.clock.now();
    let mut team = inner.team();
    let outcome = answer(&mut team, asked, token, now);
    team.requests.push(Request {
        method: "response_url".to_owned(),
        arguments: asked.json(),
        outcome: outcome.clone().map_or_else(|(_, error)| error, |()| "ok".to_owned()),
    });
    match outcome {
        Ok(()) => draw(200, Vec::new(), "ok".to_owned()),
        Err((status, error)) => draw(status, Vec::new(), error),
    }
}

fn answer(
    team: &mut Team,
    asked: &Asked,
    token: &str,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<(), (u16, String)> {
    let refuse = |status: u16, error: &str| (status, error.to_owned());
    let body = asked.json();
    let known = team.state.answerables.iter_mut().find(|known| known.token == token);
    let known = known.ok_or_else(|| refuse(404, "no_team"))?;
    if now > known.until {
        return Err(refuse(404, "expired_url"));
    }
    if known.uses >= 5 {
        return Err(refuse(404, "used_url"));
    }
    known.uses += 1;
    let known = known.clone();
    let sent = body["blocks"].as_array().cloned().unwrap_or_default();
    blocks::check(&sent, Surface::Message).map_err(|refused| (400, refused.error))?;
    let drawn = blocks::with_ids(&sent, || team.state.fresh());
    let text = body["text"].as_str().unwrap_or("").to_owned();
    if body["delete_original"] == true {
        let original = known
            .message
            .as_deref()
            .and_then(|ts| team.state.message_mut(&known.channel, ts));
        original.ok_or_else(|| refuse(404, "message_not_found"))?.deleted = true;
        return Ok(());
    }
    if text.is_empty() && drawn.is_empty() {
        return Err(refuse(400, "no_text"));
    }
    let original = known.message.as_deref().filter(|_| body["replace_original"] == true);
    if let Some(message) = original.and_then(|ts| team.state.message_mut(&known.channel, ts)) {
        let earlier = std::mem::replace(&mut message.blocks, drawn);
        message.earlier.push(earlier);
        message.text = text;
        return Ok(());
    }
    let thread_ts = body["thread_ts"].as_str().map(str::to_owned).or(known.thread_ts);
    if body["response_type"] == "in_channel" {
        let ts = team.state.fresh_ts(now);
        team.state.messages.push(Message {
            channel: known.channel,
            ts,
            thread_ts,
            user: BOT.to_owned(),
            team: TEAM.to_owned(),
            files: Vec::new(),
            text,
            blocks: drawn,
            metadata: None,
            broadcast: false,
            edited: None,
            deleted: false,
            earlier: Vec::new(),
            looked: false,
        });
        return Ok(());
    }
    team.state
        .privates
        .push(private(known.channel, known.person, thread_ts, text, drawn));
    Ok(())
}

pub(super) fn private(
    channel: String,
    to: String,
    thread_ts: Option<String>,
    text: String,
    blocks: Vec<Value>,
) -> Private {
    Private {
        channel,
        to,
        thread_ts,
        text,
        blocks,
        looked: false,
    }
}
