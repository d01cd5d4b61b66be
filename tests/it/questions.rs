//! Questions of the bot to the team: asked on a card, answered once, whatever happens around them.

use deskhand::worker::sweeper;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::{CHANNEL, Card};
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario, scenario_with};
use serde_json::{Value, json};

use crate::lines::{ada_asks, drafts, sam_approves};

const QUESTION: &str = "May she have the refund after 40 days?";

fn asks(bot: &Bot, options: &[&str]) {
    bot.model
        .calls("ask_question", json!({ "question": QUESTION, "options": options }));
}

async fn a_question_waits(bot: &Bot, options: &[&str]) -> (TicketHandle, Card) {
    asks(bot, options);
    let ticket = ada_asks(bot).await;
    bot.settle().await;
    (ticket, bot.slack.only_open_card())
}

/// What the model was last told, all of it.
fn last_told(bot: &Bot) -> String {
    format!("{:?}", bot.model.last_request().turns)
}

#[tokio::test]
async fn an_option_is_clicked_after_a_restart_and_the_run_goes_on_with_it() {
    scenario(async |bot| {
        let (ticket, card) = a_question_waits(bot, &["Yes, as a courtesy", "No"]).await;
        card.says(QUESTION);
        assert_eq!(
            card.buttons(),
            ["Yes, as a courtesy", "No", "Answer", "Reject", "View full"]
        );
        let waits = bot.slack.commands("/triage approvals", by("sam"), CHANNEL).await;
        waits.says(QUESTION);
        bot.slack.header(&ticket).says(QUESTION);

        bot.restarts().await;
        drafts(bot, "You get your money back.");
        bot.slack
            .clicks(&card, "Yes, as a courtesy", by("sam"))
            .await
            .says_nothing();
        bot.settle().await;
        assert!(last_told(bot).contains("sam of the team answered: Yes, as a courtesy"));
        card.says("Answered by sam: Yes, as a courtesy");
        card.has_no_buttons();

        let second = bot.slack.clicks_stale(&card, "No", by("sam")).await;
        bot.settle().await;
        second.says("A-1 was already answered by sam");
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "You get your money back.");
        bot.slack.cards()[1].says("Approved by sam");
        assert_eq!(bot.model.requests().len(), 3, "it is answered once");
    })
    .await;
}

#[tokio::test]
async fn a_form_takes_an_answer_in_words_and_a_strangers_is_refused_in_it() {
    scenario(async |bot| {
        let (_, card) = a_question_waits(bot, &[]).await;
        let form = bot.slack.opens_modal(&card, "Answer", by("kim")).await;
        assert!(form.text().contains(QUESTION), "{}", form.text());
        let refused = form.submits("Yes").await;
        let why = refused.errors.get("answer").and_then(Value::as_str).unwrap_or_default();
        assert!(!refused.closed && why.contains("not on the list"), "{why}");

        bot.model.says("I leave it at that.");
        let form = bot.slack.opens_modal(&card, "Answer", by("sam")).await;
        assert!(form.submits("Half of it.").await.closed);
        bot.settle().await;
        assert!(last_told(bot).contains("sam of the team answered: Half of it."));
        card.says("Answered by sam: Half of it.");
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_the_bot_in_the_thread_answers_once_though_slack_tells_of_it_again() {
    scenario(async |bot| {
        let (_, card) = a_question_waits(bot, &["Yes", "No"]).await;
        // Talk among people is none of the bot's business.
        bot.slack.says("I would say yes", by("sam"), CHANNEL, Some(&card)).await;
        bot.settle().await;
        bot.slack.only_open_card();

        bot.model.says("I leave it at that.");
        // An event names people by their ids alone; whom the settings name is asked for beforehand.
        sweeper::sync_groups(&bot.app).await.expect("Slack answers");
        bot.slack
            .mentions("only for members of the club", by("sam"), CHANNEL, Some(&card))
            .await;
        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.settle().await;
        assert!(last_told(bot).contains("sam of the team answered: only for members of the club"));
        card.says(": only for members of the club");
        assert_eq!(bot.model.requests().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_customer_writes_meanwhile_and_the_answer_comes_as_a_note() {
    scenario(async |bot| {
        let (ticket, card) = a_question_waits(bot, &["Yes", "No"]).await;
        bot.model.says("I wait for the answer.");
        bot.zendesk
            .comments(&ticket, "Forty-one days by now!", by("ada@example.com"))
            .await;
        bot.settle().await;
        assert!(last_told(bot).contains("A-1 is not answered yet"));
        bot.slack.only_open_card().says(QUESTION);

        bot.model.says("No refund, then; a person tells her.");
        bot.slack.clicks(&card, "No", by("sam")).await.says_nothing();
        bot.settle().await;
        let told = last_told(bot);
        assert!(
            told.contains("you asked: May she have") && told.contains("answered: No"),
            "{told}"
        );
        bot.zendesk.has_no_replies(&ticket);
        card.says("Answered by sam: No");
    })
    .await;
}

#[tokio::test]
async fn the_api_shows_a_question_and_answers_it() {
    scenario_with(&[("DESKHAND_APPROVERS", "api:ops")], async |bot| {
        let (_, card) = a_question_waits(bot, &[]).await;
        let (_, listed) = bot.api("GET", "/api/approvals", None).await;
        let asked = &listed["approvals"][0];
        assert_eq!(
            (&asked["tool"], &asked["will"]),
            (&json!("ask_question"), &json!(QUESTION))
        );
        let answer =
            |decision: &str| json!({ "actor": "ops", "decision": decision, "text": "Yes.", "digest": asked["digest"] });
        let path = "/api/approvals/A-1/decide";
        let (status, told) = bot.api("POST", path, Some(answer("approve"))).await;
        assert_eq!(
            (status, &told["sentence"]),
            (403, &json!("A-1 is a question: answer it."))
        );

        bot.model.says("I leave it at that.");
        let (status, _) = bot.api("POST", path, Some(answer("answer"))).await;
        assert_eq!(status, 200);
        bot.settle().await;
        card.says("Answered by ops: Yes.");
    })
    .await;
}
