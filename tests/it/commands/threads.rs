//! Commands given in threads: by mention, by `!triage`, and talk that is none.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::scenario;

use super::{DRAFT, a_draft_waits, a_ticket_is_triaged, heard_in_thread, says};

#[tokio::test]
async fn bang_triage_in_the_cards_thread_is_answered_there() {
    scenario(async |bot| {
        let (_, card) = a_draft_waits(bot).await;
        let said = bot
            .slack
            .says("!triage approvals", by("sam"), CHANNEL, Some(&card))
            .await;
        bot.settle().await;
        let lines = heard_in_thread(bot, &said);
        assert!(lines.iter().any(|line| line.contains("A-1 · reply to")), "{lines:#?}");

        let said = bot
            .slack
            .says("!triage stop T-1001", by("sam"), CHANNEL, Some(&card))
            .await;
        bot.settle().await;
        says(&heard_in_thread(bot, &said).join("\n"), &["T-1001 is stopped"]);
        card.says("Withdrawn: stopped by");
    })
    .await;
}

#[tokio::test]
async fn a_mention_is_a_command_and_is_answered_once() {
    scenario(async |bot| {
        a_ticket_is_triaged(bot).await;
        let said = bot.slack.mentions("list", by("sam"), CHANNEL, None).await;
        bot.settle().await;
        let lines = heard_in_thread(bot, &said);
        assert_eq!(
            lines.len(),
            1,
            "Slack tells of it twice, and it is answered once: {lines:#?}"
        );
        says(&lines[0], &["T-1001", "Where is my refund?"]);

        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.settle().await;
        assert_eq!(
            heard_in_thread(bot, &said).len(),
            1,
            "a repeat is answered no second time"
        );
    })
    .await;
}

#[tokio::test]
async fn a_repeated_instruction_is_given_once() {
    scenario(async |bot| {
        a_ticket_is_triaged(bot).await;
        bot.model.says("I looked.");
        let said = bot.slack.mentions("T-1001 look again", by("sam"), CHANNEL, None).await;
        bot.settle().await;
        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.settle().await;
        assert_eq!(
            heard_in_thread(bot, &said),
            ["Working on T-1001 with your instruction."]
        );
        assert_eq!(bot.counts("SELECT count(*) FROM run").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_mention_in_a_cards_thread_that_is_no_command_gets_the_hint_and_changes_nothing() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        let said = bot
            .slack
            .mentions("shorter, and offer a voucher", by("sam"), CHANNEL, Some(&card))
            .await;
        bot.settle().await;
        let lines = heard_in_thread(bot, &said);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        says(&lines[0], &["use Edit or Reject on the card", "!triage T-1001"]);
        assert_eq!(bot.slack.only_open_card().ts, card.ts);
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(bot.model.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn talk_in_a_thread_changes_nothing_and_is_not_answered() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        let said = bot.slack.says("approve", by("sam"), CHANNEL, Some(&card)).await;
        bot.slack
            .says("Looks good to me, send it", by("sam"), CHANNEL, Some(&card))
            .await;
        bot.slack.says("stop T-1001", by("sam"), CHANNEL, None).await;
        bot.settle().await;
        assert!(
            heard_in_thread(bot, &said).is_empty(),
            "{:#?}",
            heard_in_thread(bot, &said)
        );
        bot.slack.only_open_card().says(DRAFT);
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_command_in_a_thread_survives_a_process_that_dies_before_it_is_carried_out() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        bot.slack
            .says("!triage stop T-1001", by("sam"), CHANNEL, Some(&card))
            .await;
        bot.restarts().await;
        // Slack was answered, so it tells of it no more.
        bot.settle().await;
        card.says("Withdrawn: stopped by");
        says(&bot.slack.lines().join("\n"), &["T-1001 is stopped"]);
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}
