//! The offline model behind the port: pure decisions of core, no provider.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::offline;
use deskhand_core::port::{Model, ModelError, Sink};

pub struct Offline {
    /// Replaced as a whole when something was learned; a reply under way finishes with what it began with.
    model: RwLock<Arc<offline::Offline>>,
}

impl Offline {
    pub fn new(model: offline::Offline) -> Self {
        Self {
            model: RwLock::new(Arc::new(model)),
        }
    }

    fn present(&self) -> Arc<offline::Offline> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Model for Offline {
    fn name(&self) -> &str {
        "offline"
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let reply = self.present().reply(request);
        sink.text(&reply.text);
        Ok(reply)
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(vec!["offline".into()])
    }

    fn takes_up(&self, learned: &Arc<offline::Learned>) -> bool {
        let next = offline::Offline::clone(&self.present()).with(Arc::clone(learned));
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        true
    }
}
