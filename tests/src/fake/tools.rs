//! Tools of a server outside, in process: what is offered, what was called, and a call that hangs while the bot dies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use deskhand_core::port::{Tools, ToolsError};
use deskhand_core::step::Outcome;
use deskhand_core::tool::outside::{OutsideTool, Rule, ToolUse};
use serde_json::json;
use tokio::sync::watch;

#[derive(Default)]
struct Shop {
    offered: Vec<OutsideTool>,
    calls: Vec<String>,
    given_up: usize,
    breaks: bool,
    grows: Option<String>,
}

impl Shop {
    fn offer(&mut self, name: &str, rule: Rule, repeatable: bool, reads: bool) {
        self.offered.push(OutsideTool {
            name: name.to_owned(),
            description: format!("What {name} does at the shop"),
            schema: json!({ "type": "object", "properties": { "amount": { "type": "integer" } } }),
            rule,
            reads,
            repeatable,
        });
        self.offered.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// A call that was made and has no answer yet.
struct Waiting<'a>(Option<&'a Server>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(server) = self.0 {
            server.shop().given_up += 1;
        }
    }
}

/// Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub struct Server {
    shop: Arc<Mutex<Shop>>,
    held: Arc<watch::Sender<bool>>,
    called: Arc<watch::Sender<usize>>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            shop: Arc::default(),
            held: Arc::new(watch::Sender::new(false)),
            called: Arc::new(watch::Sender::new(0)),
        }
    }
}

impl Server {
    /// Offers a tool that takes an amount and changes something.
    pub fn offers(&self, name: &str, rule: Rule, repeatable: bool) {
        self.shop().offer(name, rule, repeatable, false);
    }

    /// Offers a tool that only reads; its answer names the amount that it was asked about.
    pub fn offers_to_read(&self, name: &str) {
        self.shop().offer(name, Rule::Allow, true, true);
    }

    /// In the next call it begins to offer another tool.
    pub fn offers_in_the_next_call(&self, name: &str) {
        self.shop().grows = Some(name.to_owned());
    }

    /// From now on calls take effect, and their answers do not come.
    pub fn hangs(&self) {
        self.held.send_replace(true);
    }

    pub fn answers_again(&self) {
        self.held.send_replace(false);
    }

    /// The next call takes effect, and its connection breaks.
    pub fn breaks_in_the_next_call(&self) {
        self.shop().breaks = true;
    }

    /// Comes back once this many calls were made.
    pub async fn was_called(&self, times: usize) {
        let mut called = self.called.subscribe();
        called
            .wait_for(|calls| *calls >= times)
            .await
            .expect("the server lives");
    }

    /// What was called, as `name {arguments}`.
    pub fn calls(&self) -> Vec<String> {
        self.shop().calls.clone()
    }

    /// How many calls nobody waited for to the end.
    pub fn given_up(&self) -> usize {
        self.shop().given_up
    }

    fn shop(&self) -> MutexGuard<'_, Shop> {
        self.shop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Tools for Server {
    fn offered(&self) -> Arc<[OutsideTool]> {
        self.shop().offered.clone().into()
    }

    async fn call(&self, used: &ToolUse) -> Result<Outcome, ToolsError> {
        let (breaks, reads) = {
            let mut shop = self.shop();
            shop.calls.push(format!("{} {}", used.tool, used.args));
            if let Some(name) = shop.grows.take() {
                shop.offer(&name, Rule::Ask, false, false);
            }
            let reads = shop.offered.iter().any(|tool| tool.name == used.tool && tool.reads);
            (std::mem::take(&mut shop.breaks), reads)
        };
        self.called.send_modify(|calls| *calls += 1);
        let mut waiting = Waiting(Some(self));
        let mut held = self.held.subscribe();
        let _ = held.wait_for(|held| !held).await;
        waiting.0 = None;
        if breaks {
            return Err(ToolsError::Unknown {
                why: "the connection broke".into(),
            });
        }
        Ok(Outcome::ok(match reads {
            true => format!("Order {} is on its way.", used.args["amount"]),
            false => "Refund R-1 is booked.".to_owned(),
        }))
    }
}
