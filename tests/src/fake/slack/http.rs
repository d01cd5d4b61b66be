//! The Web API's skin: faults, tokens, arguments in all three forms, dispatch.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::{Inner, chat, lookups, response_url, views};
use crate::fake::spec;
use crate::fake::wire::Asked;

/// Slack's error code, and what may stand beside it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: String,
    pub(crate) details: Vec<String>,
    pub(crate) retry_after: Option<i64>,
}

impl From<&str> for Refused {
    fn from(error: &str) -> Self {
        Self {
            error: error.to_owned(),
            details: Vec::new(),
            retry_after: None,
        }
    }
}

impl Refused {
    pub(crate) fn slow_down(seconds: i64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..Self::from("ratelimited")
        }
    }

    pub(crate) fn with_details(error: &str, details: Vec<String>) -> Self {
        Self {
            details,
            ..Self::from(error)
        }
    }
}

pub(crate) type Arguments = Map<String, Value>;
pub(crate) type Outcome = Result<Value, Refused>;

pub(crate) async fn answer(
    State(inner): State<watch::Receiver<Option<Arc<Inner>>>>,
    request: Request<Body>,
) -> Response<Body> {
    let asked = Asked::read(request).await;
    let inner = inner.borrow().clone();
    let inner = inner.expect("nobody knows the address before the fake is whole");
    let response = match asked.path.split_once("/api/") {
        Some(("", method)) => api(&inner, &asked, method),
        _ => match asked.path.strip_prefix("/response/") {
            Some(token) => response_url::used(&inner, &asked, token),
            None if asked.path.starts_with("/files/") => file(&inner, &asked),
            None => draw(404, Vec::new(), "not found".to_owned()),
        },
    };
    inner.changes.send_modify(|n| *n += 1);
    response
}

fn api(inner: &Inner, asked: &Asked, method: &str) -> Response<Body> {
    let write = method.starts_with("chat.") && method != "chat.getPermalink";
    {
        let faults = &mut inner.team().faults;
        if faults.breaks_before(write) {
            asked.breaker.breaks();
            return draw(200, Vec::new(), String::new());
        }
        if faults.down {
            let headers = vec![
                ("retry-after", "30".to_owned()),
                ("content-type", "text/html".to_owned()),
            ];
            return draw(503, headers, "<html><body>Service Unavailable</body></html>".to_owned());
        }
    }
    let read = arguments(asked);
    let outcome = read
        .as_ref()
        .map_err(|error| Refused::from(*error))
        .and_then(|arguments| {
            let faults = spec::slack_faults(method, arguments);
            inner.team().violations.extend(faults);
            limited(inner)?;
            authenticated(asked, arguments, method)?;
            dispatch(inner, method, arguments)
        });
    let mut team = inner.team();
    team.requests.push(super::Request {
        method: method.to_owned(),
        arguments: read.map_or(Value::Null, Value::Object),
        outcome: outcome
            .as_ref()
            .map_or_else(|refused| refused.error.clone(), |_| "ok".to_owned()),
    });
    if team.faults.breaks_after(write && outcome.is_ok()) {
        asked.breaker.breaks();
    }
    drop(team);
    drawn(outcome)
}

/// What a file holds, for the bot's token. Whoever has none is led to a page for signing in.
fn file(inner: &Inner, asked: &Asked) -> Response<Body> {
    let token = asked
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    if token != Some(super::BOT_TOKEN) {
        return draw(
            302,
            vec![("location", "https://shop.slack.example/signin".to_owned())],
            String::new(),
        );
    }
    let (down, content) = {
        let team = inner.team();
        (team.faults.down, team.state.files.get(&asked.path).cloned())
    };
    match content {
        _ if down => draw(503, Vec::new(), String::new()),
        None => draw(404, Vec::new(), String::new()),
        Some(content) => Response::builder()
            .header("content-type", "application/octet-stream")
            .body(Body::from(content))
            .expect("a status and a body"),
    }
}

fn limited(inner: &Inner) -> Result<(), Refused> {
    let now = inner.clock.now();
    match inner.team().faults.wait(now) {
        Some(seconds) => Err(Refused::slow_down(seconds)),
        None => Ok(()),
    }
}

/// A bearer token in the header, or `token` among the arguments; JSON bodies take the header only.
fn authenticated(asked: &Asked, arguments: &Arguments, method: &str) -> Result<(), Refused> {
    let bearer = asked
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    let argument = arguments
        .get("token")
        .and_then(Value::as_str)
        .filter(|_| !is_json(asked));
    let expected = match method {
        "apps.connections.open" => super::APP_TOKEN,
        _ => super::BOT_TOKEN,
    };
    match bearer.or(argument) {
        Some(token) if token == expected => Ok(()),
        Some(super::BOT_TOKEN | super::APP_TOKEN) => Err("not_allowed_token_type".into()),
        Some(_) => Err("invalid_auth".into()),
        None => Err("not_authed".into()),
    }
}

fn is_json(asked: &Asked) -> bool {
    asked
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
}

/// Arguments from the query, and from a JSON or form body. What is JSON inside a form is parsed.
fn arguments(asked: &Asked) -> Result<Arguments, &'static str> {
    let mut all: Arguments = asked
        .query
        .iter()
        .map(|(name, value)| (name.clone(), parsed(name, value)))
        .collect();
    if asked.body.is_empty() {
        return Ok(all);
    }
    if is_json(asked) {
        return match serde_json::from_slice(&asked.body) {
            Ok(Value::Object(body)) => {
                all.extend(body);
                Ok(all)
            }
            Ok(_) => Err("json_not_object"),
            Err(_) => Err("invalid_json"),
        };
    }
    let form = asked
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !form {
        return Err("invalid_post_type");
    }
    let pairs = url::form_urlencoded::parse(&asked.body).into_owned();
    all.extend(pairs.map(|(name, value)| {
        let value = parsed(&name, &value);
        (name, value)
    }));
    Ok(all)
}

fn parsed(name: &str, value: &str) -> Value {
    let structured = matches!(name, "blocks" | "attachments" | "metadata" | "view");
    let json = structured.then(|| serde_json::from_str(value).ok()).flatten();
    json.unwrap_or_else(|| Value::String(value.to_owned()))
}

fn dispatch(inner: &Inner, method: &str, arguments: &Arguments) -> Outcome {
    let now = inner.clock.now();
    let team = &mut *inner.team();
    match method {
        "chat.postMessage" => chat::post(team, arguments, now),
        "chat.update" => chat::update(team, arguments, now),
        "chat.delete" => chat::delete(team, arguments, now),
        "chat.postEphemeral" => chat::post_ephemeral(team, arguments, now),
        "chat.getPermalink" => lookups::permalink(team, arguments),
        "conversations.history" => lookups::history(team, arguments),
        "conversations.replies" => lookups::replies(team, arguments),
        "conversations.info" => lookups::channel(team, arguments),
        "conversations.open" => lookups::direct(team, arguments),
        "users.info" => lookups::person(team, arguments),
        "usergroups.users.list" => lookups::group(team, arguments),
        "usergroups.list" => Ok(lookups::groups(team)),
        "views.open" => views::open(team, arguments, now),
        "views.update" => views::update(team, arguments, now),
        "auth.test" => Ok(lookups::who_am_i()),
        "apps.connections.open" => Ok(json!({ "url": format!("{}/link/?ticket=1", inner.url.replace("http", "ws")) })),
        _ => Err("unknown_method".into()),
    }
}

fn drawn(outcome: Outcome) -> Response<Body> {
    match outcome {
        Ok(mut body) => {
            body["ok"] = true.into();
            draw(200, Vec::new(), body.to_string())
        }
        Err(refused) => {
            let mut body = json!({ "ok": false, "error": refused.error });
            if !refused.details.is_empty() {
                let marked: Vec<_> = refused
                    .details
                    .iter()
                    .map(|detail| format!("[ERROR] {detail}"))
                    .collect();
                body["errors"] = json!(refused.details);
                body["response_metadata"] = json!({ "messages": marked });
            }
            match refused.retry_after {
                Some(seconds) => draw(429, vec![("retry-after", seconds.to_string())], body.to_string()),
                None => draw(200, Vec::new(), body.to_string()),
            }
        }
    }
}

pub(super) fn draw(status: u16, headers: Vec<(&'static str, String)>, body: String) -> Response<Body> {
    let mut response = Response::builder().status(status);
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        response = response.header("content-type", "application/json; charset=utf-8");
    }
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from(body))
        .expect("a status, plain headers and a text")
}
