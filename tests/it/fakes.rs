//! The fakes on trial: each must refuse what the real service refuses, or every scenario on it is worth nothing.

mod model;
mod signatures;
mod slack;
mod zendesk;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// A bot that only listens, and answers what the test says.
#[derive(Clone, Default)]
struct Listener {
    heard: Arc<Mutex<Vec<Heard>>>,
    answer: Arc<Mutex<Option<(u16, String)>>>,
    came: Arc<tokio::sync::Notify>,
}

#[derive(Clone, Debug)]
struct Heard {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Heard {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// The fields of a form.
    fn field(&self, name: &str) -> String {
        let mut fields = url::form_urlencoded::parse(&self.body);
        fields
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    }

    fn payload(&self) -> Value {
        serde_json::from_str(&self.field("payload")).expect("a JSON payload")
    }
}

impl Listener {
    async fn start() -> (Self, String) {
        let listener = Self::default();
        let router = Router::new().fallback(hear).with_state(listener.clone());
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", socket.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(socket, router).await });
        (listener, url)
    }

    fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("no test panicked here").clone()
    }

    fn last(&self) -> Heard {
        self.heard().pop().expect("something was heard")
    }

    fn answers(&self, status: u16, body: &str) {
        *self.answer.lock().expect("no test panicked here") = Some((status, body.to_owned()));
    }
}

async fn hear(State(listener): State<Listener>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1_000_000).await.expect("a whole body");
    let heard = Heard {
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body,
    };
    listener.heard.lock().expect("no test panicked here").push(heard);
    listener.came.notify_one();
    let answer = listener.answer.lock().expect("no test panicked here").clone();
    let (status, body) = answer.unwrap_or((200, String::new()));
    Response::builder()
        .status(status)
        .body(Body::from(body))
        .expect("a plain answer")
}

/// Only after a fake has started: that is when the TLS provider is chosen.
fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .expect("a plain client")
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}
