//! Posting, and the threads of tickets.

use deskhand_core::port::{PortError, Post};
use reqwest::Method;
use serde_json::{Value, json};

use super::call::{Api, Ask};
use super::failure::Failure;
use super::nonce;
use crate::discord::draw::Drawn;

/// A thread without talk leaves the list after so many minutes (Discord: 60, 1440, 4320 or 10080); posts bring it back.
const QUIET_MINUTES: u32 = 10_080;

/// Posts into the thread that hangs on a message, which is made where it is not there yet. Gives the message's id.
pub(super) async fn post(api: &Api, post: &Post, thread: &str, drawn: &Drawn, name: &str) -> Result<String, PortError> {
    let sent = match send(api, thread, &post.key, drawn).await {
        Err(failure) if failure.is_unknown_channel() => {
            open(api, &post.channel, thread, name)
                .await
                .map_err(|failure| failure.about_message().tell("open a thread", &post.channel))?;
            send(api, thread, &post.key, drawn).await
        }
        sent => sent,
    };
    sent.map_err(|failure| failure.tell("post", &post.channel))
}

/// Opens the thread that hangs on a message; it has the message's id. One that is there already is fine.
pub(super) async fn open(api: &Api, channel: &str, message: &str, name: &str) -> Result<(), Failure> {
    let body = json!({ "name": name, "auto_archive_duration": QUIET_MINUTES });
    let ask = Ask::new(Method::POST, format!("channels/{channel}/messages/{message}/threads")).json(body);
    match api.call(ask).await {
        Ok(_) => Ok(()),
        // 160004: a thread has already been created for this message.
        Err(failure) if failure.code() == Some(160_004) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Posts what was drawn, in plain text if Discord refuses the embeds, and once more with the same nonce if the first may
/// have arrived: then Discord gives back what is there.
pub(super) async fn send(api: &Api, channel: &str, key: &str, drawn: &Drawn) -> Result<String, Failure> {
    let request = |body: &Value| {
        let mut body = body.clone();
        body["nonce"] = nonce(key).into();
        body["enforce_nonce"] = true.into();
        Ask::new(Method::POST, format!("channels/{channel}/messages")).json(body)
    };
    let mut body = &drawn.full;
    let mut answer = awake(api, channel, request(body)).await;
    if let Err(failure) = &answer
        && failure.is_about_form()
    {
        tracing::warn!(
            discord.channel = channel,
            "Discord refused a message; sending plain text"
        );
        body = &drawn.simple;
        answer = awake(api, channel, request(body)).await;
    }
    if let Err(Failure::Lost { .. }) = &answer {
        answer = api.call(request(body)).await;
    }
    match answer?["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => Err(Failure::Lost {
            why: "accepted a message without saying its id".into(),
        }),
    }
}

/// A call inside a channel that may be a thread gone to sleep, which then is woken.
pub(super) async fn awake(api: &Api, channel: &str, ask: Ask) -> Result<Value, Failure> {
    match api.call(ask.clone()).await {
        // 50083: the thread is archived.
        Err(failure) if failure.code() == Some(50_083) => {
            let wake = Ask::new(Method::PATCH, format!("channels/{channel}")).json(json!({ "archived": false }));
            api.call(wake).await?;
            api.call(ask).await
        }
        answer => answer,
    }
}
