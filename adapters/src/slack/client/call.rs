//! One call: paced, bounded in time, its answer as JSON.

use std::time::Duration;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::Value;
use slack_morphism::prelude::*;
use url::Url;

use super::Settings;
use super::failure::Failure;
use super::pace::Limits;
use crate::throttle::Held;

/// How long a call waits for its turn; beyond that its caller is told when to come back.
const PATIENCE: Duration = Duration::from_secs(2);
/// Retry-After is believed up to this.
const LONGEST_HOLD: Duration = Duration::from_secs(600);

pub(super) struct Api {
    client: SlackClient<SlackClientHyperConnector<HttpsConnector<HttpConnector>>>,
    token: SlackApiToken,
    limits: Limits,
    time_limit: Duration,
}

impl Api {
    pub(super) fn new(settings: &Settings) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        // A connection that was never made is a failure that surely changed nothing: better to know soon.
        tcp.set_connect_timeout(Some(settings.time_limit.min(Duration::from_secs(3))));
        let connector = HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(tcp);
        let connector = SlackClientHyperConnector::with_connector(connector)
            .with_slack_api_url(settings.api_url.trim_end_matches('/'));
        Self {
            client: SlackClient::new(connector),
            token: SlackApiToken::new(settings.bot_token.expose_secret().to_owned().into()),
            limits: Limits::new(settings.pace),
            time_limit: settings.time_limit,
        }
    }

    /// A call with a JSON body. `channel` only sets the pace, where a method is paced by channel.
    pub(super) async fn post<R: Serialize + Send + Sync>(
        &self,
        method: &str,
        channel: &str,
        request: &R,
    ) -> Result<Value, Failure> {
        self.post_within(method, channel, request, self.time_limit, PATIENCE)
            .await
    }

    pub(super) async fn post_within<R: Serialize + Send + Sync>(
        &self,
        method: &str,
        channel: &str,
        request: &R,
        time_limit: Duration,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let api = self.client.open_session(&self.token).http_session_api;
        self.paced(
            method,
            channel,
            patience,
            bounded(time_limit, api.http_post(method, request, None)),
        )
        .await
    }

    /// A call with its arguments in the address: methods that read take no JSON.
    pub(super) async fn get(&self, method: &str, arguments: &[(&str, Option<&str>)]) -> Result<Value, Failure> {
        let api = self.client.open_session(&self.token).http_session_api;
        let arguments = arguments.to_vec();
        self.paced(
            method,
            "",
            PATIENCE,
            bounded(self.time_limit, api.http_get(method, &arguments, None)),
        )
        .await
    }

    /// Posts to an address that Slack gave for one purpose. No token goes with it, and it stays out of the logs.
    pub(super) async fn answer<R: Serialize + Send + Sync>(&self, url: &str, body: &R) -> Result<(), Failure> {
        let url = Url::parse(url).map_err(|_| Failure::refused("bad_response_url"))?;
        let span = tracing::debug_span!("slack.respond");
        let context = SlackClientApiCallContext {
            rate_control_params: None,
            token: None,
            tracing_span: &span,
            is_sensitive_url: true,
        };
        let sent = async {
            let posted = self
                .client
                .http_api
                .connector
                .http_post_uri::<R, Value>(url, body, context);
            match posted.await {
                // The status was a success and the body is the bare word "ok", which is no JSON.
                Err(slack_morphism::errors::SlackClientError::ProtocolError(_)) => Ok(Value::Null),
                other => other,
            }
        };
        bounded(self.time_limit, sent).await.map(drop)
    }

    async fn paced(
        &self,
        method: &str,
        channel: &str,
        patience: Duration,
        call: impl Future<Output = Result<Value, Failure>>,
    ) -> Result<Value, Failure> {
        let (throttle, key) = self.limits.of(method, channel);
        if let Err(Held { wait }) = throttle.ready(key, patience).await {
            return Err(Failure::Slow {
                retry_after: Some(wait),
            });
        }
        let answer = match call.await {
            Ok(answer) => Failure::of_answer(answer),
            Err(failure) => Err(failure),
        };
        match answer {
            Err(Failure::Slow { retry_after }) => {
                let pause = retry_after.map(|pause| pause.min(LONGEST_HOLD));
                if let Some(pause) = pause {
                    throttle.hold(key, pause);
                }
                Err(Failure::Slow { retry_after: pause })
            }
            answer => answer,
        }
    }
}

async fn bounded<T>(limit: Duration, call: impl Future<Output = ClientResult<T>>) -> Result<T, Failure> {
    match tokio::time::timeout(limit, call).await {
        Ok(answer) => answer.map_err(Failure::from),
        Err(_) => Err(Failure::Lost {
            why: format!("did not answer within {} s", limit.as_secs_f32()),
        }),
    }
}
