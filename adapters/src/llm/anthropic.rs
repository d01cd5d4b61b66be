//! Anthropic's Messages API.

mod body;
mod stream;

use async_trait::async_trait;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::port::{Model, ModelError, Sink};
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::Limits;
use super::base::Base;
use super::exchange::Exchange;
use super::failure::Names;

/// The version of the protocol that this module speaks; Anthropic wants it in each request.
const VERSION: &str = "2023-06-01";
/// Models on a page of the list, Anthropic's most, and pages read before a list counts as endless.
const PAGE: &str = "1000";
const PAGES: usize = 20;

#[derive(Clone, Debug)]
pub struct AnthropicConfig {
    /// `ANTHROPIC_BASE_URL`, else [`AnthropicConfig::BASE_URL`]; with or without `/v1`.
    pub base_url: Url,
    pub api_key: SecretString,
    /// The name without `anthropic:` before it.
    pub model: String,
    pub limits: Limits,
}

impl AnthropicConfig {
    pub const BASE_URL: &str = "https://api.anthropic.com";
}

/// A model of Anthropic's, or of whatever speaks its protocol.
pub struct Anthropic {
    name: String,
    model: String,
    base: Base,
    exchange: Exchange,
}

impl Anthropic {
    /// Fails with a sentence that names the setting where the base URL or the key cannot be used. Opens no connection;
    /// a TLS provider must be installed in the process.
    pub fn new(config: AnthropicConfig) -> Result<Self, ModelError> {
        let names = Names {
            provider: "Anthropic",
            key_setting: "ANTHROPIC_API_KEY",
            base_setting: "ANTHROPIC_BASE_URL",
            model: config.model.clone(),
        };
        let mut key =
            HeaderValue::from_str(config.api_key.expose_secret().trim()).map_err(|_| ModelError::Permanent {
                why: "ANTHROPIC_API_KEY holds characters that no key has.".to_owned(),
            })?;
        key.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", key);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        Ok(Self {
            name: format!("anthropic:{}", config.model),
            base: Base::anthropic(&config.base_url)?,
            exchange: Exchange::new(names, config.limits, headers)?,
            model: config.model,
        })
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let body = body::of(request, &self.model)?;
        self.exchange
            .reply(self.base.endpoint("messages"), body, stream::Message::default(), sink)
            .await
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        let mut names = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let mut url = self.base.endpoint("models");
            url.query_pairs_mut().append_pair("limit", PAGE);
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair("after_id", after);
            }
            let page = self.exchange.get(url).await?;
            let models = page["data"].as_array().into_iter().flatten();
            names.extend(models.filter_map(|model| model["id"].as_str()).map(str::to_owned));
            after = page["last_id"]
                .as_str()
                .filter(|_| page["has_more"] == true)
                .map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}
