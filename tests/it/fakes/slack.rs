//! The workspace refuses, shows and tells as Slack does.

use std::time::Duration;

use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{Clock, minutes, seconds};
use deskhand_tests::fake::looks::Kind;
use deskhand_tests::fake::slack::{self, CHANNEL, Posted, Slack};
use deskhand_tests::fake::wire::{Forgery, slack_signature};
use deskhand_tests::fake::zendesk::TicketHandle;
use serde_json::{Value, json};

use super::{Heard, Listener, client};

struct Team {
    slack: Slack,
    clock: Clock,
    bot: Listener,
    http: reqwest::Client,
}

impl Team {
    async fn new() -> Self {
        let clock = Clock::new();
        let slack = Slack::start(clock.clone()).await;
        let (bot, url) = Listener::start().await;
        slack.bot_is_at(&url);
        let http = client();
        Self {
            slack,
            clock,
            bot,
            http,
        }
    }

    async fn calls(&self, method: &str, body: Value) -> Value {
        let request = self
            .http
            .post(format!("{}/{method}", self.slack.url()))
            .bearer_auth(slack::BOT_TOKEN);
        request
            .json(&body)
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON")
    }

    /// The parent message and a card in its thread.
    async fn card(&self) -> Posted {
        let parent = self
            .calls("chat.postMessage", json!({ "channel": CHANNEL, "text": "Ticket" }))
            .await;
        let card = json!({
            "channel": CHANNEL, "thread_ts": parent["ts"], "text": "A draft",
            "metadata": { "event_type": "card", "event_payload": { "key": "c-1" } },
            "blocks": [section("Draft: &lt;hello&gt; for <@U0SAM00001>"), { "type": "actions", "block_id": "decide",
                "elements": [button("Approve", "approve"), button("Edit", "edit"), button("Reject", "reject")] }],
        });
        assert_eq!(self.calls("chat.postMessage", card).await["ok"], true);
        self.slack.only_card()
    }

    /// The next request that the bot gets.
    async fn hears(&self) -> Heard {
        self.bot.came.notified().await;
        self.bot.last()
    }
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } })
}

fn button(label: &str, action: &str) -> Value {
    let text = json!({ "type": "plain_text", "text": label });
    json!({ "type": "button", "action_id": action, "text": text, "value": "shop:1:0123456789ab" })
}

fn form(title: &str, blocks: Value) -> Value {
    let text = |text: &str| json!({ "type": "plain_text", "text": text });
    json!({ "type": "modal", "title": text(title), "submit": text("Send"), "private_metadata": "A-1", "blocks": blocks })
}

#[tokio::test]
async fn a_post_comes_back_with_its_thread_and_is_read_as_people_read_it() {
    let team = Team::new().await;
    let card = team.card().await;
    card.says("Draft: <hello> for sam");
    assert_eq!(card.buttons(), ["Approve", "Edit", "Reject"]);
    let parent = card.thread_parent().expect("a parent");
    assert_eq!(parent.text(), "Ticket");
    assert_eq!(card.blocks()[0], section("Draft: &lt;hello&gt; for <@U0SAM00001>"));
    let asked = json!({ "channel": CHANNEL, "ts": parent.ts, "include_all_metadata": true });
    let thread = team.calls("conversations.replies", asked).await;
    assert_eq!(thread["messages"][0]["reply_count"], 1);
    assert_eq!(thread["messages"][1]["metadata"]["event_payload"]["key"], "c-1");
    assert_eq!(team.slack.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn each_mistake_has_its_error_code() {
    let team = Team::new().await;
    let elsewhere = team.slack.opens_channel("private", false);
    let said = team.slack.says("hello", by("sam"), CHANNEL, None).await;
    let post = |channel: &str, blocks: Value| json!({ "channel": channel, "text": "t", "blocks": blocks });
    let buttons: Vec<_> = (0..26).map(|n| button("b", &n.to_string())).collect();
    let long_id = "x".repeat(256);
    let cases = [
        ("chat.postMessage", post("C0NOWHERE1", json!([])), "channel_not_found"),
        ("chat.postMessage", post(&elsewhere, json!([])), "not_in_channel"),
        ("chat.postMessage", json!({ "channel": CHANNEL }), "no_text"),
        (
            "chat.postMessage",
            post(CHANNEL, json!([section("")])),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!([section(&"x".repeat(3001))])),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!(vec![section("x"); 51])),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!(vec![section(&"x".repeat(2900)); 5])),
            "msg_blocks_too_long",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!([{ "type": "actions", "elements": buttons }])),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!([{ "type": "divider", "block_id": long_id }])),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            post(CHANNEL, json!([{ "type": "card" }])),
            "invalid_blocks",
        ),
        (
            "chat.update",
            json!({ "channel": CHANNEL, "ts": "1.000001", "text": "t" }),
            "message_not_found",
        ),
        (
            "chat.update",
            json!({ "channel": CHANNEL, "ts": said.ts, "text": "t" }),
            "cant_update_message",
        ),
        (
            "chat.delete",
            json!({ "channel": CHANNEL, "ts": said.ts }),
            "cant_delete_message",
        ),
        (
            "conversations.replies",
            json!({ "channel": CHANNEL, "ts": "1.000001" }),
            "thread_not_found",
        ),
        ("users.info", json!({ "user": "U0NOBODY01" }), "user_not_found"),
        (
            "usergroups.users.list",
            json!({ "usergroup": "S0NONE0001" }),
            "no_such_subteam",
        ),
        (
            "views.open",
            json!({ "trigger_id": "1.2.3", "view": {} }),
            "invalid_trigger_id",
        ),
        ("chat.sendLoudly", json!({}), "unknown_method"),
    ];
    for (method, body, error) in cases {
        let answer = team.calls(method, body.clone()).await;
        assert_eq!(
            (&answer["ok"], &answer["error"]),
            (&json!(false), &json!(error)),
            "{method}"
        );
    }
    let most = post(CHANNEL, json!([section(&"x".repeat(3000))]));
    assert_eq!(team.calls("chat.postMessage", most).await["ok"], true);
    let wrong = team
        .http
        .post(format!("{}/auth.test", team.slack.url()))
        .bearer_auth("xoxb-guess");
    let answer: Value = wrong.send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(answer["error"], "invalid_auth");
}

#[tokio::test]
async fn a_form_body_says_the_same_as_json() {
    let team = Team::new().await;
    let blocks = json!([section("In a form")]).to_string();
    let fields = [
        ("token", slack::BOT_TOKEN),
        ("channel", CHANNEL),
        ("text", "t"),
        ("blocks", blocks.as_str()),
    ];
    let request = team
        .http
        .post(format!("{}/chat.postMessage", team.slack.url()))
        .form(&fields);
    let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(answer["message"]["blocks"][0]["text"]["text"], "In a form");
}

#[tokio::test]
async fn a_reply_to_a_deleted_parent_lands_in_the_channel() {
    let team = Team::new().await;
    let parent = team.card().await.thread_parent().expect("a parent");
    team.slack.deletes(&parent).await;
    assert_eq!(team.bot.last().json()["event"]["subtype"], "message_deleted");
    let stray = json!({ "channel": CHANNEL, "thread_ts": parent.ts, "text": "lost" });
    let answer = team.calls("chat.postMessage", stray).await;
    assert_eq!(
        (&answer["ok"], answer["message"].get("thread_ts")),
        (&json!(true), None)
    );
}

#[tokio::test]
async fn strict_rate_takes_one_post_a_second_and_channel() {
    let team = Team::new().await;
    team.slack.strict_rate(true);
    let post = json!({ "channel": CHANNEL, "text": "t" });
    assert_eq!(team.calls("chat.postMessage", post.clone()).await["ok"], true);
    let request = team
        .http
        .post(format!("{}/chat.postMessage", team.slack.url()))
        .bearer_auth(slack::BOT_TOKEN);
    let refused = request.json(&post).send().await.expect("an answer");
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"1".parse().expect("ok"))
    );
    team.clock.advance(seconds(1));
    assert_eq!(team.calls("chat.postMessage", post).await["ok"], true);
}

#[tokio::test]
async fn a_click_is_signed_and_carries_the_card_and_a_trigger_of_three_seconds() {
    let team = Team::new().await;
    let card = team.card().await;
    team.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
    let heard = team.bot.last();
    let expected = slack_signature(
        slack::SIGNING_SECRET,
        heard.header("x-slack-request-timestamp"),
        &heard.body,
    );
    assert_eq!(
        (heard.path.as_str(), heard.header("x-slack-signature")),
        ("/slack/interactions", expected.as_str())
    );
    let payload = heard.payload();
    assert_eq!(payload["actions"][0]["value"], "shop:1:0123456789ab");
    assert_eq!(payload["actions"][0]["block_id"], "decide");
    assert_eq!(payload["user"]["name"], "sam");
    assert_eq!(payload["container"]["message_ts"], card.ts);

    team.clock.advance(Duration::from_millis(3001));
    let view = form("Late", json!([section("x")]));
    let answer = team
        .calls(
            "views.open",
            json!({ "trigger_id": payload["trigger_id"], "view": view }),
        )
        .await;
    assert_eq!(answer["error"], "expired_trigger_id");
}

#[tokio::test]
async fn a_stale_screen_still_has_its_buttons() {
    let team = Team::new().await;
    let card = team.card().await;
    let update = json!({ "channel": CHANNEL, "ts": card.ts, "text": "done", "blocks": [section("Approved by sam")] });
    assert_eq!(team.calls("chat.update", update).await["ok"], true);
    card.has_no_buttons();
    team.slack.card(&card).says("Approved by sam");
    team.slack.clicks_stale(&card, "Approve", by("kim")).await;
    assert_eq!(team.bot.last().payload()["actions"][0]["action_id"], "approve");
    let (a, b) = team
        .slack
        .clicks_at_once(
            &team.card_again(&card).await,
            ("Approve", by("sam")),
            ("Reject", by("kim")),
        )
        .await;
    assert_eq!((a.status, b.status), (200, 200));
}

impl Team {
    /// Draws the buttons again.
    async fn card_again(&self, card: &Posted) -> Posted {
        let blocks = json!([{ "type": "actions", "elements": [button("Approve", "a"), button("Reject", "r")] }]);
        let update = json!({ "channel": CHANNEL, "ts": card.ts, "text": "again", "blocks": blocks });
        assert_eq!(self.calls("chat.update", update).await["ok"], true);
        card.clone()
    }
}

#[tokio::test]
async fn an_edit_waits_for_the_loading_modal_to_be_filled_and_sends_what_was_typed() {
    let team = Team::new().await;
    let card = team.card().await;
    let draft = json!([{ "type": "input", "block_id": "draft", "label": { "type": "plain_text", "text": "Reply" },
        "element": { "type": "plain_text_input", "action_id": "text", "multiline": true, "initial_value": "Dear Ada" } }]);
    let filling = async {
        let click = team.hears().await.payload();
        let loading = form("Edit", json!([section("Loading…")]));
        let opened = team
            .calls(
                "views.open",
                json!({ "trigger_id": click["trigger_id"], "view": loading }),
            )
            .await;
        let view =
            json!({ "view_id": opened["view"]["id"], "hash": opened["view"]["hash"], "view": form("Edit", draft) });
        assert_eq!(team.calls("views.update", view.clone()).await["ok"], true);
        assert_eq!(team.calls("views.update", view).await["error"], "hash_conflict");
        team.bot.answers(
            200,
            r#"{"response_action":"errors","errors":{"draft":"The draft has changed"}}"#,
        );
    };
    let (modal, ()) = tokio::join!(team.slack.opens_modal(&card, "Edit", by("sam")), filling);
    assert!(modal.text().contains("Dear Ada"));
    let refused = modal.submits("Dear Ada, sorry.").await;
    assert_eq!(
        (refused.closed, &refused.errors["draft"]),
        (false, &json!("The draft has changed"))
    );
    let view = team.bot.last().payload()["view"].clone();
    assert_eq!(view["state"]["values"]["draft"]["text"]["value"], "Dear Ada, sorry.");
    assert_eq!(view["private_metadata"], "A-1");
    team.bot.answers(200, "");
    assert!(modal.submits("Dear Ada.").await.closed);
    assert!(!modal.is_open());
    assert_eq!(team.slack.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_rejection_chooses_the_reason_or_writes_it() {
    let team = Team::new().await;
    let card = team.card().await;
    let option = |text: &str| json!({ "text": { "type": "plain_text", "text": text }, "value": text });
    let label = |text: &str| json!({ "type": "plain_text", "text": text });
    let reasons = json!([
        { "type": "input", "block_id": "why", "label": label("Reason"), "element": { "type": "static_select",
            "action_id": "w", "options": [option("Wrong tone"), option("Other")] } },
        { "type": "input", "block_id": "own", "optional": true, "label": label("In your words"),
            "element": { "type": "plain_text_input", "action_id": "o" } },
    ]);
    let mut sent = Vec::new();
    for reason in ["Wrong tone", "It is not true"] {
        let opening = async {
            let trigger = team.hears().await.payload()["trigger_id"].clone();
            let view = form("Reject", reasons.clone());
            assert_eq!(
                team.calls("views.open", json!({ "trigger_id": trigger, "view": view }))
                    .await["ok"],
                true
            );
        };
        let (done, ()) = tokio::join!(team.slack.rejects(&card, by("sam"), reason), opening);
        assert!(done.closed);
        team.hears().await;
        sent.push(team.bot.last().payload()["view"]["state"]["values"].clone());
    }
    assert_eq!(sent[0]["why"]["w"]["selected_option"]["value"], "Wrong tone");
    assert_eq!(sent[0]["own"]["o"]["value"], Value::Null);
    assert_eq!(sent[1]["why"]["w"]["selected_option"]["value"], "Other");
    assert_eq!(sent[1]["own"]["o"]["value"], "It is not true");
}

#[tokio::test]
async fn a_command_is_answered_in_the_body_or_later_five_times_in_half_an_hour() {
    let team = Team::new().await;
    team.bot.answers(200, r#"{"text":"Looking at T-1001 …"}"#);
    let seen = team.slack.commands("/triage T-1001", by("sam"), CHANNEL).await;
    seen.says("Looking at T-1001");
    let heard = team.bot.last();
    assert_eq!(
        (heard.field("command"), heard.field("text")),
        ("/triage".into(), "T-1001".into())
    );
    let answer = || {
        team.http
            .post(heard.field("response_url"))
            .json(&json!({ "text": "It waits for A-17." }))
            .send()
    };
    for _ in 0..5 {
        assert_eq!(answer().await.expect("an answer").status(), 200);
    }
    let sixth = answer().await.expect("an answer");
    assert_eq!(
        (sixth.status().as_u16(), sixth.text().await.expect("text")),
        (404, "used_url".into())
    );
    seen.says("It waits for A-17.");
    team.slack.told_privately("sam", "It waits for A-17.");
    assert!(team.slack.private_lines("kim").is_empty());

    team.slack.commands("/triage help", by("sam"), CHANNEL).await;
    let url = team.bot.last().field("response_url");
    team.clock.advance(minutes(31));
    let late = team
        .http
        .post(url)
        .json(&json!({ "text": "late" }))
        .send()
        .await
        .expect("an answer");
    assert_eq!(late.text().await.expect("text"), "expired_url");
}

#[tokio::test]
async fn a_mention_in_a_thread_comes_twice_and_forgeries_are_forged() {
    let team = Team::new().await;
    let card = team.card().await;
    team.slack
        .mentions("shorter please", by("sam"), CHANNEL, Some(&card))
        .await;
    let events: Vec<_> = team
        .bot
        .heard()
        .iter()
        .map(|heard| heard.json()["event"].clone())
        .collect();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(kinds, ["message", "app_mention"]);
    let parent = card.thread_parent().expect("a parent");
    assert!(
        events
            .iter()
            .all(|event| event["thread_ts"] == parent.ts && event["ts"] == events[0]["ts"])
    );

    for how in [
        Forgery::WrongSecret,
        Forgery::ChangedBody,
        Forgery::OldTimestamp,
        Forgery::NoSignature,
    ] {
        team.slack.forges_next(how);
        team.slack.says("!triage T-1001", by("sam"), CHANNEL, Some(&card)).await;
        let heard = team.bot.last();
        let timestamp = heard.header("x-slack-request-timestamp");
        let right = slack_signature(slack::SIGNING_SECRET, timestamp, &heard.body) == heard.header("x-slack-signature");
        let fresh = timestamp == team.clock.now().timestamp().to_string();
        assert!(!(right && fresh), "{how:?}");
    }
}

#[tokio::test]
async fn what_nobody_looked_at_is_named_with_its_kind() {
    let team = Team::new().await;
    let card = team.card().await;
    let line = json!({ "channel": CHANNEL, "thread_ts": card.ts, "text": "A line" });
    team.calls("chat.postMessage", line).await;
    let private = json!({ "channel": CHANNEL, "user": "U0STRANGER", "text": "You may not decide this." });
    assert_eq!(team.calls("chat.postEphemeral", private).await["ok"], true);
    let kinds = |slack: &Slack| {
        slack
            .unlooked()
            .iter()
            .map(|unlooked| unlooked.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(&team.slack),
        [Kind::Header, Kind::Card, Kind::Line, Kind::Private]
    );
    card.says("Draft");
    assert_eq!(card.thread_parent().expect("a parent").lines(), ["A line"]);
    team.slack.told_privately("stranger", "You may not");
    assert_eq!(kinds(&team.slack), [Kind::Header]);
    assert_eq!(team.slack.delivers_echoes().await, 3);
    assert_eq!(team.bot.last().json()["event"]["bot_id"], "B0DESKHAND");
}

#[tokio::test]
async fn a_header_is_found_by_the_ticket_it_names_and_a_full_view_is_read() {
    let team = Team::new().await;
    let card = team.card().await;
    let subject = "Where is <my> parcel?".to_owned();
    let ticket = TicketHandle { id: 71_001, subject };
    let text = "*Where is &lt;my&gt; parcel?* waits for a supervisor";
    let post = json!({ "channel": CHANNEL, "text": "new", "blocks": [section(text)] });
    let header = team.calls("chat.postMessage", post).await;
    assert_eq!(team.slack.header(&ticket).ts, header["ts"]);
    let below = json!({ "channel": CHANNEL, "thread_ts": header["ts"], "text": "x", "blocks": [section("x"),
        { "type": "actions", "elements": [button("Reject", "r"), button("View full", "v")] }] });
    team.calls("chat.postMessage", below).await;
    let other = team.slack.cards().pop().expect("two cards");
    assert_ne!(other.ts, card.ts);
    other.is_about(&ticket);

    let showing = async {
        let trigger = team.hears().await.payload()["trigger_id"].clone();
        let view = form("Draft", json!([section("All of it &amp; more")]));
        assert_eq!(
            team.calls("views.open", json!({ "trigger_id": trigger, "view": view }))
                .await["ok"],
            true
        );
        assert_eq!(
            team.calls("views.open", json!({ "trigger_id": trigger, "view": view }))
                .await["error"],
            "exchanged_trigger_id"
        );
    };
    let (full, ()) = tokio::join!(team.slack.views_full(&other, by("sam")), showing);
    assert_eq!(full, "Draft\nAll of it & more");
}

#[tokio::test]
async fn an_event_is_repeated_as_it_was_and_an_outsider_shows_their_team() {
    let team = Team::new().await;
    let said = team.slack.says("hello", by("outsider"), CHANNEL, None).await;
    let first = team.bot.last();
    assert_eq!(first.json()["event"]["user_team"], slack::OTHER_TEAM);
    assert_eq!(first.json()["team_id"], slack::TEAM);
    assert_eq!(team.slack.repeats_last_event().await, 200);
    let second = team.bot.last();
    assert_eq!(
        (first.body, second.header("x-slack-retry-num")),
        (second.body.clone(), "1")
    );
    team.slack.uses_shortcut("triage_this", &said, by("outsider")).await;
    let payload = team.bot.last().payload();
    assert_eq!(payload["user"]["team_id"], slack::OTHER_TEAM);
    assert_eq!(payload["message"]["text"], "hello");
}
