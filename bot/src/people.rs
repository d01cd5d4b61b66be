//! Who may do what, from the settings' lists and what is known of groups. What cannot be checked is refused.

use deskhand_adapters::discord::DiscordChat;
use deskhand_adapters::postgres::roster;
use deskhand_core::approval::{Actor, Surface};
use deskhand_core::command::Authority;
use deskhand_core::facts::Standing;
use deskhand_core::roster::{Group, Membership, Who, membership};

use crate::app::App;

/// Whether a person acted where our people are: in Discord's case, in our server or in a direct message. `None`: the chat
/// must be asked first which server is ours.
pub fn is_of_ours(app: &App, actor: &Actor) -> Option<bool> {
    match (actor.surface, &actor.workspace) {
        (Surface::Slack | Surface::Local | Surface::Api, _) | (Surface::Discord, None) => Some(true),
        (Surface::Discord, Some(theirs)) => app.discord.as_ref()?.known_guild().map(|ours| ours == theirs),
    }
}

/// Whether a person is on a list, by what is freshly known of its groups.
pub async fn on_list(app: &App, list: &[Who], actor: &Actor) -> sqlx::Result<Membership> {
    let groups: Vec<String> = groups(list).map(|group| kept_as(group, actor)).collect();
    if groups.is_empty() {
        return Ok(membership(list, actor, &|_| None));
    }
    let (member, stale) = roster::groups_of(&app.pool, &actor.id, &groups, app.clock.moved()).await?;
    Ok(membership(list, actor, &|group| {
        let name = kept_as(group, actor);
        if stale.contains(&name) {
            None
        } else {
            Some(member.contains(&name))
        }
    }))
}

/// Judged anew, right before an execution: what is not freshly known is looked up, and a look-up that fails is no yes.
pub async fn standing(app: &App, list: &[Who], actor: &Actor) -> anyhow::Result<Standing> {
    let mut known = on_list(app, list, actor).await?;
    if let Membership::Unknown(_) = known {
        look_up(app, list, actor).await?;
        known = on_list(app, list, actor).await?;
    }
    Ok(match known {
        Membership::Yes => Standing::Holds,
        Membership::No => Standing::Lost,
        Membership::Unknown(_) => Standing::Unknown,
    })
}

/// Whether a person may give a command of this circle. `Ok(None)`: it must be looked up first.
pub async fn may_command(app: &App, authority: Authority, actor: &Actor) -> sqlx::Result<Option<bool>> {
    // Whoever can start the program on the bot's own host is an admin.
    if actor.surface == Surface::Local {
        return Ok(Some(true));
    }
    match is_of_ours(app, actor) {
        Some(true) => {}
        elsewhere => return Ok(elsewhere),
    }
    let admin = on_list(app, &app.config.admins, actor).await?;
    if admin == Membership::Yes {
        return Ok(Some(true));
    }
    let known = |membership: Membership| match membership {
        Membership::Yes => Some(true),
        Membership::No => Some(false),
        Membership::Unknown(_) => None,
    };
    match (authority, &app.config.team) {
        (Authority::Admin, _) => Ok(known(admin)),
        (Authority::Team, Some(team)) => Ok(known(on_list(app, team, actor).await?)),
        // Without a list: full members of the connected workspace, no guests, no outside organisations.
        (Authority::Team, None) if actor.surface == Surface::Slack => {
            roster::full_member(&app.pool, &actor.key(), app.clock.moved()).await
        }
        // Anybody may be a member of a Discord server, customers too: there it is those who decide.
        (Authority::Team, None) if actor.surface == Surface::Discord => {
            Ok(known(on_list(app, &app.config.approvers, actor).await?))
        }
        (Authority::Team, None) => Ok(Some(false)),
    }
}

/// The lists that a command of a person may hang on.
pub fn who_may_command(app: &App, actor: &Actor) -> Vec<Who> {
    let team = match (&app.config.team, actor.surface) {
        (Some(team), _) => team.as_slice(),
        (None, Surface::Discord) => &app.config.approvers,
        (None, Surface::Slack | Surface::Local | Surface::Api) => &[],
    };
    app.config.admins.iter().chain(team).cloned().collect()
}

/// Asks the chat about the groups of a list and about the person, and keeps the answers. What the chat does not answer
/// stays unknown.
pub async fn look_up(app: &App, list: &[Who], actor: &Actor) -> anyhow::Result<()> {
    if let (Surface::Discord, Some(discord)) = (actor.surface, &app.discord) {
        return look_up_roles(app, discord, list, actor).await;
    }
    let Some(chat) = app.chat(actor.surface.as_str()) else {
        return Ok(());
    };
    for group in groups(list).filter(|group| group.surface() == actor.surface) {
        match chat.members(group.id()).await {
            Ok(people) => roster::sync_group(&app.pool, &key(group), &people, app.clock.moved()).await?,
            Err(error) => tracing::warn!(group = %key(group), %error, "a group's members could not be looked up"),
        }
    }
    if app.config.team.is_none() {
        look_at(app, actor).await?;
    }
    Ok(())
}

/// Asks Slack about one person: whether they are a full member, and how they are called.
async fn look_at(app: &App, actor: &Actor) -> sqlx::Result<()> {
    let (Surface::Slack, Some(slack)) = (actor.surface, &app.slack) else {
        return Ok(());
    };
    match slack.person(&actor.id).await {
        Ok(person) => {
            let (full, name) = (person.full_member, &person.name);
            roster::remember_person(&app.pool, &actor.key(), full, name, app.clock.moved()).await?;
        }
        Err(error) => tracing::warn!(%error, "a person could not be looked up"),
    }
    Ok(())
}

/// Puts a person's name where Slack told only their id. It is asked once; without an answer the id has to do.
pub async fn call_by_name(app: &App, actor: &mut Actor) -> sqlx::Result<()> {
    if call_by_known_name(app, actor).await? {
        return Ok(());
    }
    look_at(app, actor).await?;
    call_by_known_name(app, actor).await?;
    Ok(())
}

/// The same from what is known; nobody is asked. False where nobody knows.
pub async fn call_by_known_name(app: &App, actor: &mut Actor) -> sqlx::Result<bool> {
    if actor.surface != Surface::Slack || actor.name != actor.id {
        return Ok(true);
    }
    match roster::name_of(&app.pool, &actor.key()).await? {
        Some(name) => actor.name = name,
        None => return Ok(false),
    }
    Ok(true)
}

/// Asks how those are called whom the settings name, so that what they do can be told with their names.
pub async fn learn_names(app: &App) -> sqlx::Result<()> {
    for who in all_lists(app).flatten() {
        if let Who::Person { surface, id } = who {
            let mut actor = Actor {
                surface: *surface,
                id: id.clone(),
                name: id.clone(),
                workspace: None,
                roles: Vec::new(),
            };
            call_by_name(app, &mut actor).await?;
        }
    }
    Ok(())
}

/// Discord is asked for one person's roles: bots may not list a role's members without a privileged intent.
async fn look_up_roles(app: &App, discord: &DiscordChat, list: &[Who], actor: &Actor) -> anyhow::Result<()> {
    let roles = match discord.roles_of(&actor.id).await {
        Ok(roles) => roles.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, "a person's roles could not be looked up");
            return Ok(());
        }
    };
    for group in groups(list).filter(|group| group.surface() == Surface::Discord) {
        let people: &[String] = match roles.iter().any(|role| role == group.id()) {
            true => std::slice::from_ref(&actor.id),
            false => &[],
        };
        roster::sync_group(&app.pool, &kept_as(group, actor), people, app.clock.moved()).await?;
    }
    Ok(())
}

/// Every group that a setting names and whose members can be listed, for the sweeper to keep fresh.
pub fn all_groups(app: &App) -> Vec<Group> {
    let mut all: Vec<Group> = all_lists(app)
        .flat_map(|list| groups(list).cloned().collect::<Vec<_>>())
        .filter(|group| matches!(group, Group::SlackUserGroup(_)))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Every list of people that the settings hold.
fn all_lists(app: &App) -> impl Iterator<Item = &[Who]> {
    let rules = app.config.approvals.values();
    rules
        .filter_map(|rule| rule.approvers.as_deref())
        .chain([app.config.approvers.as_slice(), app.config.admins.as_slice()])
        .chain(app.config.team.as_deref())
}

fn groups(list: &[Who]) -> impl Iterator<Item = &Group> {
    list.iter().filter_map(|who| match who {
        Who::Group(group) => Some(group),
        Who::Person { .. } | Who::AnyoneLocal => None,
    })
}

/// How the store names a group.
pub fn key(group: &Group) -> String {
    Who::Group(group.clone()).to_string()
}

/// The same for one person: of a role only that one's membership is ever known.
fn kept_as(group: &Group, actor: &Actor) -> String {
    match group {
        Group::SlackUserGroup(_) => key(group),
        Group::DiscordRole(_) => format!("{}@{}", key(group), actor.id),
    }
}
