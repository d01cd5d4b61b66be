//! Talk below a message that somebody else wrote: reading it, and answering there.

use deskhand_core::port::{Content, PortError};
use serde_json::Value;

use super::DiscordChat;
use super::call::Ask;
use super::failure::Failure;
use super::thread;
use crate::discord::draw;
use crate::discord::escape;
use crate::discord::inbound::{self, Message};

/// One message holds 2,000 characters; a reply may be longer, and then is several. Escaped, a part may be twice as long.
const PART: usize = 900;

impl DiscordChat {
    /// One message; [`PortError::Gone`] when it was deleted.
    pub(crate) async fn message(&self, channel: &str, id: &str) -> Result<Message, PortError> {
        let ask = Ask::get(format!("channels/{channel}/messages/{id}"));
        let found = self.api.call(ask).await;
        let found = found.map_err(|failure| failure.about_message().tell("read a message", channel))?;
        inbound::message(&found).ok_or_else(|| PortError::transient("Discord: a message came without an id"))
    }

    /// Whether the bot sees a channel: its name, or what is in the way.
    pub async fn sees(&self, channel: &str) -> Result<String, PortError> {
        let found = self.api.call(Ask::get(format!("channels/{channel}"))).await;
        let found = found.map_err(|failure| failure.tell("look at a channel", channel))?;
        Ok(found["name"].as_str().unwrap_or(channel).to_owned())
    }

    /// The newest hundred messages of a thread, newest first; none where there is no thread.
    pub(crate) async fn messages(&self, thread: &str) -> Result<Vec<Value>, PortError> {
        let ask = Ask::get(format!("channels/{thread}/messages")).query("limit", "100");
        match self.api.call(ask).await {
            Ok(page) => Ok(page.as_array().cloned().unwrap_or_default()),
            Err(failure) if failure.is_unknown_channel() => Ok(Vec::new()),
            Err(failure) => Err(failure.tell("read a thread", thread)),
        }
    }

    /// Answers in the thread of a message, which is opened for it; in the channel where none can be opened, because that
    /// is a thread itself. Gives the place of the answer's first part.
    pub(crate) async fn reply_below(
        &self,
        channel: &str,
        message: &str,
        marker: &str,
        text: &str,
    ) -> Result<String, PortError> {
        let text = escape::drawable(text);
        let mut within = message;
        let mut first = None;
        for (i, part) in escape::parts(text.trim(), PART).iter().enumerate() {
            // The end of the key counts for the nonce.
            let key = format!("{marker}{i}");
            let drawn = draw::draw(&Content::Line((*part).to_owned()));
            let mut sent = thread::send(&self.api, within, &key, &drawn).await;
            if i == 0
                && let Err(failure) = &sent
                && failure.is_unknown_channel()
            {
                match thread::open(&self.api, channel, message, "Answer").await {
                    Ok(()) => {}
                    // 50024: cannot execute action on this channel type.
                    Err(failure) if failure.code() == Some(50_024) => within = channel,
                    Err(failure) => return Err(failure.about_message().tell("open a thread", channel)),
                }
                sent = thread::send(&self.api, within, &key, &drawn).await;
            }
            let id = sent.map_err(|failure: Failure| failure.tell("answer", channel))?;
            first.get_or_insert(format!("{within}/{id}"));
        }
        first.ok_or_else(|| PortError::permanent("an empty answer cannot be sent"))
    }
}
