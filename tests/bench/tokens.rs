//! What a triaged ticket costs in bytes and tokens sent to the model: the first request and the later ones, and how much
//! of a later one a provider's cache has seen before.
//!
//! Tokens are core's own estimate. What a cache can know of a request is what it has in common with the one before it, from
//! the first byte on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use deskhand_core::context;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::port::{Model, ModelError, Sink};

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted, replies_so_far, ticket_of};
use crate::meter::median;
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world::{Work, World};

/// One request as it was sent.
struct Sent {
    first: bool,
    bytes: usize,
    tokens: u64,
    /// Not in the cache after the request before it.
    fresh: u64,
}

#[derive(Default)]
struct Heard {
    sent: Vec<Sent>,
    /// The last request of each ticket, as text.
    last: HashMap<String, String>,
}

/// A model that weighs what it is asked.
struct Weighing {
    inner: Scripted,
    heard: Mutex<Heard>,
}

impl Weighing {
    fn weigh(&self, request: &ModelRequest) {
        let tools = serde_json::to_string(&request.tools).unwrap_or_default();
        let turns = request
            .turns
            .iter()
            .map(|turn| serde_json::to_string(turn).unwrap_or_default());
        let text = format!("{}\n{tools}\n{}", request.system, turns.collect::<Vec<_>>().join("\n"));
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = ticket_of(request);
        let before = heard.last.get(&ticket).map_or("", String::as_str);
        let common = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let sent = Sent {
            first: replies_so_far(request) == 0,
            bytes: text.len(),
            tokens: context::tokens(&text),
            fresh: context::tokens(text.get(common..).unwrap_or(&text)),
        };
        heard.sent.push(sent);
        heard.last.insert(ticket, text);
    }
}

#[async_trait]
impl Model for Weighing {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        self.weigh(request);
        self.inner.reply(request, sink).await
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        self.inner.offered().await
    }
}

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let many = report.size(4, 40);
    let database = cluster.fresh("tokens").await?;
    let model = Arc::new(Weighing {
        inner: Scripted {
            requests: 4,
            seen: None,
        },
        heard: Mutex::default(),
    });
    let world = World::start(
        &database,
        4,
        Arc::clone(&model) as _,
        Arc::new(Quiet::default()),
        Work::Runner,
    )
    .await?;
    world.know_something().await?;
    for _ in 0..many {
        runs::deliver(&world.app).await?;
    }
    world
        .until("SELECT count(*) FROM run WHERE state = 'waiting'", many)
        .await?;
    world.stop().await;
    let heard = model.heard.lock().unwrap_or_else(PoisonError::into_inner);
    let typical = |first: bool, of: &dyn Fn(&Sent) -> f64| {
        median(heard.sent.iter().filter(|sent| sent.first == first).map(of).collect())
    };
    let all = |sent: &Sent| sent.tokens as f64;
    for (what, ours, unit) in [
        (
            "first request of a run",
            typical(true, &|sent| sent.bytes as f64),
            "bytes",
        ),
        ("first request of a run, cache missed", typical(true, &all), "tokens"),
        (
            "later request, typical",
            typical(false, &|sent| sent.bytes as f64),
            "bytes",
        ),
        ("later request, cache missed", typical(false, &all), "tokens"),
        (
            "later request, cache hit: not in the cache",
            typical(false, &|sent| sent.fresh as f64),
            "tokens",
        ),
    ] {
        report.row(Row {
            what: what.into(),
            ours,
            unit,
            against: None,
            must: Goal::None,
            aim: Goal::None,
        });
    }
    Ok(())
}
