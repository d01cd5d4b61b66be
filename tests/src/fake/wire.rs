//! What both fakes need of HTTP: a listener whose connections can be made to break, a client, and the two signatures.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::http::{HeaderMap, Method, Request};
use axum::serve::{IncomingStream, Listener};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// Serves on a free port of 127.0.0.1 until the handle is dropped. Gives back the base URL, without a trailing slash.
pub(crate) async fn serve(router: Router) -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port on 127.0.0.1");
    let address = listener.local_addr().expect("a bound listener has an address");
    let service = router.into_make_service_with_connect_info::<Breaker>();
    let server = tokio::spawn(async move {
        // It ends only when the handle is dropped; there is nobody to tell of an error.
        let _ = axum::serve(Door(listener), service).await;
    });
    (format!("http://{address}"), AbortOnDropHandle::new(server))
}

/// Breaks the connection that a request came by, so that its sender cannot know whether it was heard.
#[derive(Clone, Debug, Default)]
pub struct Breaker(Arc<AtomicBool>);

impl Breaker {
    /// Whatever is answered from now on does not arrive.
    pub(crate) fn breaks(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Connected<IncomingStream<'_, Door>> for Breaker {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.remote_addr().clone()
    }
}

struct Door(TcpListener);

impl Listener for Door {
    type Io = Line;
    type Addr = Breaker;

    async fn accept(&mut self) -> (Line, Breaker) {
        let (stream, _) = Listener::accept(&mut self.0).await;
        let breaker = Breaker::default();
        (Line(stream, breaker.clone()), breaker)
    }

    fn local_addr(&self) -> io::Result<Breaker> {
        Ok(Breaker::default())
    }
}

struct Line(TcpStream, Breaker);

impl Line {
    fn whole(&self) -> io::Result<()> {
        match self.1.0.load(Ordering::SeqCst) {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.whole()?;
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.whole()?;
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// A request as a fake sees it, whole.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// Without the query, slashes doubled by a careless base URL made single.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) breaker: Breaker,
}

impl Asked {
    pub(crate) async fn read(request: Request<Body>) -> Self {
        let (parts, body) = request.into_parts();
        // Larger than any limit that the fakes themselves judge.
        let body = axum::body::to_bytes(body, 40_000_000).await.unwrap_or_default();
        let breaker = parts.extensions.get::<ConnectInfo<Breaker>>();
        let mut path = parts.uri.path().to_owned();
        while path.contains("//") {
            path = path.replace("//", "/");
        }
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes());
        Self {
            method: parts.method,
            path,
            query: query.into_owned().collect(),
            headers: parts.headers,
            body,
            breaker: breaker.map(|info| info.0.clone()).unwrap_or_default(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `Null` when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// A client that gives up on a bot that hangs, so that a test fails with a sentence and not by the runner's patience.
pub(crate) fn client() -> reqwest::Client {
    // Fails when somebody installed one before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        // Everything here is plain HTTP on 127.0.0.1: reading the system's roots would only take time.
        .tls_certs_only([])
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a plain client builds")
}

/// How the next delivery is made unworthy of belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// Signed with another secret.
    WrongSecret,
    /// The body was changed after it was signed.
    ChangedBody,
    NoSignature,
    /// Rightly signed, ten minutes ago.
    OldTimestamp,
    /// Rightly signed, for in ten minutes.
    FutureTimestamp,
    /// A timestamp that is no time, rightly signed.
    SillyTimestamp,
}

/// Slack's `X-Slack-Signature`: v0, over `v0:timestamp:body`, lower-case hex.
pub fn slack_signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let base = [b"v0:", timestamp.as_bytes(), b":", body].concat();
    format!("v0={}", hex::encode(hmac_sha256(secret, &base)))
}

/// Zendesk's `X-Zendesk-Webhook-Signature`: over timestamp and body, base64; the secret is used as the text it is.
pub fn zendesk_signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    BASE64_STANDARD.encode(hmac_sha256(secret, &[timestamp.as_bytes(), body].concat()))
}

fn hmac_sha256(secret: &str, base: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(base);
    mac.finalize().into_bytes().to_vec()
}
