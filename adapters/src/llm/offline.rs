//! The offline model behind the port: pure decisions of core, no provider.

use async_trait::async_trait;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::offline;
use deskhand_core::port::{Model, ModelError, Sink};

pub struct Offline {
    model: offline::Offline,
}

impl Offline {
    pub fn new(model: offline::Offline) -> Self {
        Self { model }
    }
}

#[async_trait]
impl Model for Offline {
    fn name(&self) -> &str {
        "offline"
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let reply = self.model.reply(request);
        sink.text(&reply.text);
        Ok(reply)
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(vec!["offline".into()])
    }
}
