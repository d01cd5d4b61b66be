//! Who somebody is: ourselves, the members of a group, and whether a person belongs to the workspace.

use deskhand_core::port::PortError;

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
}

impl SlackChat {
    /// Who we are, asked once.
    pub async fn own(&self) -> Result<&Own, PortError> {
        self.own.get_or_try_init(|| own(&self.api)).await
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

/// What Slack does not say counts against the person.
pub(super) async fn is_full_member(api: &Api, team: &str, person: &str) -> Result<bool, PortError> {
    let answer = match api.get("users.info", &[("user", Some(person))]).await {
        Ok(answer) => answer,
        Err(failure) if matches!(failure.code(), Some("user_not_found" | "user_not_visible")) => return Ok(false),
        Err(failure) => return Err(failure.tell("look a person up", "", Repeat::Harmless)),
    };
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
        .any(|flag| wire::is(&answer, &format!("/user/{flag}")));
    let home = !team.is_empty() && wire::text(&answer, "/user/team_id") == Some(team);
    // In an Enterprise Grid a person belongs to several workspaces, whichever `team_id` names.
    let teams = wire::list(&answer, "/user/enterprise_user/teams");
    let shared = !team.is_empty() && teams.iter().any(|one| one.as_str() == Some(team));
    Ok(!barred && (home || shared))
}
