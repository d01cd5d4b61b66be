//! The Events API: mentions and what people write in channels.

use deskhand_core::heard::{Post, PostKind};
use deskhand_core::ticket::Source;
use serde_json::Value;

use super::post::{self, Seen};
use super::{Malformed, Person, Said, SlackInbound, Spot, pick};
use crate::slack::escape::plain;

/// What starts a command in words. Slash commands do not work inside Slack's threads.
const BANG: &str = "!triage";

/// Parses the body of a request to the events address.
pub fn event(body: &[u8]) -> Result<SlackInbound, Malformed> {
    let delivery = pick::json(body)?;
    Ok(match pick::text(&delivery, "/type") {
        Some("url_verification") => SlackInbound::Challenge(pick::owned(&delivery, "/challenge")),
        Some("event_callback") => callback(&delivery),
        Some("app_rate_limited") => {
            SlackInbound::ignored("Slack leaves out deliveries for a minute: there were too many")
        }
        Some(other) => SlackInbound::ignored(format!("a delivery of the type {other}")),
        None => SlackInbound::ignored("a delivery without a type"),
    })
}

fn callback(delivery: &Value) -> SlackInbound {
    match pick::text(delivery, "/event/type") {
        Some("app_mention") => mention(delivery),
        Some("message") => message(delivery),
        Some("app_uninstalled") => SlackInbound::ignored("the app was removed from the workspace"),
        Some("tokens_revoked") => SlackInbound::ignored("tokens of the app were revoked"),
        Some(other) => SlackInbound::ignored(format!("an event of the type {other}")),
        None => SlackInbound::ignored("an event without a type"),
    }
}

fn mention(delivery: &Value) -> SlackInbound {
    if pick::text(delivery, "/event/bot_id").is_some() {
        return SlackInbound::ignored("another app mentions us");
    }
    if pick::text(delivery, "/event/edited/ts").is_some() {
        return SlackInbound::ignored("a mention that was edited: it was heard when it was posted");
    }
    let (Some(by), Some(spot)) = (author(delivery), spot(delivery)) else {
        return SlackInbound::ignored("a mention without a person or a place");
    };
    let Some(heard) = heard(delivery) else {
        return SlackInbound::ignored("a mention in a message of nobody");
    };
    SlackInbound::Mention(said(heard, by, spot, &without_mention(delivery, text(delivery)), false))
}

/// The message as something that was written.
fn heard(delivery: &Value) -> Option<Post> {
    let seen = Seen {
        channel: pick::text(delivery, "/event/channel")?,
        team: here(delivery),
        delivery: pick::text(delivery, "/event_id").unwrap_or_default(),
    };
    post::of(delivery.pointer("/event")?, seen)
}

fn said(heard: Post, by: Person, spot: Spot, text: &str, direct: bool) -> Said {
    let text = words(text);
    Said {
        by,
        delivery: heard.delivery.clone(),
        spot,
        direct,
        post: Box::new(Post {
            mentions_us: true,
            text: text.clone(),
            ..heard
        }),
        text,
    }
}

fn message(delivery: &Value) -> SlackInbound {
    match pick::text(delivery, "/event/subtype") {
        Some("message_changed") => return changed(delivery),
        Some("message_deleted") => return deleted(delivery, "/event/previous_message"),
        None | Some("file_share" | "thread_broadcast" | "me_message" | "bot_message") => {}
        Some(other) => return SlackInbound::ignored(format!("a message of the kind {other}")),
    }
    if is_ours(delivery, "/event") {
        return SlackInbound::ignored("a post of our own");
    }
    let Some(spot) = spot(delivery) else {
        return SlackInbound::ignored("a message without a place");
    };
    let Some(heard) = heard(delivery) else {
        return SlackInbound::ignored("a message without an author");
    };
    let text = text(delivery);
    // An app's words are never a command: two bots could keep each other busy.
    if let (Some(by), false) = (author(delivery), heard.program) {
        if let Some(rest) = after_bang(text) {
            return SlackInbound::Bang(said(heard, by, spot, rest, false));
        }
        if pick::text(delivery, "/event/channel_type") == Some("im") {
            return SlackInbound::Mention(said(heard, by, spot, &without_mention(delivery, text), true));
        }
        if mentioned(delivery).is_some_and(|mention| text.contains(&mention)) {
            return SlackInbound::ignored("a mention, which comes as an event of its own");
        }
    }
    SlackInbound::Post(Box::new(heard))
}

/// A message says something else now. Slack also tells so when it only found a link's preview.
fn changed(delivery: &Value) -> SlackInbound {
    // The first of a thread leaves a stone where it stood.
    if pick::text(delivery, "/event/message/subtype") == Some("tombstone") {
        return deleted(delivery, "/event/message");
    }
    if is_ours(delivery, "/event/message") {
        return SlackInbound::ignored("a change of a post of our own");
    }
    let words = |message: &str| pick::owned(delivery, &format!("/event/{message}/text"));
    if delivery.pointer("/event/previous_message").is_some() && words("message") == words("previous_message") {
        return SlackInbound::ignored("a change that leaves the words as they were");
    }
    let seen = pick::text(delivery, "/event/channel").map(|channel| Seen {
        channel,
        team: here(delivery),
        delivery: pick::text(delivery, "/event_id").unwrap_or_default(),
    });
    let message = delivery.pointer("/event/message");
    match seen.zip(message).and_then(|(seen, message)| post::of(message, seen)) {
        None => SlackInbound::ignored("a change of nobody's message"),
        Some(post) => SlackInbound::Post(Box::new(Post {
            what: PostKind::Edited,
            text: words_without_mention(delivery, &words("message")),
            at: pick::text(delivery, "/event/message/edited/ts")
                .or_else(|| pick::text(delivery, "/event/ts"))
                .and_then(post::time),
            ..post
        })),
    }
}

/// `was` is the message that is gone.
fn deleted(delivery: &Value, was: &str) -> SlackInbound {
    if is_ours(delivery, was) {
        return SlackInbound::ignored("a post of our own was taken away");
    }
    let id = pick::text(delivery, "/event/deleted_ts").or_else(|| pick::text(delivery, &format!("{was}/ts")));
    let (Some(channel), Some(id)) = (pick::text(delivery, "/event/channel"), id) else {
        return SlackInbound::ignored("a deletion without a place");
    };
    let before = delivery.pointer(was).unwrap_or(&Value::Null);
    SlackInbound::Post(Box::new(Post {
        source: Source::Slack,
        delivery: pick::owned(delivery, "/event_id"),
        what: PostKind::Deleted,
        channel: channel.to_owned(),
        id: id.to_owned(),
        thread: post::thread(before, channel),
        author: None,
        program: pick::text(before, "/bot_id").is_some(),
        outsider: false,
        mentions_us: false,
        text: String::new(),
        files: Vec::new(),
        at: pick::text(delivery, "/event/event_ts")
            .or_else(|| pick::text(delivery, "/event/ts"))
            .and_then(post::time),
        url: None,
    }))
}

/// An edit says what the message said when it was heard, so the mention of us goes as it went then.
fn words_without_mention(delivery: &Value, text: &str) -> String {
    match mentioned(delivery).is_some_and(|mention| text.contains(&mention)) {
        true => words(&without_mention(delivery, text)),
        false => after_bang(text).map_or_else(|| plain(text), words),
    }
}

/// Ours by the app, or by the bot's own account.
fn is_ours(delivery: &Value, message: &str) -> bool {
    let app = pick::text(delivery, "/api_app_id");
    let field = |name: &str| pick::text(delivery, &format!("{message}/{name}"));
    let posted = field("app_id").or_else(|| field("bot_profile/app_id"));
    let author = field("user");
    (app.is_some() && app == posted) || (author.is_some() && author == own_id(delivery))
}

fn own_id(delivery: &Value) -> Option<&str> {
    authorised(delivery, "/user_id")
}

/// A field of the installation that this delivery was authorised by: the bot's.
fn authorised<'a>(delivery: &'a Value, pointer: &str) -> Option<&'a str> {
    let all = delivery.pointer("/authorizations")?.as_array()?;
    let bot = all
        .iter()
        .find(|one| one.pointer("/is_bot").and_then(Value::as_bool) == Some(true))?;
    pick::text(bot, pointer)
}

fn mentioned(delivery: &Value) -> Option<String> {
    own_id(delivery).map(|id| format!("<@{id}"))
}

/// The text without the first mention of us; where the delivery does not say who we are, without the mention that it
/// begins with.
fn without_mention(delivery: &Value, text: &str) -> String {
    let start = match mentioned(delivery) {
        Some(mention) => text.find(&mention),
        None => text.starts_with("<@").then_some(0),
    };
    let Some(start) = start else {
        return text.to_owned();
    };
    let Some(end) = text[start..].find('>') else {
        return text.to_owned();
    };
    format!("{}{}", &text[..start], &text[start + end + 1..])
}

fn after_bang(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let head = text.get(..BANG.len())?;
    let rest = &text[BANG.len()..];
    let ends = rest.chars().next().is_none_or(char::is_whitespace);
    (ends && head.eq_ignore_ascii_case(BANG)).then_some(rest)
}

fn words(mrkdwn: &str) -> String {
    plain(mrkdwn).replace('\u{a0}', " ").trim().to_owned()
}

fn text(delivery: &Value) -> &str {
    pick::text(delivery, "/event/text").unwrap_or_default()
}

/// In a shared channel an event carries the author's own team; else it is the team of the delivery.
fn author(delivery: &Value) -> Option<Person> {
    let id = pick::text(delivery, "/event/user")?;
    let own = pick::text(delivery, "/event/user_team").or_else(|| pick::text(delivery, "/event/team"));
    let name = pick::text(delivery, "/event/user_profile/display_name");
    Some(pick::somebody(id, name.unwrap_or(id), own, here(delivery)))
}

/// The workspace that the bot is in.
fn here(delivery: &Value) -> Option<&str> {
    authorised(delivery, "/team_id")
        .or_else(|| pick::text(delivery, "/context_team_id"))
        .or_else(|| pick::text(delivery, "/team_id"))
}

fn spot(delivery: &Value) -> Option<Spot> {
    Some(Spot {
        channel: pick::text(delivery, "/event/channel")?.to_owned(),
        ts: pick::text(delivery, "/event/ts")?.to_owned(),
        thread_ts: pick::text(delivery, "/event/thread_ts").map(str::to_owned),
    })
}
