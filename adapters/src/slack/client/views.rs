//! What only a handler can do in time: opening a form, and answering one person.

use std::time::Duration;

use deskhand_core::port::PortError;
use serde_json::json;
use slack_morphism::prelude::*;

use super::SlackChat;
use super::failure::Repeat;
use crate::slack::render;
use crate::slack::wire;

/// A trigger lives three seconds from the click.
const TRIGGER: Duration = Duration::from_millis(2500);

/// A form that is open, for filling it later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenView {
    pub view_id: String,
    /// Given back to `update_modal`, it refuses to overwrite what somebody else filled in meanwhile.
    pub hash: String,
}

impl SlackChat {
    /// Opens a form for the person behind the trigger. Never waits for its turn.
    pub async fn open_modal(&self, trigger_id: &str, view: &SlackView) -> Result<OpenView, PortError> {
        let request = SlackApiViewsOpenRequest::new(trigger_id.into(), view.clone());
        let answer = self
            .api
            .post_within("views.open", "", &request, TRIGGER, Duration::ZERO)
            .await
            .map_err(|failure| failure.tell("open a form", "", Repeat::Doubles))?;
        Ok(OpenView {
            view_id: wire::text(&answer, "/view/id").unwrap_or_default().to_owned(),
            hash: wire::text(&answer, "/view/hash").unwrap_or_default().to_owned(),
        })
    }

    /// Replaces what an open form shows. An empty hash replaces whatever is there.
    pub async fn update_modal(&self, view_id: &str, hash: &str, view: &SlackView) -> Result<(), PortError> {
        let mut request = SlackApiViewsUpdateRequest::new(view.clone()).with_view_id(view_id.into());
        if !hash.is_empty() {
            request = request.with_hash(hash.to_owned());
        }
        let answer = self.api.post("views.update", "", &request).await;
        answer
            .map(drop)
            .map_err(|failure| failure.tell("fill a form", "", Repeat::Harmless))
    }

    /// Answers at the address that came with a click or a command: to the person alone, or to the whole channel.
    pub async fn respond(&self, response_url: &str, text: &str, ephemeral: bool) -> Result<(), PortError> {
        let drawn = render::line(text);
        let body = json!({
            "response_type": if ephemeral { "ephemeral" } else { "in_channel" },
            // Without this Slack would put the answer in the card's place.
            "replace_original": false,
            "text": drawn.text,
            "blocks": drawn.blocks,
        });
        let answer = self.api.answer(response_url, &body).await;
        answer.map_err(|failure| failure.tell("answer", "", Repeat::Doubles))
    }

    /// A line that only one person sees, in a channel or thread that the bot and the person are in.
    pub async fn post_ephemeral(
        &self,
        channel: &str,
        thread: Option<&str>,
        person: &str,
        text: &str,
    ) -> Result<(), PortError> {
        let drawn = render::line(text);
        let content = SlackMessageContent::new()
            .with_text(drawn.text)
            .with_blocks(drawn.blocks);
        let mut request = SlackApiChatPostEphemeralRequest::new(channel.into(), person.into(), content);
        if let Some(thread) = thread {
            request = request.with_thread_ts(thread.into());
        }
        let answer = self.api.post("chat.postEphemeral", channel, &request).await;
        answer
            .map(drop)
            .map_err(|failure| failure.tell("post to one person", channel, Repeat::Doubles))
    }

    /// The address of a message.
    pub async fn permalink(&self, channel: &str, message: &str) -> Result<String, PortError> {
        let arguments = [("channel", Some(channel)), ("message_ts", Some(message))];
        let answer = self
            .api
            .get("chat.getPermalink", &arguments)
            .await
            .map_err(|failure| failure.tell("find a message's address", channel, Repeat::Harmless))?;
        wire::text(&answer, "/permalink")
            .map(str::to_owned)
            .ok_or_else(|| PortError::permanent("Slack: a message has no address"))
    }
}
