//! Looking for a post of ours by the key in its metadata, before it is posted again.

use deskhand_core::port::{Place, PortError};

use super::call::Api;
use super::failure::Repeat;
use crate::slack::wire;

/// Pages of 200. A channel is read from its newest message back, a thread from its first on.
const PAGES: usize = 20;

/// `None` only when everything that could hold it was read. A channel counts as read after [`PAGES`]: the post that is
/// looked for is minutes old.
pub(super) async fn find(
    api: &Api,
    channel: &str,
    thread: Option<&str>,
    key: &str,
) -> Result<Option<Place>, PortError> {
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let method = match thread {
            Some(_) => "conversations.replies",
            None => "conversations.history",
        };
        let arguments = [
            ("channel", Some(channel)),
            ("ts", thread),
            ("limit", Some("200")),
            ("include_all_metadata", Some("true")),
            ("cursor", cursor.as_deref()),
        ];
        let page = match api.get(method, &arguments).await {
            Ok(page) => page,
            // Where the thread is gone, nothing can be in it.
            Err(failure) if failure.code() == Some("thread_not_found") => return Ok(None),
            Err(failure) => return Err(failure.tell("look for a post", channel, Repeat::Harmless)),
        };
        let found = wire::list(&page, "/messages")
            .iter()
            .find(|message| wire::key(message) == Some(key));
        if let Some(ts) = found.and_then(|message| wire::text(message, "/ts")) {
            return Ok(Some(Place {
                channel: channel.to_owned(),
                message: ts.to_owned(),
            }));
        }
        match wire::text(&page, "/response_metadata/next_cursor") {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(None),
        }
    }
    match thread {
        None => Ok(None),
        Some(_) => Err(PortError::permanent(format!(
            "Slack: the thread in channel {channel} is too long to tell whether the post is in it"
        ))),
    }
}
