//! Signatures by the shared vectors, and payloads as Discord sends them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deskhand_adapters::discord::inbound::{self, DiscordInbound};
use deskhand_adapters::signature;
use serde_json::Value;

#[test]
fn every_discord_vector_is_judged_as_it_says() {
    let Some(facts) = super::facts() else { return };
    let vectors = super::json(facts.join("vectors/discord_ed25519.json"));
    for case in vectors["cases"].as_array().expect("cases") {
        let judged = signature::discord(
            case["public_key_hex"].as_str().expect("a key"),
            case["headers"]["X-Signature-Timestamp"].as_str(),
            case["headers"]["X-Signature-Ed25519"].as_str(),
            &STANDARD
                .decode(case["body_base64"].as_str().expect("a body"))
                .expect("base64"),
        );
        assert_eq!(
            judged.is_ok(),
            case["expect"] == "accept",
            "{}: {judged:?}",
            case["name"]
        );
    }
}

fn shared(name: &str) -> Option<DiscordInbound> {
    let path = super::facts()?.join("payloads/discord").join(name);
    let body = std::fs::read(path).expect("the payload is there");
    Some(inbound::interaction(&body).expect("it can be read"))
}

#[test]
fn shared_payloads_are_read_as_what_they_are() {
    assert!(shared("ping.json").is_none_or(|inbound| inbound == DiscordInbound::Ping));
    // Somebody else's buttons and forms: read, and not ours.
    for name in [
        "message_component_button.json",
        "message_component_button_in_dm.json",
        "message_component_select.json",
        "modal_submit_label.json",
        "modal_submit_action_row_legacy.json",
    ] {
        let inbound = shared(name);
        assert!(
            inbound
                .as_ref()
                .is_none_or(|inbound| matches!(inbound, DiscordInbound::Unknown { why } if why.contains("not ours"))),
            "{name}: {inbound:?}"
        );
    }
    if let Some(inbound) = shared("application_command_subcommand.json") {
        let DiscordInbound::Command(command) = inbound else {
            panic!("{inbound:?}")
        };
        assert_eq!(command.text, "status run_01HZX");
        let by = &command.origin.by;
        assert_eq!((by.id.as_str(), by.name.as_str()), ("80351110224678912", "Nelly"));
        assert_eq!(
            (by.workspace.as_deref(), by.roles.len()),
            (Some("290926798626357250"), 1)
        );
        assert!(
            command
                .origin
                .answer
                .is_some_and(|answer| answer.starts_with("webhooks/1100000000000000001/"))
        );
    }
}

#[test]
fn a_body_of_any_shape_is_an_error_or_unknown_and_never_a_panic() {
    for body in [
        "",
        "[]",
        "null",
        "7",
        "\"x\"",
        "{",
        "{\"type\":2}",
        "{\"type\":\"2\",\"id\":\"1\"}",
    ] {
        if let Ok(inbound) = inbound::interaction(body.as_bytes()) {
            assert!(matches!(inbound, DiscordInbound::Unknown { .. }), "{body}: {inbound:?}");
        }
    }
    // Whatever single part of a click is missing or of another kind.
    let click: Value = serde_json::json!({
        "id": "1", "application_id": "2", "type": 3, "token": "abc", "guild_id": "3", "channel_id": "4",
        "member": { "user": { "id": "5", "username": "sam" }, "roles": ["6"], "nick": null },
        "data": { "custom_id": "approve:shop:17:0123456789ab", "component_type": 2 },
    });
    assert!(matches!(inbound::of(&click), DiscordInbound::Click(_)));
    for pointer in [
        "/id",
        "/type",
        "/member",
        "/member/user",
        "/member/user/id",
        "/data",
        "/data/custom_id",
        "/token",
    ] {
        for other in [Value::Null, 7.into(), "x y/z".into(), serde_json::json!([])] {
            let mut broken = click.clone();
            *broken.pointer_mut(pointer).expect("it is there") = other;
            match inbound::of(&broken) {
                DiscordInbound::Unknown { .. } => {}
                DiscordInbound::Click(click) => assert_eq!((pointer, click.origin.answer), ("/token", None)),
                DiscordInbound::Command(_) | DiscordInbound::Completing(_) if pointer == "/type" => {}
                inbound => panic!("{pointer}: {inbound:?}"),
            }
        }
    }
}
