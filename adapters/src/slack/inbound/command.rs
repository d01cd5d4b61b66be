//! Slash commands: a form with one field for everything.

use super::{Command, Malformed, SlackInbound, pick};

/// Parses the body of a request to the commands address.
pub fn command(body: &[u8]) -> Result<SlackInbound, Malformed> {
    let form = pick::form(body);
    let field = |name: &str| {
        form.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_ref())
            .filter(|value| !value.is_empty())
    };
    if field("ssl_check") == Some("1") {
        return Ok(SlackInbound::SslCheck);
    }
    let (Some(command), Some(user)) = (field("command"), field("user_id")) else {
        return Err(Malformed("the form names no command or no person".into()));
    };
    let team = field("team_id");
    let trigger_id = field("trigger_id").unwrap_or_default().to_owned();
    Ok(SlackInbound::Command(Command {
        // A slash command exists only in the workspace that installed the app, so the person's team is that one.
        by: pick::somebody(user, field("user_name").unwrap_or(user), team, team),
        delivery: format!("command:{user}:{trigger_id}"),
        command: command.to_owned(),
        text: field("text")
            .unwrap_or_default()
            .replace('\u{a0}', " ")
            .trim()
            .to_owned(),
        channel: field("channel_id").unwrap_or_default().to_owned(),
        trigger_id,
        response_url: field("response_url").map(str::to_owned),
    }))
}
