//! Desk and model of the bot that is killed: state that outlives it, and the thin wire to it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::port::{Desk, DeskChange, DeskTicket, DeskWrite, Model, ModelError, PortError, Receipt, Sink};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use sqlx::PgPool;
use tokio::net::TcpListener;

use super::Moment;
use crate::fake::{replies_so_far, reply, said, untouched};

/// Desk and model, seen from this side.
pub(super) struct Outside {
    pub(super) url: String,
    inner: Arc<Inner>,
}

struct Inner {
    moment: Moment,
    /// The moment is there: whatever is asked waits for its end.
    there: AtomicBool,
    /// It is over: everything is answered from now on.
    over: AtomicBool,
    /// What was written, by its marker: how often, and whether it is a reply.
    written: Mutex<BTreeMap<String, (u32, bool)>>,
}

impl Outside {
    pub(super) async fn start(moment: Moment) -> anyhow::Result<Self> {
        let inner = Arc::new(Inner {
            moment,
            there: AtomicBool::new(false),
            over: AtomicBool::new(false),
            written: Mutex::default(),
        });
        let router = Router::new()
            .route("/model", post(model))
            .route("/write", post(write))
            .route("/find", post(find))
            .with_state(Arc::clone(&inner));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, inner })
    }

    /// Whether it is time to kill.
    pub(super) async fn now_or(&self, moment: Moment, pool: &PgPool) -> anyhow::Result<bool> {
        if moment == Moment::BetweenCalls {
            // The first call has its outcome by now, and the model is asked again a while later.
            let done = sqlx::query_scalar("SELECT EXISTS (SELECT FROM step WHERE kind ->> 'kind' = 'outcome')");
            return Ok(done.fetch_one(pool).await?);
        }
        Ok(self.inner.there.load(Ordering::Acquire))
    }

    pub(super) fn go_on(&self) {
        self.inner.over.store(true, Ordering::Release);
    }

    /// How many replies the customer got.
    pub(super) fn replies(&self) -> i64 {
        let written = self.inner.written.lock().expect("nobody panics with it");
        written
            .values()
            .filter(|(_, reply)| *reply)
            .map(|(times, _)| i64::from(*times))
            .sum()
    }
}

impl Inner {
    fn is_it(&self, moment: Moment) -> bool {
        self.moment == moment && !self.over.load(Ordering::Acquire)
    }

    /// Says that the moment is there, and never answers.
    async fn hang(&self) {
        self.there.store(true, Ordering::Release);
        std::future::pending::<()>().await;
    }
}

async fn model(State(outside): State<Arc<Inner>>, Json(request): Json<ModelRequest>) -> Json<ModelReply> {
    let before = replies_so_far(&request);
    if before == 1 && outside.is_it(Moment::InTheModelCall) {
        outside.hang().await;
    }
    // A model thinks for a while; without it nobody could be killed between two steps.
    tokio::time::sleep(Duration::from_millis(40)).await;
    Json(match before {
        0 => said(
            0,
            &[
                ("add_note", json!({ "text": "The return was registered." })),
                ("search_knowledge", json!({ "query": "refund" })),
            ],
        ),
        _ => reply(before, 4),
    })
}

async fn write(State(outside): State<Arc<Inner>>, Json(write): Json<DeskWrite>) -> Json<Receipt> {
    let is_reply = matches!(write.change, DeskChange::Reply { .. });
    if is_reply && outside.is_it(Moment::InsideTheSendBeforeTheWrite) {
        outside.hang().await;
    }
    {
        let mut written = outside.written.lock().expect("nobody panics with it");
        written.entry(write.marker.clone()).or_insert((0, is_reply)).0 += 1;
    }
    if is_reply && outside.is_it(Moment::InsideTheSendAfterTheWrite) {
        outside.hang().await;
    }
    if is_reply && outside.is_it(Moment::AfterTheSend) {
        outside.there.store(true, Ordering::Release);
    }
    Json(Receipt {
        remote_id: format!("remote-{}", write.marker),
        remark: None,
    })
}

async fn find(State(outside): State<Arc<Inner>>, Json(marker): Json<String>) -> Json<Option<Receipt>> {
    let written = outside.written.lock().expect("nobody panics with it");
    Json(written.contains_key(&marker).then(|| Receipt {
        remote_id: format!("remote-{marker}"),
        remark: None,
    }))
}

/// Desk and model, seen from the bot.
pub(super) struct Far {
    url: String,
    client: reqwest::Client,
}

impl Far {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            client: reqwest::Client::new(),
        }
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str, what: &(impl Serialize + Sync)) -> Result<T, PortError> {
        let broken = |error: reqwest::Error| PortError::Ambiguous { why: error.to_string() };
        let answer = self
            .client
            .post(format!("{}{path}", self.url))
            .json(what)
            .send()
            .await
            .map_err(broken)?;
        answer.json().await.map_err(broken)
    }
}

#[async_trait]
impl Model for Far {
    fn name(&self) -> &str {
        "far"
    }

    async fn reply(&self, request: &ModelRequest, _sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        self.ask("/model", request)
            .await
            .map_err(|error| ModelError::Transient {
                why: error.to_string(),
                retry_after: None,
            })
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Desk for Far {
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        Ok(untouched(outside_id))
    }

    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError> {
        self.ask("/write", write).await
    }

    async fn find(&self, _outside_id: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
        self.ask("/find", &marker).await
    }

    async fn check(&self) -> Result<String, PortError> {
        Ok("far away".into())
    }
}
