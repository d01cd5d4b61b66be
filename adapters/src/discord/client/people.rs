//! Who somebody is: ourselves, our guild, and what roles a person has there.

use deskhand_core::port::PortError;
use serde_json::Value;

use super::DiscordChat;
use super::call::Ask;

/// The bot as Discord knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    pub user_id: String,
    pub name: String,
    /// The one guild (server) whose people are heard.
    pub guild: String,
}

impl DiscordChat {
    /// Who we are, asked once.
    pub async fn own(&self) -> Result<&Own, PortError> {
        self.own.get_or_try_init(|| own(self)).await
    }

    /// Our guild, if it was asked for by now. Never calls anybody.
    pub fn known_guild(&self) -> Option<&str> {
        self.own.get().map(|own| own.guild.as_str())
    }

    /// The roles that a person has in our guild now; `None` when the person is no member, or not one of flesh and blood.
    pub async fn roles_of(&self, person: &str) -> Result<Option<Vec<String>>, PortError> {
        let own = self.own().await?;
        let member = match self
            .api
            .call(Ask::get(format!("guilds/{}/members/{person}", own.guild)))
            .await
        {
            Ok(member) => member,
            Err(failure) => match failure.tell("look a person up", "") {
                PortError::Gone { .. } => return Ok(None),
                other => return Err(other),
            },
        };
        if member["user"]["bot"] == true || member["pending"] == true {
            return Ok(None);
        }
        let Some(roles) = member["roles"].as_array() else {
            return Err(PortError::transient("Discord: a member came without roles"));
        };
        Ok(Some(
            roles.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        ))
    }
}

async fn own(chat: &DiscordChat) -> Result<Own, PortError> {
    let asked = |failure: super::failure::Failure| failure.tell("ask who the bot is", "");
    let me = chat.api.call(Ask::get("users/@me")).await.map_err(asked)?;
    Ok(Own {
        user_id: field(&me, "id"),
        name: field(&me, "username"),
        guild: guild(chat).await?,
    })
}

/// The guild of the channel for cards; without one, the only guild that the bot is in.
async fn guild(chat: &DiscordChat) -> Result<String, PortError> {
    let guild = match &chat.channel {
        Some(channel) => {
            let found = chat.api.call(Ask::get(format!("channels/{channel}"))).await;
            let found = found.map_err(|failure| failure.tell("look at the channel for cards", channel))?;
            field(&found, "guild_id")
        }
        None => {
            let all = chat.api.call(Ask::get("users/@me/guilds")).await;
            let all = all.map_err(|failure| failure.tell("ask which servers the bot is in", ""))?;
            match all.as_array().map_or(&[][..], Vec::as_slice) {
                [one] => field(one, "id"),
                _ => String::new(),
            }
        }
    };
    match guild.is_empty() {
        false => Ok(guild),
        true => Err(PortError::permanent(
            "Discord: it is not known which server is ours: set DISCORD_CHANNEL to a channel there",
        )),
    }
}

/// Who we are there.
pub(super) async fn check(chat: &DiscordChat) -> Result<String, PortError> {
    let own = own(chat).await?;
    let application = chat.api.call(Ask::get("applications/@me")).await;
    let application = application.map_err(|failure| failure.tell("look at the application", ""))?;
    if field(&application, "id") != chat.application_id {
        let theirs = field(&application, "id");
        return Err(PortError::permanent(format!(
            "Discord: the bot token belongs to application {theirs}: set DISCORD_APPLICATION_ID to that"
        )));
    }
    Ok(format!("Discord: {} in server {}", own.name, own.guild))
}

fn field(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_default().to_owned()
}
