//! The Events API: mentions and what people write in channels.

use serde_json::Value;

use super::{Attached, Malformed, Person, Said, SlackInbound, Spot, Talk, pick};
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
    SlackInbound::Mention(Said {
        by,
        delivery: pick::owned(delivery, "/event_id"),
        spot,
        text: words(&without_mention(delivery, text(delivery))),
        direct: false,
    })
}

fn message(delivery: &Value) -> SlackInbound {
    let subtype = pick::text(delivery, "/event/subtype");
    match subtype {
        None | Some("file_share" | "thread_broadcast" | "me_message" | "bot_message") => {}
        Some(other) => return SlackInbound::ignored(format!("a message of the kind {other}")),
    }
    if is_ours(delivery) {
        return SlackInbound::ignored("a post of our own");
    }
    let Some(spot) = spot(delivery) else {
        return SlackInbound::ignored("a message without a place");
    };
    let by = author(delivery);
    let bot = pick::text(delivery, "/event/bot_id").map(str::to_owned);
    if by.is_none() && bot.is_none() {
        return SlackInbound::ignored("a message without an author");
    }
    let id = pick::owned(delivery, "/event_id");
    let text = text(delivery);
    // An app's words are talk and never a command: two bots could keep each other busy.
    if let (Some(by), None) = (&by, &bot) {
        let said = |text: &str, direct| Said {
            by: by.clone(),
            delivery: id.clone(),
            spot: spot.clone(),
            text: words(text),
            direct,
        };
        if let Some(rest) = after_bang(text) {
            return SlackInbound::Bang(said(rest, false));
        }
        if pick::text(delivery, "/event/channel_type") == Some("im") {
            return SlackInbound::Mention(said(&without_mention(delivery, text), true));
        }
        if mentioned(delivery).is_some_and(|mention| text.contains(&mention)) {
            return SlackInbound::ignored("a mention, which comes as an event of its own");
        }
    }
    SlackInbound::Talk(Talk {
        by,
        bot,
        team: pick::owned(delivery, "/team_id"),
        delivery: id,
        spot,
        subtype: subtype.map(str::to_owned),
        text: plain(text),
        files: files(delivery),
    })
}

/// Ours by the app, or by the bot's own account.
fn is_ours(delivery: &Value) -> bool {
    let app = pick::text(delivery, "/api_app_id");
    let posted = pick::text(delivery, "/event/app_id").or_else(|| pick::text(delivery, "/event/bot_profile/app_id"));
    let author = pick::text(delivery, "/event/user");
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
    let here = authorised(delivery, "/team_id")
        .or_else(|| pick::text(delivery, "/context_team_id"))
        .or_else(|| pick::text(delivery, "/team_id"));
    let name = pick::text(delivery, "/event/user_profile/display_name");
    Some(pick::somebody(id, name.unwrap_or(id), own, here))
}

fn spot(delivery: &Value) -> Option<Spot> {
    Some(Spot {
        channel: pick::text(delivery, "/event/channel")?.to_owned(),
        ts: pick::text(delivery, "/event/ts")?.to_owned(),
        thread_ts: pick::text(delivery, "/event/thread_ts").map(str::to_owned),
    })
}

fn files(delivery: &Value) -> Vec<Attached> {
    let files = delivery
        .pointer("/event/files")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    files
        .iter()
        .map(|file| Attached {
            name: pick::text(file, "/name")
                .or_else(|| pick::text(file, "/title"))
                .unwrap_or("a file")
                .to_owned(),
            size: file.pointer("/size").and_then(Value::as_u64).unwrap_or_default(),
        })
        .collect()
}
