//! The API's skin: faults, authentication, dispatch. What a request means is in `rest`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Request, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::change::Refusal;
use super::{Inner, rest};
use crate::fake::faults::Faults;
use crate::fake::wire::Asked;

/// An answer that is yet to be drawn.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body,
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self {
            status: refusal.status,
            headers: Vec::new(),
            body: refusal.body,
        }
    }
}

pub(crate) async fn answer(
    State(inner): State<watch::Receiver<Option<Arc<Inner>>>>,
    request: Request<Body>,
) -> Response<Body> {
    let asked = Asked::read(request).await;
    let inner = inner.borrow().clone();
    let inner = inner.expect("nobody knows the address before the fake is whole");
    let answer = decide(&inner, &asked).await;
    inner.desk().requests.push(super::Request {
        method: asked.method.to_string(),
        path: asked.path.clone(),
        body: asked.json(),
        status: answer.status,
    });
    draw(answer)
}

async fn decide(inner: &Arc<Inner>, asked: &Asked) -> Answer {
    let write = asked.method != Method::GET;
    let lose_answer = {
        let mut desk = inner.desk();
        if let Some(answer) = fault(inner, &mut desk.faults, asked) {
            return answer;
        }
        desk.faults.breaks_after(write)
    };
    if let Err(answer) = authenticated(asked) {
        return answer;
    }
    let (answer, changed) = rest::dispatch(inner, asked);
    if let Some(changed) = changed {
        inner.queue_echo(changed);
        if inner.desk().hooks.echo_first {
            inner.deliver_echoes().await;
        }
    }
    if lose_answer {
        asked.breaker.breaks();
    }
    answer
}

fn fault(inner: &Inner, faults: &mut Faults, asked: &Asked) -> Option<Answer> {
    let write = asked.method != Method::GET;
    if faults.breaks_before(write) {
        asked.breaker.breaks();
        return Some(Answer::ok(Value::Null));
    }
    if faults.down {
        return Some(Answer {
            status: 503,
            headers: vec![
                ("retry-after", "60".to_owned()),
                ("content-type", "text/html".to_owned()),
            ],
            body: json!("<html><body><h1>Service Unavailable</h1></body></html>"),
        });
    }
    faults.wait(inner.clock.now()).map(too_many)
}

pub(crate) fn too_many(seconds: i64) -> Answer {
    let mut answer = Answer::from(Refusal::new(429, "TooManyRequests", "You have exceeded the rate limit"));
    answer.headers = vec![
        ("retry-after", seconds.to_string()),
        ("x-rate-limit", "700".to_owned()),
        ("x-rate-limit-remaining", "0".to_owned()),
        ("ratelimit-reset", seconds.to_string()),
    ];
    answer
}

/// Basic authentication as `email/token:TOKEN`. Who shows nothing is nobody, which only `users/me` takes.
fn authenticated(asked: &Asked) -> Result<(), Answer> {
    let expected = BASE64_STANDARD.encode(format!("{}/token:{}", super::EMAIL, super::TOKEN));
    match asked.header("authorization") {
        Some(given) if given == format!("Basic {expected}") => Ok(()),
        None if asked.path.trim_end_matches(".json") == "/api/v2/users/me" => Err(Answer::ok(super::show::nobody())),
        Some(_) | None => Err(Answer {
            status: 401,
            headers: vec![("www-authenticate", "Basic realm=\"Web Password\"".to_owned())],
            body: json!({ "error": "Couldn't authenticate you" }),
        }),
    }
}

fn draw(answer: Answer) -> Response<Body> {
    let mut response = Response::builder().status(answer.status);
    let mut typed = false;
    for (name, value) in answer.headers {
        typed |= name == "content-type";
        response = response.header(name, value);
    }
    let body = match (typed, answer.body) {
        (true, Value::String(text)) => text,
        (_, body) => {
            response = response.header("content-type", "application/json; charset=utf-8");
            body.to_string()
        }
    };
    response
        .body(Body::from(body))
        .expect("a status, plain headers and a text")
}
