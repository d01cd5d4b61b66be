//! A server that gives the answers it was told, in order, the last one again and again, and remembers what it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct Stub {
    pub(crate) url: String,
    state: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    answers: HashMap<String, Vec<Answer>>,
    asked: Vec<Asked>,
}

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    headers: Vec<(&'static str, &'static str)>,
    body: Value,
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    pub(crate) authorization: String,
    pub(crate) idempotency_key: String,
}

impl Stub {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Mutex::new(Script::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new().fallback(answer).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, state }
    }

    /// What it answers to a request line; further answers queue up behind the first.
    pub(crate) fn answers(&self, line: &str, status: u16, body: Value) {
        self.answers_with(line, status, &[], body);
    }

    pub(crate) fn answers_with(&self, line: &str, status: u16, headers: &[(&'static str, &'static str)], body: Value) {
        let answer = Answer {
            status: StatusCode::from_u16(status).expect("a status"),
            headers: headers.to_vec(),
            body,
        };
        let mut script = self.state.lock().expect("not poisoned");
        script.answers.entry(line.to_owned()).or_default().push(answer);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().expect("not poisoned").asked.clone()
    }
}

async fn answer(
    State(state): State<Arc<Mutex<Script>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let line = format!("{method} {}", uri.path());
    let header = |name: &str| {
        headers
            .get(name)
            .map(|value| value.to_str().expect("text").to_owned())
            .unwrap_or_default()
    };
    let mut script = state.lock().expect("not poisoned");
    script.asked.push(Asked {
        line: line.clone(),
        query: uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        authorization: header("authorization"),
        idempotency_key: header("idempotency-key"),
    });
    let Some(answers) = script.answers.get_mut(&line) else {
        return (StatusCode::NOT_IMPLEMENTED, format!("no answer for {line}")).into_response();
    };
    let answer = if answers.len() > 1 {
        answers.remove(0)
    } else {
        answers[0].clone()
    };
    let mut response = (answer.status, axum::Json(answer.body)).into_response();
    for (name, value) in answer.headers {
        response.headers_mut().insert(name, value.parse().expect("a header"));
    }
    response
}
