//! Deliveries that the recordings lack: threads, outsiders, other bots, odd shapes.

use deskhand_adapters::slack::SlackInbound;
use deskhand_adapters::slack::inbound;
use deskhand_core::heard::{Post, PostKind};
use serde_json::{Value, json};

pub(super) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn event(event: Value) -> SlackInbound {
    let delivery = json!({
        "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": "Ev1",
        "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": true}],
        "event": event,
    });
    inbound::event(delivery.to_string().as_bytes()).expect("JSON")
}

fn message(more: Value) -> SlackInbound {
    let mut message = json!({
        "type": "message", "user": "U1", "team": "T1", "text": "hello", "ts": "2.1", "channel": "C1",
        "channel_type": "channel",
    });
    let fields = message.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    fields.retain(|_, value| *value != json!("-"));
    event(message)
}

fn talk(parsed: SlackInbound) -> Post {
    match parsed {
        SlackInbound::Post(post) => *post,
        other => panic!("no talk: {other:?}"),
    }
}

fn why(parsed: SlackInbound) -> String {
    match parsed {
        SlackInbound::Ignored { why } => why,
        other => panic!("not ignored: {other:?}"),
    }
}

#[test]
fn bang_triage_is_a_command_in_a_thread_and_longer_words_are_not() {
    for (text, rest) in [
        ("!triage T-1001", "T-1001"),
        ("  !Triage\u{a0}T-1001 shorter &amp; kinder", "T-1001 shorter & kinder"),
        ("!triage", ""),
        ("!triage\nhelp", "help"),
    ] {
        let SlackInbound::Bang(said) = message(json!({"text": text, "thread_ts": "1.1"})) else {
            panic!("{text:?} is no command");
        };
        assert_eq!(said.text, rest);
        assert_eq!(said.spot.thread_ts.as_deref(), Some("1.1"));
        assert_eq!(said.delivery, "Ev1");
    }
    for text in ["!triages T-1", "please !triage T-1", "!triag", "！triage T-1", ""] {
        talk(message(json!({"text": text})));
    }
}

#[test]
fn a_mention_is_heard_once_although_slack_tells_it_twice() {
    let text = "<@UBOT> shorter, and offer a voucher";
    let SlackInbound::Mention(said) = event(json!({
        "type": "app_mention", "user": "U1", "team": "T1", "text": text, "ts": "2.1", "channel": "C1", "thread_ts": "1.1",
    })) else {
        panic!("no mention");
    };
    assert_eq!(said.text, "shorter, and offer a voucher");
    assert!(why(message(json!({"text": text}))).contains("an event of its own"));
    // Somebody else is mentioned: that is talk.
    assert_eq!(talk(message(json!({"text": "<@U2|sam> look"}))).text, "@sam look");
}

#[test]
fn other_apps_talk_and_never_command() {
    let posted = talk(message(json!({
        "subtype": "bot_message", "user": "-", "bot_id": "B9", "text": "!triage T-1", "app_id": "A9",
    })));
    assert_eq!((posted.program, posted.author), (true, None));
    assert!(
        why(event(json!({
            "type": "app_mention", "user": "U9", "bot_id": "B9", "text": "<@UBOT> T-1", "ts": "2.1", "channel": "C1",
        })))
        .contains("another app")
    );
}

#[test]
fn what_we_posted_ourselves_is_ignored_however_it_is_marked() {
    for ours in [
        json!({"user": "UBOT"}),
        json!({"bot_id": "B1", "app_id": "A1"}),
        json!({"subtype": "bot_message", "user": "-", "bot_id": "B1", "bot_profile": {"app_id": "A1"}}),
    ] {
        assert_eq!(why(message(ours)), "a post of our own");
    }
}

#[test]
fn a_person_of_another_organisation_is_marked() {
    assert!(!talk(message(json!({}))).outsider);
    let outside = talk(message(json!({"team": "T2", "user_team": "T2"})));
    assert!(outside.outsider);
    let author = outside.author.expect("a person");
    assert_eq!(author.workspace.as_deref(), Some("T2"));

    let click = json!({
        "type": "block_actions", "user": {"id": "U7", "team_id": "T2"}, "team": {"id": "T1"}, "trigger_id": "t",
        "container": {"channel_id": "C1", "message_ts": "2.1"},
        "actions": [{"action_id": "approve", "value": "shop:17:0123456789ab", "action_ts": "3.1"}],
    });
    let body = format!("payload={}", encoded(&click.to_string()));
    let Ok(SlackInbound::Click(click)) = inbound::interaction(body.as_bytes()) else {
        panic!("no click");
    };
    assert!(click.by.outsider);
    assert_eq!(click.by.actor.name, "U7");
}

fn changed(message: Value, previous: Value) -> SlackInbound {
    event(json!({
        "type": "message", "subtype": "message_changed", "channel": "C1", "ts": "9.1", "event_ts": "9.1",
        "message": message, "previous_message": previous,
    }))
}

#[test]
fn an_edit_says_what_the_message_says_now() {
    let before =
        json!({"type": "message", "user": "U1", "team": "T1", "ts": "2.1", "thread_ts": "1.1", "text": "order 1"});
    let now = json!({
        "type": "message", "user": "U1", "team": "T1", "ts": "2.1", "thread_ts": "1.1",
        "text": "<@UBOT> order &lt;2&gt;", "edited": {"user": "U1", "ts": "8.0"},
    });
    let post = talk(changed(now, before.clone()));
    assert_eq!((post.what, post.text.as_str()), (PostKind::Edited, "order <2>"));
    assert_eq!((post.id.as_str(), post.ticket().id.as_str()), ("2.1", "C1/1.1"));
    assert_eq!(post.at.map(|at| at.timestamp()), Some(8));
    // A link's preview was found.
    assert!(why(changed(before.clone(), before.clone())).contains("leaves the words as they were"));
    for ours in [json!({"user": "UBOT"}), json!({"bot_id": "B1", "app_id": "A1"})] {
        let mut message = before.clone();
        message
            .as_object_mut()
            .expect("an object")
            .extend(ours.as_object().expect("an object").clone());
        message["text"] = "other".into();
        assert!(why(changed(message, before.clone())).contains("our own"));
    }
}

#[test]
fn what_was_taken_back_is_told_by_its_place() {
    let before = json!({"type": "message", "user": "U1", "ts": "2.1", "thread_ts": "1.1", "text": "order 1"});
    let gone = talk(event(json!({
        "type": "message", "subtype": "message_deleted", "channel": "C1", "ts": "9.1", "deleted_ts": "2.1",
        "previous_message": before,
    })));
    assert_eq!((gone.what, gone.comment_id().as_str()), (PostKind::Deleted, "C1/2.1"));
    assert_eq!(gone.ticket().id, "C1/1.1");
    // The first message of a thread is not deleted but turned to stone.
    let stone =
        json!({"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": "1.1", "thread_ts": "1.1"});
    let gone = talk(changed(stone, before));
    assert_eq!((gone.what, gone.comment_id().as_str()), (PostKind::Deleted, "C1/1.1"));
}

#[test]
fn a_file_tells_where_its_text_is_and_one_that_slack_only_names_does_not() {
    let post = talk(message(json!({"subtype": "file_share", "files": [
        {"id": "F1", "name": "x.log", "size": 1500, "mimetype": "text/plain",
         "url_private": "https://files.slack.com/x.log", "url_private_download": "https://files.slack.com/download/x.log"},
        {"id": "F2", "file_access": "check_file_info"},
    ]})));
    assert_eq!(
        post.files[0].url.as_deref(),
        Some("https://files.slack.com/download/x.log")
    );
    assert_eq!(
        post.body(),
        "hello\n[attached: x.log, 2 kB, artifact F1]\n[attached: a file, 0 bytes]"
    );
}

#[test]
fn odd_shapes_are_ignored_with_a_sentence() {
    for odd in [
        json!({}),
        json!({"type": "event_callback"}),
        json!({"type": "event_callback", "event": null}),
        json!({"type": "event_callback", "event": {"type": "message", "text": {"a": 1}}}),
        json!({"type": "event_callback", "event": {"type": "app_mention", "user": 5}}),
        json!({"type": ["a"]}),
        json!([1, 2]),
        json!(null),
    ] {
        why(inbound::event(odd.to_string().as_bytes()).expect("JSON"));
        let body = format!("payload={}", encoded(&odd.to_string()));
        why(inbound::interaction(body.as_bytes()).expect("JSON"));
    }
    for odd in [
        json!({"type": "block_actions", "user": {"id": "U1"}, "actions": null}),
        json!({"type": "block_actions", "actions": [{"action_id": "approve", "value": "shop:17:0123456789ab"}]}),
        json!({"type": "view_submission", "user": {"id": "U1"}, "view": {"callback_id": "deskhand_edit"}}),
        json!({"type": "message_action", "user": {"id": "U1"}, "callback_id": "triage_this"}),
    ] {
        let body = format!("payload={}", encoded(&odd.to_string()));
        why(inbound::interaction(body.as_bytes()).expect("JSON"));
    }
}

#[test]
fn only_what_cannot_be_read_is_malformed() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for body in [&b""[..], b"{", b"\xff\xfe", b"{\"a\":\"\\ud800\"}", deep.as_bytes()] {
        assert!(inbound::event(body).is_err());
    }
    for body in [&b""[..], b"payload=", b"payload=%7B", b"other=1", b"\xff"] {
        assert!(inbound::interaction(body).is_err());
    }
    for body in [&b""[..], b"command=%2Ftriage", b"user_id=U1", b"\xff"] {
        assert!(inbound::command(body).is_err());
    }
}
