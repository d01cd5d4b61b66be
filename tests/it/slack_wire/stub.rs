//! A Slack that says what it is told to say, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::slack::{Pace, Settings, SlackChat};
use serde_json::Value;

#[derive(Clone)]
pub(super) enum Answer {
    Json(Value),
    Status(u16, Vec<(&'static str, &'static str)>, &'static str),
    /// Takes the request and never answers.
    Silence,
}

#[derive(Default)]
struct Script {
    answers: VecDeque<Answer>,
    asked: Vec<(String, Value)>,
}

#[derive(Clone)]
pub(super) struct Stub {
    script: Arc<Mutex<Script>>,
    pub(super) url: String,
}

impl Stub {
    pub(super) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let stub = Self::at(format!("http://{}", listener.local_addr().expect("an address")));
        stub.script.lock().expect("the script").answers.extend(answers);
        let router = Router::new().fallback(answer).with_state(stub.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        stub
    }

    /// Nobody listens.
    pub(super) fn at(url: String) -> Self {
        Self {
            script: Arc::default(),
            url,
        }
    }

    pub(super) fn chat(&self) -> SlackChat {
        self.chat_waiting(Duration::from_secs(30))
    }

    /// For a Slack that never answers.
    pub(super) fn impatient_chat(&self) -> SlackChat {
        self.chat_waiting(Duration::from_millis(300))
    }

    fn chat_waiting(&self, time_limit: Duration) -> SlackChat {
        SlackChat::new(&Settings {
            api_url: format!("{}/api/", self.url),
            time_limit,
            pace: Pace::Unlimited,
            ..Settings::new("xoxb-of-this-test".to_owned().into())
        })
    }

    /// Method and arguments, of every request.
    pub(super) fn asked(&self) -> Vec<(String, Value)> {
        self.script.lock().expect("the script").asked.clone()
    }
}

async fn answer(State(stub): State<Stub>, uri: Uri, body: Bytes) -> Response {
    let arguments = match uri.query() {
        Some(query) => {
            let pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs
                .map(|(key, value)| (key.into_owned(), Value::String(value.into_owned())))
                .collect()
        }
        None => serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let next = {
        let mut script = stub.script.lock().expect("the script");
        script
            .asked
            .push((uri.path().trim_start_matches("/api/").to_owned(), arguments));
        script.answers.pop_front()
    };
    match next {
        Some(Answer::Json(value)) => axum::Json(value).into_response(),
        Some(Answer::Status(status, headers, text)) => {
            let mut response = (StatusCode::from_u16(status).expect("a status"), text).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(name, value.parse().expect("a header"));
            }
            response
        }
        Some(Answer::Silence) => std::future::pending().await,
        None => (StatusCode::IM_A_TEAPOT, "nothing is left in the script").into_response(),
    }
}
