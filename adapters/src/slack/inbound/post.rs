//! A message as Slack shows it in events, in shortcuts and in `conversations.replies`, as something that was heard.

use chrono::{DateTime, Utc};
use deskhand_core::heard::{Attached, Post, PostKind, Thread};
use deskhand_core::ticket::Source;
use serde_json::Value;

use super::pick;
use crate::slack::escape::plain;

/// Where a message was seen, which the message itself does not always say.
#[derive(Clone, Copy, Debug)]
pub(in crate::slack) struct Seen<'a> {
    pub(in crate::slack) channel: &'a str,
    /// The workspace that the bot is in.
    pub(in crate::slack) team: Option<&'a str>,
    pub(in crate::slack) delivery: &'a str,
}

/// `None` for what is no message of anybody: somebody joined, a topic changed, a message that is gone.
pub(in crate::slack) fn of(message: &Value, seen: Seen<'_>) -> Option<Post> {
    match pick::text(message, "/subtype") {
        None | Some("file_share" | "thread_broadcast" | "me_message" | "bot_message") => {}
        Some(_) => return None,
    }
    let id = pick::text(message, "/ts")?;
    let by = pick::text(message, "/user").map(|user| {
        // In a shared channel a message carries its author's own team.
        let own = pick::text(message, "/user_team").or_else(|| pick::text(message, "/team"));
        let name = pick::text(message, "/user_profile/display_name");
        pick::somebody(user, name.unwrap_or(user), own, seen.team)
    });
    let program = pick::text(message, "/bot_id").is_some()
        || pick::text(message, "/subtype") == Some("bot_message")
        || by.as_ref().is_some_and(|by| by.actor.id == "USLACKBOT");
    if by.is_none() && !program {
        return None;
    }
    Some(Post {
        source: Source::Slack,
        delivery: seen.delivery.to_owned(),
        what: PostKind::New,
        channel: seen.channel.to_owned(),
        id: id.to_owned(),
        thread: thread(message, seen.channel),
        outsider: by.as_ref().is_some_and(|by| by.outsider),
        author: by.map(|by| by.actor).filter(|_| !program),
        program,
        mentions_us: false,
        text: plain(pick::text(message, "/text").unwrap_or_default()),
        files: files(message),
        at: time(id),
        url: None,
    })
}

pub(super) fn thread(message: &Value, channel: &str) -> Option<Thread> {
    pick::text(message, "/thread_ts").map(|root| Thread {
        channel: channel.to_owned(),
        root: root.to_owned(),
    })
}

/// The time that a `ts` is: seconds, and a count that tells messages of one second apart.
pub(super) fn time(ts: &str) -> Option<DateTime<Utc>> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let micros: u32 = micros.parse().ok().filter(|micros| *micros < 1_000_000)?;
    DateTime::from_timestamp(seconds.parse().ok()?, micros * 1000)
}

/// A file that Slack only names (in a shared channel, or taken away since) has no address.
fn files(message: &Value) -> Vec<Attached> {
    let files = message.pointer("/files").and_then(Value::as_array);
    files
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(|file| Attached {
            id: pick::owned(file, "/id"),
            name: pick::text(file, "/name")
                .or_else(|| pick::text(file, "/title"))
                .unwrap_or("a file")
                .to_owned(),
            size: file.pointer("/size").and_then(Value::as_u64).unwrap_or_default(),
            kind: pick::owned(file, "/mimetype"),
            url: pick::text(file, "/url_private_download")
                .or_else(|| pick::text(file, "/url_private"))
                .filter(|_| file.pointer("/is_external").and_then(Value::as_bool) != Some(true))
                .map(str::to_owned),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn a_ts_is_a_time() {
        let at = time("1760000000.000100").expect("a time");
        assert_eq!(at.timestamp_micros(), 1_760_000_000_000_100);
        assert_eq!(time("1760000000").map(|at| at.timestamp()), Some(1_760_000_000));
        for text in ["", "x", "1.x", "1.1000000"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
