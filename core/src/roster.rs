//! Who may do what: lists of people, groups and roles, and whether a person is on one.
//!
//! Groups are looked up elsewhere; here is only the judgement. A group that nobody has looked up answers "unknown", and
//! it is the caller's duty to look it up or to refuse: unknown is never yes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::approval::{Actor, Surface};

/// One entry of a list, as settings write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Who {
    /// `slack:U024BE7LH`, `discord:80351110224678912`, `local:ada`, `api:billing-system`
    Person {
        surface: Surface,
        id: String,
    },
    Group(Group),
    /// `local:*`: whoever can start the program on the bot's own host.
    AnyoneLocal,
}

/// People under one name, kept by their chat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Group {
    /// `slack:@S0614TZR7`: a user group, by its id.
    SlackUserGroup(String),
    /// `discord:&41771983423143936`: a role, by its id.
    DiscordRole(String),
}

/// Whether somebody is on a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    Yes,
    No,
    /// It hangs on this group, of which nothing is known (any more): look it up, or refuse.
    Unknown(Group),
}

/// Judges whether `actor` is on `list`. An empty list means nobody.
///
/// `is_member` tells what was looked up about a group: `None` when nothing was, or when it is too old to count. What the
/// signed payload itself proves (Discord's roles) needs no look-up.
pub fn membership(list: &[Who], actor: &Actor, is_member: &dyn Fn(&Group) -> Option<bool>) -> Membership {
    let mut unknown = None;
    for who in list {
        match who.matches(actor, is_member) {
            Membership::Yes => return Membership::Yes,
            Membership::No => {}
            // Somebody who is named further down needs no group.
            Membership::Unknown(group) => unknown = unknown.or(Some(group)),
        }
    }
    unknown.map_or(Membership::No, Membership::Unknown)
}

impl Who {
    pub fn matches(&self, actor: &Actor, is_member: &dyn Fn(&Group) -> Option<bool>) -> Membership {
        let yes = match self {
            Self::AnyoneLocal => actor.surface == Surface::Local,
            Self::Person { surface, id } => *surface == actor.surface && *id == actor.id,
            Self::Group(group) if group.surface() != actor.surface => false,
            Self::Group(group) => match group.proved_by(actor).or_else(|| is_member(group)) {
                Some(member) => member,
                None => return Membership::Unknown(group.clone()),
            },
        };
        if yes { Membership::Yes } else { Membership::No }
    }
}

impl Group {
    pub fn surface(&self) -> Surface {
        match self {
            Self::SlackUserGroup(_) => Surface::Slack,
            Self::DiscordRole(_) => Surface::Discord,
        }
    }

    /// The group's own id, without any sign before it.
    pub fn id(&self) -> &str {
        match self {
            Self::SlackUserGroup(id) | Self::DiscordRole(id) => id,
        }
    }

    /// Discord tells all roles of a member with each click made in a guild, and none outside of one.
    fn proved_by(&self, actor: &Actor) -> Option<bool> {
        match self {
            Self::DiscordRole(role) if actor.workspace.is_some() => Some(actor.roles.contains(role)),
            Self::SlackUserGroup(_) | Self::DiscordRole(_) => None,
        }
    }
}

/// Why an entry of a list cannot be read, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" {why}")]
pub struct NotAWho {
    pub text: String,
    pub why: &'static str,
}

impl FromStr for Who {
    type Err = NotAWho;

    fn from_str(text: &str) -> Result<Self, NotAWho> {
        let text = text.trim();
        let wrong = |why| {
            Err(NotAWho {
                text: text.chars().take(60).collect(),
                why,
            })
        };
        let Some((surface, id)) = text.split_once(':') else {
            return wrong("names nobody: write slack:U…, slack:@S…, discord:…, discord:&…, local:… or api:….");
        };
        let Ok(surface) = surface.trim().to_ascii_lowercase().parse::<Surface>() else {
            return wrong("begins with an unknown place: there are slack, discord, local and api.");
        };
        let id = id.trim();
        let person = |id: &str| {
            Ok(Self::Person {
                surface,
                id: id.to_owned(),
            })
        };
        match (surface, id) {
            (_, "") => wrong("names nobody behind the colon."),
            (Surface::Local, "*") => Ok(Self::AnyoneLocal),
            (_, "*") => wrong("would let everybody in: only local:* may."),
            (Surface::Slack, _) => match id.strip_prefix('@') {
                Some(group) if plain(group) && group.starts_with('S') => {
                    Ok(Self::Group(Group::SlackUserGroup(group.to_owned())))
                }
                Some(_) => wrong("is not a user group's id: those begin with S, and stand in the group's address."),
                None if plain(id) && id.starts_with(['U', 'W']) => person(id),
                None => wrong("is not a member id: those begin with U or W, and stand in the person's profile."),
            },
            (Surface::Discord, _) => match id.strip_prefix('&') {
                Some(role) if digits(role) => Ok(Self::Group(Group::DiscordRole(role.to_owned()))),
                None if digits(id) => person(id),
                Some(_) | None => wrong("is not a Discord id: those are long numbers, with & before them for a role."),
            },
            (Surface::Local | Surface::Api, _) if id.contains(char::is_whitespace) => wrong("has a space in its name."),
            (Surface::Local | Surface::Api, _) => person(id),
        }
    }
}

fn plain(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn digits(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person { surface, id } => write!(f, "{surface}:{id}"),
            Self::Group(group) => group.fmt(f),
            Self::AnyoneLocal => f.write_str("local:*"),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SlackUserGroup(id) => write!(f, "slack:@{id}"),
            Self::DiscordRole(id) => write!(f, "discord:&{id}"),
        }
    }
}

impl TryFrom<String> for Who {
    type Error = NotAWho;

    fn try_from(text: String) -> Result<Self, NotAWho> {
        text.parse()
    }
}

impl From<Who> for String {
    fn from(who: Who) -> Self {
        who.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(key: &str) -> Actor {
        let (surface, id) = key.split_once(':').expect("surface:id");
        Actor {
            surface: surface.parse().expect("a surface"),
            id: id.into(),
            name: "Sam Sample".into(),
            workspace: None,
            roles: Vec::new(),
        }
    }

    fn list(text: &str) -> Vec<Who> {
        text.split_whitespace().map(|who| who.parse().expect(who)).collect()
    }

    fn check(who: &str, key: &str, known: Option<bool>, expected: Membership) {
        assert_eq!(
            membership(&list(who), &actor(key), &|_| known),
            expected,
            "{key} on [{who}]"
        );
    }

    fn unknown(group: &str) -> Membership {
        match group.parse() {
            Ok(Who::Group(group)) => Membership::Unknown(group),
            other => panic!("{other:?} is no group"),
        }
    }

    #[test]
    fn people_are_let_in_by_name_and_by_group() {
        check("", "local:ada", Some(true), Membership::No);
        check("slack:U1 slack:U2", "slack:U2", None, Membership::Yes);
        check("slack:U1", "slack:U1X", None, Membership::No);
        check("slack:U1", "slack:u1", None, Membership::No);
        check("slack:U1", "api:U1", None, Membership::No);
        check("local:*", "local:ada", None, Membership::Yes);
        check("local:*", "slack:Uada", None, Membership::No);
        check("local:ada", "local:bob", None, Membership::No);
        check("slack:@S1", "slack:U1", Some(true), Membership::Yes);
        check("slack:@S1", "slack:U1", Some(false), Membership::No);
    }

    #[test]
    fn a_group_nobody_looked_up_is_unknown_and_never_yes() {
        check("slack:@S1 slack:@S2", "slack:U1", None, unknown("slack:@S1"));
        check("slack:@S1 slack:U1", "slack:U1", None, Membership::Yes);
        check("slack:@S1", "discord:5", None, Membership::No);
        check("discord:&7", "discord:5", None, unknown("discord:&7"));
    }

    #[test]
    fn roles_count_as_the_signed_payload_tells_them() {
        let mut member = actor("discord:5");
        member.workspace = Some("1".into());
        member.roles = vec!["7".into()];
        let judge = |who: &str, known| membership(&list(who), &member, &|_| known);
        assert_eq!(judge("discord:&7", None), Membership::Yes);
        // The payload is newer than anything looked up.
        assert_eq!(judge("discord:&8", Some(true)), Membership::No);
    }

    #[test]
    fn entries_are_written_as_they_are_read() {
        for text in [
            "slack:U024BE7LH",
            "slack:@S0614TZR7",
            "discord:80351110224678912",
            "discord:&41",
            "local:*",
            "local:ada",
            "api:erp",
        ] {
            assert_eq!(text.parse::<Who>().map(|who| who.to_string()).as_deref(), Ok(text));
        }
        assert_eq!(
            " Slack:U1 ".parse::<Who>().map(|who| who.to_string()).as_deref(),
            Ok("slack:U1")
        );
    }

    #[test]
    fn what_names_nobody_is_refused_with_a_reason() {
        for (text, sentence) in [
            (
                "ada",
                "\"ada\" names nobody: write slack:U…, slack:@S…, discord:…, discord:&…, local:… or api:….",
            ),
            (
                "teams:U1",
                "\"teams:U1\" begins with an unknown place: there are slack, discord, local and api.",
            ),
            ("slack:", "\"slack:\" names nobody behind the colon."),
            ("slack:*", "\"slack:*\" would let everybody in: only local:* may."),
            (
                "slack:ada",
                "\"slack:ada\" is not a member id: those begin with U or W, and stand in the person's profile.",
            ),
            (
                "slack:@leads",
                "\"slack:@leads\" is not a user group's id: those begin with S, and stand in the group's address.",
            ),
            (
                "discord:@5",
                "\"discord:@5\" is not a Discord id: those are long numbers, with & before them for a role.",
            ),
            (
                "discord:&",
                "\"discord:&\" is not a Discord id: those are long numbers, with & before them for a role.",
            ),
            ("api:my system", "\"api:my system\" has a space in its name."),
        ] {
            assert_eq!(text.parse::<Who>().map_err(|e| e.to_string()), Err(sentence.to_owned()));
        }
    }
}
