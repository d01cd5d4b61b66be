//! The REST API's skin: tokens, faults, the OpenAPI, and errors as Discord draws them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request as HttpRequest, Response};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::check::Refused;
use super::{BOT_TOKEN, Inner, Request, rest};
use crate::fake::spec;
use crate::fake::wire::Asked;

pub(super) async fn answer(
    State(inner): State<watch::Receiver<Option<Arc<Inner>>>>,
    request: HttpRequest<Body>,
) -> Response<Body> {
    let asked = Asked::read(request).await;
    let inner = inner.borrow().clone().expect("the fake has started");
    let (status, body) = match served(&inner, &asked) {
        Ok(Value::Null) => (204, Value::Null),
        Ok(body) => (200, body),
        Err(refused) => (refused.status, refused.body),
    };
    let text = if status == 204 { String::new() } else { body.to_string() };
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    if status == 429 {
        response = response.header("retry-after", "1").header("x-ratelimit-scope", "user");
    }
    response
        .body(Body::from(text))
        .expect("a status, plain headers and a text")
}

fn served(inner: &Inner, asked: &Asked) -> Result<Value, Refused> {
    let method = asked.method.as_str().to_owned();
    let path = asked.path.trim_start_matches("/api/v10").to_owned();
    let (body, file) = sent(asked);
    let now = inner.clock.now();
    let mut guild = inner.guild();
    let outcome = (|| {
        if guild.faults.down {
            return Err(Refused {
                status: 503,
                body: Value::Null,
            });
        }
        let by_token = path.starts_with("/webhooks/") || path.starts_with("/interactions/");
        if !by_token && asked.header("authorization") != Some(&format!("Bot {BOT_TOKEN}")) {
            return Err(Refused::of(401, 0, "401: Unauthorized"));
        }
        if by_token && asked.header("authorization").is_some() {
            guild
                .violations
                .push("the bot token went to an address that needs none".into());
        }
        if guild.slow > 0 {
            guild.slow -= 1;
            let body = json!({ "message": "You are being rate limited.", "retry_after": 0.01, "global": false });
            return Err(Refused { status: 429, body });
        }
        let faults = spec::discord_faults(&method, &path, &body);
        guild.violations.extend(faults);
        rest::call(&mut guild, asked, &path, &body, file, now)
    })();
    let status = match &outcome {
        Ok(_) => 200,
        Err(refused) => refused.status,
    };
    let writes = method == "POST" && path.ends_with("/messages") && outcome.is_ok();
    if guild.faults.breaks_after(writes) {
        asked.breaker.breaks();
    }
    guild.requests.push(Request {
        method,
        path,
        body,
        status,
    });
    outcome
}

/// The JSON of a request, and the text of the file beside it.
fn sent(asked: &Asked) -> (Value, Option<String>) {
    let kind = asked.header("content-type").unwrap_or_default();
    let Some((_, boundary)) = kind.split_once("boundary=") else {
        return (asked.json(), None);
    };
    let whole = String::from_utf8_lossy(&asked.body).into_owned();
    let line = format!("--{boundary}");
    let part = |name: &str| {
        let all = whole.split(&line);
        let mut found = all.filter_map(|part| part.split_once("\r\n\r\n"));
        let found = found.find(|(head, _)| head.contains(&format!("name=\"{name}\"")));
        found.map(|(_, body)| body.trim_end_matches("\r\n").to_owned())
    };
    let json = part("payload_json").and_then(|json| serde_json::from_str(&json).ok());
    (json.unwrap_or_default(), part("files[0]"))
}
