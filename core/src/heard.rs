//! What people write where the bot listens, the same for every chat: adapters make it from bytes, the shell gives it to the
//! ticket that it belongs to.
//!
//! A ticket's outside id is the channel and the message that its talk hangs on: `<channel>/<root>`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::approval::Actor;
use crate::ticket::{OutsideId, Requester, Source};

/// Something written where the bot listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Post {
    pub source: Source,
    /// Unique for this happening: a repeat changes nothing.
    pub delivery: String,
    pub what: PostKind,
    /// Where it stands. In Discord a thread is a channel of its own.
    pub channel: String,
    /// Slack's `ts`, Discord's message id.
    pub id: String,
    /// The thread that it stands in. `None`: at the top of a channel.
    pub thread: Option<Thread>,
    /// `None`: a program, or nobody that the source names. A Discord author has a workspace only where the roles there came
    /// with it: without one they are looked up.
    pub author: Option<Actor>,
    /// A program wrote it, we ourselves included: it is never anything.
    #[serde(default)]
    pub program: bool,
    /// The author belongs to another organisation (Slack Connect): never one of the team.
    #[serde(default)]
    pub outsider: bool,
    /// It mentions the bot, or begins with `!triage`.
    #[serde(default)]
    pub mentions_us: bool,
    /// Plain text, without the mention of us. Of an edit: the text as it is now.
    pub text: String,
    #[serde(default)]
    pub files: Vec<Attached>,
    /// When it was written; of an edit or a deletion, when that was done.
    pub at: Option<DateTime<Utc>>,
    /// Where people find it.
    #[serde(default)]
    pub url: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostKind {
    New,
    Edited,
    Deleted,
}

/// A thread, by the message that it hangs on. In Discord that has the thread's own id, and stands in the channel above it or,
/// of a forum's post, in the thread itself: the channel is the one above in both cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub channel: String,
    pub root: String,
}

/// A file, as the source tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The source's id of the file.
    pub id: String,
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Its media type: `text/plain`; empty where the source does not say.
    pub kind: String,
    /// Where it can be read, by us.
    pub url: Option<String>,
}

impl Attached {
    /// What can be read as words.
    pub fn is_text(&self) -> bool {
        let kind = self.kind.split(';').next().unwrap_or_default().trim();
        let by_kind = kind.starts_with("text/")
            || matches!(
                kind,
                "application/json" | "application/xml" | "application/yaml" | "application/x-yaml" | "application/toml"
            );
        let ending = self
            .name
            .rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase());
        let by_name = matches!(
            ending.as_deref(),
            Some("txt" | "log" | "csv" | "tsv" | "md" | "json" | "xml" | "yaml" | "yml" | "toml" | "ini" | "conf")
        );
        self.url.is_some() && (by_kind || (by_name && (kind.is_empty() || kind == "application/octet-stream")))
    }

    /// One line for people and for the model. What is text names the artifact by which it is read.
    fn line(&self) -> String {
        let name = self.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = if name.is_empty() { "a file" } else { &name };
        let size = match self.size {
            0..1000 => format!("{} bytes", self.size),
            1000..1_000_000 => format!("{} kB", self.size.div_ceil(1000)),
            _ => format!("{} MB", self.size.div_ceil(1_000_000)),
        };
        match self.is_text() {
            true => format!("[attached: {name}, {size}, artifact {}]", self.id),
            false => format!("[attached: {name}, {size}]"),
        }
    }
}

/// No comment lists more files.
const MOST_FILES: usize = 50;

impl Post {
    /// Unique within the source, and the same for the post, its edits and its deletion.
    pub fn comment_id(&self) -> String {
        match self.source {
            // A `ts` is unique within its channel only.
            Source::Slack => format!("{}/{}", self.channel, self.id),
            Source::Discord | Source::Zendesk | Source::Email | Source::Api => self.id.clone(),
        }
    }

    /// The ticket that it is on, or would open: its thread's, else its own.
    pub fn ticket(&self) -> OutsideId {
        let id = match &self.thread {
            Some(thread) => format!("{}/{}", thread.channel, thread.root),
            None => format!("{}/{}", self.channel, self.id),
        };
        OutsideId {
            source: self.source,
            id,
        }
    }

    /// The channel that is watched or not: a thread belongs to the channel above it.
    pub fn stands_in(&self) -> [&str; 2] {
        let above = self
            .thread
            .as_ref()
            .map_or(self.channel.as_str(), |thread| &thread.channel);
        [above, &self.channel]
    }

    /// It begins the talk that it stands in.
    pub fn begins(&self) -> bool {
        self.thread.as_ref().is_none_or(|thread| thread.root == self.id)
    }

    /// The words, and a line for each file.
    pub fn body(&self) -> String {
        let mut body = self.text.trim().to_owned();
        for file in self.files.iter().take(MOST_FILES) {
            if !body.is_empty() {
                body.push('\n');
            }
            body.push_str(&file.line());
        }
        body
    }

    /// Its author as the requester of a ticket.
    pub fn requester(&self) -> Requester {
        self.author
            .as_ref()
            .map_or_else(Requester::default, |author| Requester {
                name: author.name.clone(),
                address: author.key(),
            })
    }
}

/// The first line that says something, as the subject of a ticket.
pub fn subject(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("A message without words");
    let short: String = line.chars().take(100).collect();
    if short.len() < line.len() {
        format!("{short}…")
    } else {
        short
    }
}

/// What a ticket is told when somebody changed what they had written. `was` is when that was.
pub fn edited(who: &str, was: DateTime<Utc>, now: &str) -> String {
    let (who, at) = (named(who), was.format("%H:%M UTC"));
    match now.trim() {
        "" => format!("{who} edited their message of {at}: no words are left."),
        now => format!("{who} edited their message of {at}. It says now:\n{now}"),
    }
}

/// What a ticket is told when a message was taken back.
pub fn deleted(who: &str, was: DateTime<Utc>) -> String {
    format!("{} deleted their message of {}.", named(who), was.format("%H:%M UTC"))
}

fn named(who: &str) -> &str {
    if who.trim().is_empty() { "Somebody" } else { who }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(source: Source) -> Post {
        Post {
            source,
            delivery: "d".into(),
            what: PostKind::New,
            channel: "C1".into(),
            id: "2".into(),
            thread: None,
            author: None,
            program: false,
            outsider: false,
            mentions_us: false,
            text: " Where is it? ".into(),
            files: Vec::new(),
            at: None,
            url: None,
        }
    }

    fn file(name: &str, size: u64, kind: &str) -> Attached {
        Attached {
            id: "F1".into(),
            name: name.into(),
            size,
            kind: kind.into(),
            url: Some("https://files.example.com/1".into()),
        }
    }

    #[test]
    fn a_talk_has_one_ticket_whichever_of_its_posts_tells_of_it() {
        let mut root = post(Source::Slack);
        assert_eq!(root.ticket().id, "C1/2");
        assert!(root.begins());
        root.thread = Some(Thread {
            channel: "C1".into(),
            root: "2".into(),
        });
        assert!(
            root.begins(),
            "Slack gives a root its own thread once somebody answered"
        );
        let reply = Post {
            id: "3".into(),
            ..root.clone()
        };
        assert_eq!(reply.ticket(), root.ticket());
        assert!(!reply.begins());
        assert_eq!(reply.comment_id(), "C1/3");
        assert_eq!(post(Source::Discord).comment_id(), "2");
    }

    #[test]
    fn files_stand_below_the_words_and_text_ones_name_their_artifact() {
        let mut post = post(Source::Slack);
        post.files = vec![file("a\n b.png", 4096, "image/png"), file("x.log", 12, "")];
        assert_eq!(
            post.body(),
            "Where is it?\n[attached: a b.png, 5 kB]\n[attached: x.log, 12 bytes, artifact F1]"
        );
        post.text.clear();
        assert!(post.body().starts_with("[attached: a b.png"));
    }

    #[test]
    fn text_is_told_by_its_type_and_by_its_name_where_there_is_none() {
        assert!(file("x", 1, "text/csv; charset=utf-8").is_text());
        assert!(file("x.LOG", 1, "application/octet-stream").is_text());
        assert!(!file("x.log", 1, "image/png").is_text());
        assert!(!file("x.exe", 1, "").is_text());
        let nowhere = Attached {
            url: None,
            ..file("x.txt", 1, "text/plain")
        };
        assert!(!nowhere.is_text(), "what cannot be read is no artifact");
    }

    #[test]
    fn the_subject_is_the_first_line_that_says_something() {
        assert_eq!(subject("\n  Where is it? \nI waited."), "Where is it?");
        assert_eq!(subject(" \n"), "A message without words");
        assert_eq!(subject(&"é".repeat(200)).chars().count(), 101);
    }

    #[test]
    fn a_change_is_told_with_who_and_when() {
        let at = "2026-03-01T10:02:00Z".parse().expect("a time");
        assert_eq!(
            edited("Ada", at, "order 4712"),
            "Ada edited their message of 10:02 UTC. It says now:\norder 4712"
        );
        assert_eq!(
            edited("Ada", at, ""),
            "Ada edited their message of 10:02 UTC: no words are left."
        );
        assert_eq!(deleted("", at), "Somebody deleted their message of 10:02 UTC.");
    }
}
