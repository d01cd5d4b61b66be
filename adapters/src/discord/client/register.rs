//! Registering the commands, where what is registered differs.

use deskhand_core::port::PortError;
use reqwest::Method;

use super::DiscordChat;
use super::call::Ask;
use crate::discord::commands;

impl DiscordChat {
    /// Registers the commands in our guild, where they count at once; true when they had changed. Discord allows 200
    /// changes a day, so nothing is written that is there already.
    pub async fn register_commands(&self) -> Result<bool, PortError> {
        let guild = &self.own().await?.guild;
        let path = format!("applications/{}/guilds/{guild}/commands", self.application_id);
        let tell = |failure: super::failure::Failure| failure.tell("register /triage", "");
        let registered = self.api.call(Ask::get(path.clone())).await.map_err(tell)?;
        if commands::are(&registered) {
            return Ok(false);
        }
        let ask = Ask::new(Method::PUT, path).json(commands::all());
        self.api.call(ask).await.map_err(tell)?;
        Ok(true)
    }
}
