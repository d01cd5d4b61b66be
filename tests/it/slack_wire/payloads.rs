//! Every recorded payload parses to what it should.

use deskhand_adapters::slack::SlackInbound;
use deskhand_adapters::slack::inbound;

/// One line for what a request became.
fn told(parsed: SlackInbound) -> String {
    match parsed {
        SlackInbound::Challenge(text) => format!("challenge of {} characters", text.len()),
        SlackInbound::SslCheck => "ssl check".into(),
        SlackInbound::Click(click) => format!("click {}", click.kind),
        SlackInbound::DraftSubmitted(_) => "draft".into(),
        SlackInbound::RejectSubmitted(_) => "reject".into(),
        SlackInbound::AnswerSubmitted(_) => "answer".into(),
        SlackInbound::Command(command) => {
            let team = command.by.actor.workspace.as_deref().unwrap_or_default();
            format!(
                "command {} {:?} by {} of {team}",
                command.command,
                command.text,
                command.by.actor.key()
            )
        }
        SlackInbound::Mention(said) => {
            format!(
                "mention {:?} in {:?}, direct {}",
                said.text, said.spot.thread_ts, said.direct
            )
        }
        SlackInbound::Bang(said) => format!("bang {:?}", said.text),
        SlackInbound::Shortcut(shortcut) => {
            format!(
                "shortcut {:?} at {} by {}",
                shortcut.post.text, shortcut.spot.ts, shortcut.by.actor.name
            )
        }
        SlackInbound::Post(post) => {
            let by = post.author.map(|by| by.id).unwrap_or_default();
            format!(
                "{:?} {:?} by {by} in {:?}, {} files",
                post.what,
                post.text,
                post.thread.map(|thread| thread.root),
                post.files.len()
            )
        }
        SlackInbound::Ignored { why } => format!("ignored: {why}"),
    }
}

#[test]
fn every_recorded_delivery_becomes_what_it_is() {
    let Some(facts) = super::facts() else { return };
    let folder = facts.join("payloads/slack");
    for (file, expected) in [
        ("url_verification.json", "challenge of 52 characters"),
        (
            "event_message.json",
            "New \"Wo ist meine Bestellung #4711? <b>\" by U0AGENTANN in None, 0 files",
        ),
        (
            "event_message_thread_reply.json",
            "New \"noch nichts angekommen\" by U0AGENTANN in Some(\"1760000000.000100\"), 0 files",
        ),
        (
            "event_message_file_share.json",
            "New \"screenshot\" by U0AGENTANN in None, 1 files",
        ),
        (
            "event_message_im.json",
            "mention \"Wo ist meine Bestellung #4711? <b>\" in None, direct true",
        ),
        (
            "event_app_mention.json",
            "mention \"please triage #35436\" in Some(\"1760000000.000100\"), direct false",
        ),
        ("event_message_bot_own.json", "ignored: a post of our own"),
        (
            "event_message_changed.json",
            "Edited \"Wo ist meine Bestellung #4712?\" by U0AGENTANN in None, 0 files",
        ),
        ("event_message_deleted.json", "Deleted \"\" by  in None, 0 files"),
        (
            "event_reaction_added.json",
            "ignored: an event of the type reaction_added",
        ),
        (
            "event_app_uninstalled.json",
            "ignored: the app was removed from the workspace",
        ),
        ("event_tokens_revoked.json", "ignored: tokens of the app were revoked"),
        (
            "event_app_rate_limited.json",
            "ignored: Slack leaves out deliveries for a minute: there were too many",
        ),
        (
            "block_actions_button.form",
            "ignored: a button or menu that is not ours",
        ),
        (
            "block_actions_button_in_thread.form",
            "ignored: a button or menu that is not ours",
        ),
        (
            "block_actions_ephemeral_no_message.form",
            "ignored: a button or menu that is not ours",
        ),
        (
            "block_actions_static_select.form",
            "ignored: a button or menu that is not ours",
        ),
        ("view_submission.form", "ignored: a form that is not ours"),
        ("view_closed.form", "ignored: a form was closed"),
        ("global_shortcut.form", "ignored: a shortcut that is not ours"),
        (
            "message_shortcut.form",
            "shortcut \"customer 4711 never got the parcel\" at 1759999999.000200 by ann",
        ),
        (
            "slash_command.form",
            "command /triage \"status run_01HZX \\\"où est mon colis\\\" 退款\" by slack:U0AGENTANN of T0SHOP0001",
        ),
        (
            "slash_command_enterprise.form",
            "command /triage \"\" by slack:U0AGENTANN of T0SHOP0001",
        ),
        ("ssl_check.form", "ssl check"),
    ] {
        let body = std::fs::read(folder.join(file)).expect("a recorded request");
        let parsed = if file.ends_with(".json") {
            inbound::event(&body)
        } else if file.starts_with("slash") || file.starts_with("ssl") {
            inbound::command(&body)
        } else {
            inbound::interaction(&body)
        };
        assert_eq!(told(parsed.expect("it can be read")), expected, "{file}");
    }
}

/// The recorded clicks carry another app's buttons; with ours in them they are clicks.
#[test]
fn a_recorded_click_with_our_button_is_a_click() {
    let Some(facts) = super::facts() else { return };
    for (file, thread) in [
        ("block_actions_button.json", None),
        ("block_actions_button_in_thread.json", Some("1759999999.000200")),
        ("block_actions_ephemeral_no_message.json", None),
    ] {
        let mut payload = super::json(facts.join("payloads/slack").join(file));
        payload["actions"][0]["action_id"] = "approve".into();
        payload["actions"][0]["value"] = "shop:17:0123456789ab".into();
        let body = format!("payload={}", super::deliveries::encoded(&payload.to_string()));
        let Ok(SlackInbound::Click(click)) = inbound::interaction(body.as_bytes()) else {
            panic!("{file} is no click");
        };
        let spot = click.spot.expect("a place");
        assert_eq!(
            (spot.channel.as_str(), spot.ts.as_str()),
            ("C0SUPPORT1", "1760000000.000100"),
            "{file}"
        );
        assert_eq!(spot.thread_ts.as_deref(), thread, "{file}");
        assert_eq!(click.by.actor.key(), "slack:U0AGENTANN");
        assert_eq!(click.value.approval.to_string(), "A-17");
        assert!(
            click
                .response_url
                .is_some_and(|url| url.starts_with("https://hooks.slack.com/"))
        );
    }
}
