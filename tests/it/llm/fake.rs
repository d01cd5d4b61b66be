//! A provider that answers each request with the next of its scripted answers and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;

#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Seen {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Response>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

pub(super) struct Provider {
    pub(super) base: String,
    script: Script,
    server: tokio::task::JoinHandle<()>,
}

impl Provider {
    pub(super) async fn start(answers: impl IntoIterator<Item = Response>) -> Self {
        let script = Script::default();
        script.answers.lock().expect("the script").extend(answers);
        let router = Router::new().fallback(answer).with_state(script.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("serving") });
        Self { base, script, server }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.script.seen.lock().expect("the script").clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(script): State<Script>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let seen = Seen {
        method,
        uri,
        headers,
        body,
    };
    script.seen.lock().expect("the script").push(seen);
    let next = script.answers.lock().expect("the script").pop_front();
    next.unwrap_or_else(|| plain(500, "text/plain", "the script has no more answers", &[]))
}

pub(super) fn plain(status: u16, kind: &str, body: &str, headers: &[(&str, &str)]) -> Response {
    let mut response = Response::builder().status(status).header("content-type", kind);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body.to_owned())).expect("a response")
}

/// A stream that ends after its last byte, cut into chunks of `size`.
pub(super) fn streamed(bytes: &[u8], size: usize) -> Response {
    let chunks: Vec<_> = bytes
        .chunks(size)
        .map(|chunk| Ok::<_, std::io::Error>(Bytes::copy_from_slice(chunk)))
        .collect();
    events(Body::from_stream(stream::iter(chunks)))
}

/// A stream that says `bytes` and then nothing, for ever.
pub(super) fn stalled(bytes: &str) -> Response {
    let first = stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(bytes.as_bytes()))]);
    events(Body::from_stream(first.chain(stream::pending())))
}

pub(super) fn events(body: Body) -> Response {
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .body(body)
        .expect("a response")
}

/// Events as Anthropic writes them: the name before the data.
pub(super) fn named(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x")))
        .collect()
}

/// Chunks as OpenAI writes them.
pub(super) fn unnamed(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}
