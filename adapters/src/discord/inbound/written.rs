//! Messages as the gateway tells of them, and as pages of messages show them, as something that was heard.

use deskhand_core::heard::{Post, PostKind};
use deskhand_core::ticket::Source;
use serde_json::Value;

use super::pick;
use crate::discord::Stands;
use crate::discord::client::Own;
use crate::discord::desk;

/// Words that make a command of what follows, without a mention.
const BANG: &str = "!triage";

/// A message that was written. `None`: none of anybody, such as word that somebody joined or pinned something.
pub fn written(message: &Value, stands: &Stands, own: &Own) -> Option<Post> {
    // 0 is what people write, 19 a reply (docs.discord.com, "Message Types").
    if !matches!(message["type"].as_u64(), None | Some(0 | 19)) {
        return None;
    }
    let mut read = pick::message(message)?;
    read.thread_of.clone_from(&stands.thread_of);
    let mut post = desk::post(&read, Some(&own.guild));
    post.program |= message["webhook_id"].is_string();
    if let Some(author) = &mut post.author {
        author_of(author, message);
    }
    let words = plain(&post.text, message, &own.user_id);
    let rest = words.text.trim_start();
    let (mentions_us, text) = match rest.get(..BANG.len()).filter(|head| head.eq_ignore_ascii_case(BANG)) {
        Some(_) if rest[BANG.len()..].starts_with(char::is_whitespace) || rest.len() == BANG.len() => {
            (true, rest[BANG.len()..].trim().to_owned())
        }
        Some(_) | None => (words.mentions_us, words.text.trim().to_owned()),
    };
    post.mentions_us = mentions_us;
    // A forum's post has a title, which its first message does not repeat.
    post.text = match stands.thread_of.is_some() && read.id == read.channel && !stands.name.is_empty() {
        true => format!("{}\n\n{text}", stands.name).trim_end().to_owned(),
        false => text,
    };
    Some(post)
}

/// A message whose words were changed. `None` where they were not, as when a link gets its preview.
pub fn edited(message: &Value, stands: &Stands, own: &Own) -> Option<Post> {
    let at = pick::text(message, "/edited_timestamp")?;
    message.get("content")?.as_str()?;
    let mut post = written(message, stands, own)?;
    post.delivery = format!("edit:{}:{at}", post.id);
    post.what = PostKind::Edited;
    post.at = at.parse().ok();
    Some(post)
}

/// A message that was deleted, by whomever; Discord names neither its author nor the time.
pub fn deleted(channel: &str, id: &str, stands: &Stands) -> Post {
    Post {
        source: Source::Discord,
        delivery: format!("deleted:{id}"),
        what: PostKind::Deleted,
        channel: channel.to_owned(),
        id: id.to_owned(),
        thread: desk::thread(channel, stands.thread_of.as_deref()),
        author: None,
        program: false,
        outsider: false,
        mentions_us: false,
        text: String::new(),
        files: Vec::new(),
        at: None,
        url: None,
    }
}

/// Their name and roles in our server, where the message brings them along.
fn author_of(author: &mut deskhand_core::approval::Actor, message: &Value) {
    if !message["member"].is_object() {
        return;
    }
    if let Some(nick) = pick::text(message, "/member/nick") {
        nick.clone_into(&mut author.name);
    }
    author.workspace = pick::text(message, "/guild_id").map(str::to_owned);
    let roles = pick::list(message, "/member/roles").iter();
    author.roles = roles.filter_map(Value::as_str).map(str::to_owned).collect();
}

struct Words {
    text: String,
    mentions_us: bool,
}

/// Mentions as names, our own taken out; emoji by their names; everything else as it was written.
fn plain(text: &str, message: &Value, us: &str) -> Words {
    let mut words = Words {
        text: String::with_capacity(text.len()),
        mentions_us: false,
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        words.text.push_str(before);
        let reference = after
            .split_once('>')
            .and_then(|(inner, after)| Some((reference(inner)?, after)));
        match reference {
            Some((Reference::Person(id), after)) if id == us => {
                words.mentions_us = true;
                rest = after;
            }
            Some((Reference::Person(id), after)) => {
                words.text.push_str(&format!("@{}", name_of(message, id)));
                rest = after;
            }
            Some((Reference::Named(name), after)) => {
                words.text.push_str(&name);
                rest = after;
            }
            None => {
                words.text.push('<');
                rest = after;
            }
        }
    }
    words.text.push_str(rest);
    words
}

enum Reference<'a> {
    Person(&'a str),
    Named(String),
}

/// One `<…>` (docs.discord.com, "Message Formatting"); `None` for what people put between such signs themselves.
fn reference(inner: &str) -> Option<Reference<'_>> {
    let digits = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    if let Some(id) = inner.strip_prefix("@&").filter(|id| digits(id)) {
        return Some(Reference::Named(format!("@role {id}")));
    }
    let person = inner.strip_prefix("@!").or_else(|| inner.strip_prefix('@'));
    if let Some(id) = person.filter(|id| digits(id)) {
        return Some(Reference::Person(id));
    }
    if let Some(id) = inner.strip_prefix('#').filter(|id| digits(id)) {
        return Some(Reference::Named(format!("#channel {id}")));
    }
    let emoji = inner.strip_prefix("a:").or_else(|| inner.strip_prefix(':'))?;
    let (name, id) = emoji.split_once(':')?;
    digits(id).then(|| Reference::Named(format!(":{name}:")))
}

fn name_of<'a>(message: &'a Value, id: &'a str) -> &'a str {
    let mentioned = pick::list(message, "/mentions").iter().find(|user| user["id"] == id);
    let name = mentioned.and_then(|user| pick::text(user, "/global_name").or_else(|| pick::text(user, "/username")));
    name.unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own() -> Own {
        Own {
            user_id: "11".into(),
            name: "deskhand".into(),
            guild: "29".into(),
        }
    }

    fn message(content: &str) -> Value {
        json!({
            "id": "300", "channel_id": "64", "guild_id": "29", "type": 0, "content": content,
            "author": { "id": "80", "username": "nelly", "global_name": "Nelly" },
            "member": { "nick": null, "roles": ["53"] },
            "mentions": [{ "id": "80", "username": "nelly", "global_name": "Nelly" }],
            "timestamp": "2026-10-09T08:53:20.000000+00:00", "edited_timestamp": null,
            "attachments": [{ "id": "9", "filename": "a.png", "size": 12, "content_type": "image/png" }],
        })
    }

    fn heard(content: &str) -> Post {
        written(&message(content), &Stands::default(), &own()).expect("somebody wrote it")
    }

    #[test]
    fn a_message_brings_its_author_with_their_roles_in_our_server() {
        let post = heard("Wo ist meine Bestellung?");
        let author = post.author.as_ref().expect("an author");
        assert_eq!(
            (author.name.as_str(), author.workspace.as_deref()),
            ("Nelly", Some("29"))
        );
        assert_eq!(author.roles, ["53"]);
        assert_eq!(post.ticket().id, "64/300");
        assert_eq!(post.body(), "Wo ist meine Bestellung?\n[attached: a.png, 12 bytes]");
        assert!(!post.mentions_us && !post.program);
    }

    #[test]
    fn a_mention_of_us_is_told_and_taken_out_and_others_are_names() {
        for (content, mentions_us, text) in [
            ("<@11> list", true, "list"),
            ("<@!11>, where is it?", true, ", where is it?"),
            (
                "ask <@80> or <@&53> in <#64> <a:wave:5>",
                false,
                "ask @Nelly or @role 53 in #channel 64 :wave:",
            ),
            ("a < b, <b>, <@x> and <:", false, "a < b, <b>, <@x> and <:"),
            ("!triage T-1001", true, "T-1001"),
            ("!TRIAGE", true, ""),
            ("!triages are odd", false, "!triages are odd"),
            ("é!triage", false, "é!triage"),
        ] {
            let post = heard(content);
            assert_eq!((post.mentions_us, post.text.as_str()), (mentions_us, text), "{content}");
        }
    }

    #[test]
    fn a_forum_post_begins_with_its_title_and_its_answers_do_not() {
        let stands = Stands {
            thread_of: Some("88".into()),
            name: "Refund".into(),
        };
        let mut first = message("It never came.");
        first["channel_id"] = "300".into();
        let post = written(&first, &stands, &own()).expect("somebody wrote it");
        assert_eq!(
            (post.text.as_str(), post.ticket().id.as_str()),
            ("Refund\n\nIt never came.", "88/300")
        );
        assert!(post.begins() && post.stands_in().contains(&"88"));
        let mut later = message("Hello?");
        (later["id"], later["channel_id"]) = ("301".into(), "300".into());
        let post = written(&later, &stands, &own()).expect("somebody wrote it");
        assert_eq!((post.text.as_str(), post.ticket().id.as_str()), ("Hello?", "88/300"));
        assert!(!post.begins());
    }

    #[test]
    fn what_nobody_wrote_is_nothing_and_what_programs_wrote_is_theirs() {
        for kind in [7, 6, 18, 21] {
            let mut joined = message("");
            joined["type"] = kind.into();
            assert_eq!(written(&joined, &Stands::default(), &own()), None);
        }
        let mut hook = message("Build failed");
        hook["webhook_id"] = "5".into();
        assert!(written(&hook, &Stands::default(), &own()).expect("a message").program);
    }

    #[test]
    fn an_edit_has_a_time_and_a_preview_has_none() {
        let mut changed = message("order 4712");
        assert_eq!(edited(&changed, &Stands::default(), &own()), None);
        changed["edited_timestamp"] = "2026-10-09T09:00:00.000000+00:00".into();
        let post = edited(&changed, &Stands::default(), &own()).expect("it was changed");
        assert_eq!(
            (post.what, post.delivery.as_str()),
            (PostKind::Edited, "edit:300:2026-10-09T09:00:00.000000+00:00")
        );
        changed.as_object_mut().expect("an object").remove("content");
        assert_eq!(
            edited(&changed, &Stands::default(), &own()),
            None,
            "a part of a message"
        );
    }
}
