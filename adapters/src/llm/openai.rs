//! OpenAI's chat completions, and whatever speaks them: Ollama, vLLM, llama.cpp, Azure-style bases, gateways.

mod body;
mod calls;
mod stream;

use async_trait::async_trait;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::port::{Model, ModelError, Sink};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use super::Limits;
use super::base::Base;
use super::exchange::Exchange;
use super::failure::Names;

#[derive(Clone, Debug)]
pub struct OpenAiConfig {
    /// `OPENAI_BASE_URL`, else [`OpenAiConfig::BASE_URL`]. A bare host gets `/v1`, any other path is taken as it is.
    pub base_url: Url,
    /// A server of one's own often wants none.
    pub api_key: Option<SecretString>,
    /// The name without `openai:` before it.
    pub model: String,
    pub limits: Limits,
}

impl OpenAiConfig {
    pub const BASE_URL: &str = "https://api.openai.com/v1";
}

/// A model of OpenAI's, or of whatever speaks its protocol.
pub struct OpenAi {
    name: String,
    model: String,
    base: Base,
    limit_field: body::LimitField,
    exchange: Exchange,
}

impl OpenAi {
    /// Fails with a sentence that names the setting where the base URL or the key cannot be used. Opens no connection;
    /// a TLS provider must be installed in the process.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let names = Names {
            provider: "The OpenAI-compatible service",
            key_setting: "OPENAI_API_KEY",
            base_setting: "OPENAI_BASE_URL",
            model: config.model.clone(),
        };
        let base = Base::openai(&config.base_url)?;
        let on_azure = base.host_is_or_ends_with("azure.com", ".azure.com");
        let mut headers = HeaderMap::new();
        if let Some(key) = &config.api_key {
            let key = key.expose_secret().trim();
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {key}"))?);
            if on_azure {
                headers.insert("api-key", secret(key)?);
            }
        }
        // OpenAI's newer models refuse `max_tokens`, many compatible servers know nothing else.
        let limit_field = match on_azure || base.host_is_or_ends_with("api.openai.com", ".openai.com") {
            true => body::LimitField::MaxCompletionTokens,
            false => body::LimitField::MaxTokens,
        };
        Ok(Self {
            name: format!("openai:{}", config.model),
            base,
            limit_field,
            exchange: Exchange::new(names, config.limits, headers)?,
            model: config.model,
        })
    }
}

fn secret(text: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ModelError::Permanent {
        why: "OPENAI_API_KEY holds characters that no key has.".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let body = body::of(request, &self.model, self.limit_field)?;
        self.exchange
            .reply(
                self.base.endpoint("chat/completions"),
                body,
                stream::Completion::default(),
                sink,
            )
            .await
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        let list = self.exchange.get(self.base.endpoint("models")).await?;
        // OpenAI wraps the list in `data`, some servers in `models`, some not at all.
        let models = [&list, &list["data"], &list["models"]]
            .into_iter()
            .find_map(Value::as_array);
        let name = |model: &Value| model["id"].as_str().or(model["name"].as_str()).map(str::to_owned);
        let mut names: Vec<String> = models.into_iter().flatten().filter_map(name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}
