//! Answering one person: in the answer to their interaction, or by a direct message when that is too late.

use deskhand_core::port::PortError;
use reqwest::Method;
use serde_json::json;

use super::DiscordChat;
use super::call::Ask;
use super::thread;
use crate::discord::draw;

impl DiscordChat {
    /// Puts the answer in the place of "thinking". `answer` is what the interaction brought along: `webhooks/…/…`, good
    /// for fifteen minutes; afterwards this is [`PortError::Gone`]. Repeating it changes nothing.
    pub async fn respond(&self, answer: &str, text: &str) -> Result<(), PortError> {
        let ask = original(answer).json(draw::line(text).full);
        self.api.call(ask).await.map(drop).map_err(harmless)
    }

    /// The same, with a file.
    pub async fn respond_with_file(&self, answer: &str, text: &str, name: &str, file: &str) -> Result<(), PortError> {
        let mut body = draw::line(text).full;
        body["attachments"] = json!([{ "id": "0", "filename": name }]);
        let ask = original(answer).json(body).file(name, file);
        self.api.call(ask).await.map(drop).map_err(harmless)
    }

    /// A direct message, for when the interaction can no longer be answered.
    pub async fn write_to(&self, person: &str, key: &str, text: &str) -> Result<(), PortError> {
        let open = Ask::new(Method::POST, "users/@me/channels".into()).json(json!({ "recipient_id": person }));
        let tell = |failure: super::failure::Failure| failure.tell("write to a person", "");
        let channel = self.api.call(open).await.map_err(tell)?;
        let channel = channel["id"].as_str().unwrap_or_default().to_owned();
        thread::send(&self.api, &channel, key, &draw::line(text))
            .await
            .map(drop)
            .map_err(tell)
    }
}

fn original(answer: &str) -> Ask {
    Ask::new(Method::PATCH, format!("{answer}/messages/@original")).unsigned()
}

fn harmless(failure: super::failure::Failure) -> PortError {
    match failure.tell("answer", "") {
        PortError::Ambiguous { why } => PortError::transient(why),
        other => other,
    }
}
