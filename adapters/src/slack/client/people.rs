//! Who somebody is: ourselves, the members of a group, and whether a person belongs to the workspace.

use deskhand_core::port::PortError;
use serde_json::Value;

use super::SlackChat;
use super::call::Api;
use super::failure::Repeat;
use crate::slack::wire;

/// The bot as Slack knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    pub user_id: String,
    pub name: String,
    pub team_id: String,
    pub team: String,
    /// The workspace's own address, with a slash at its end.
    pub url: String,
}

impl SlackChat {
    /// Who we are, asked once.
    pub async fn own(&self) -> Result<&Own, PortError> {
        self.own.get_or_try_init(|| own(&self.api)).await
    }

    /// Who somebody is.
    pub async fn person(&self, id: &str) -> Result<Known, PortError> {
        let own = self.own().await?;
        person(&self.api, &own.team_id, id).await
    }
}

pub(super) async fn own(api: &Api) -> Result<Own, PortError> {
    let answer = api
        .get("auth.test", &[])
        .await
        .map_err(|failure| failure.tell("ask who the bot is", "", Repeat::Harmless))?;
    let field = |pointer| wire::text(&answer, pointer).unwrap_or_default().to_owned();
    Ok(Own {
        user_id: field("/user_id"),
        name: field("/user"),
        team_id: field("/team_id"),
        team: field("/team"),
        url: field("/url"),
    })
}

pub(super) async fn members(api: &Api, group: &str) -> Result<Vec<String>, PortError> {
    let answer = api
        .get("usergroups.users.list", &[("usergroup", Some(group))])
        .await
        .map_err(|failure| failure.tell(&format!("read the members of {group}"), "", Repeat::Harmless))?;
    let members = wire::list(&answer, "/users").iter().filter_map(|id| id.as_str());
    Ok(members.map(str::to_owned).collect())
}

/// Somebody in Slack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub full_member: bool,
    /// As others see it; empty where Slack does not say.
    pub name: String,
}

/// What Slack does not say counts against the person.
pub(super) async fn person(api: &Api, team: &str, person: &str) -> Result<Known, PortError> {
    let answer = match api.get("users.info", &[("user", Some(person))]).await {
        Ok(answer) => answer,
        Err(failure) if matches!(failure.code(), Some("user_not_found" | "user_not_visible")) => {
            return Ok(Known::default());
        }
        Err(failure) => return Err(failure.tell("look a person up", "", Repeat::Harmless)),
    };
    let names = [
        "/user/profile/display_name",
        "/user/real_name",
        "/user/profile/real_name",
        "/user/name",
    ];
    let name = names.iter().find_map(|pointer| wire::text(&answer, pointer));
    Ok(Known {
        full_member: is_full_member(&answer, team, person),
        name: name.unwrap_or_default().to_owned(),
    })
}

fn is_full_member(answer: &Value, team: &str, person: &str) -> bool {
    // Slackbot is the one bot that is not marked as one.
    let barred = person == "USLACKBOT"
        || [
            "deleted",
            "is_bot",
            "is_workflow_bot",
            "is_restricted",
            "is_ultra_restricted",
            "is_stranger",
        ]
        .iter()
        .any(|flag| wire::is(answer, &format!("/user/{flag}")));
    let home = !team.is_empty() && wire::text(answer, "/user/team_id") == Some(team);
    // In an Enterprise Grid a person belongs to several workspaces, whichever `team_id` names.
    let teams = wire::list(answer, "/user/enterprise_user/teams");
    let shared = !team.is_empty() && teams.iter().any(|one| one.as_str() == Some(team));
    !barred && (home || shared)
}
