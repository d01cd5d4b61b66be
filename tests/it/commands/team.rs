//! Who may give commands, and what everybody else is told.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::{scenario, scenario_with};

use super::{DRAFT, a_draft_waits, a_ticket_is_triaged, answer, heard_in_thread, says};

#[tokio::test]
async fn a_colleague_who_is_no_admin_may_read_and_triage_after_being_looked_up_once() {
    scenario(async |bot| {
        let first = bot.slack.commands("/triage status", by("kim"), CHANNEL).await;
        first.says("Checking your rights; the answer follows in a moment.");
        bot.settle().await;
        first.says("Mode ask, model script.");
        let second = bot.slack.commands("/triage status", by("kim"), CHANNEL).await;
        assert_eq!(second.told().len(), 1, "known by now: {:?}", second.told());
        second.says("Mode ask, model script.");
    })
    .await;
}

#[tokio::test]
async fn strangers_to_the_team_get_one_private_refusal() {
    scenario_with(&[("DESKHAND_TEAM", "slack:U0KIM00001")], async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        for who in ["stranger", "guest"] {
            let text = answer(bot, "/triage stop T-1001", who).await;
            assert_eq!(text, "This is for the support team; nothing was done.", "{who}");
        }
        let text = answer(bot, "/triage stop T-1001", "outsider").await;
        says(&text, &["This is for the support team", "nothing was done."]);

        let said = bot
            .slack
            .says("!triage stop T-1001", by("stranger"), CHANNEL, Some(&card))
            .await;
        bot.settle().await;
        bot.slack
            .told_privately("stranger", "This is for the support team; nothing was done.");
        let public: Vec<_> = heard_in_thread(bot, &said)
            .into_iter()
            .filter(|line| line.contains("support team"))
            .collect();
        assert!(public.is_empty(), "nobody else reads the refusal: {public:#?}");
        bot.slack.only_open_card().says(DRAFT);
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn without_a_list_the_team_is_every_full_member_and_no_guest() {
    scenario(async |bot| {
        a_ticket_is_triaged(bot).await;
        says(&answer(bot, "/triage list", "stranger").await, &["T-1001"]);
        for who in ["guest", "outsider"] {
            let text = answer(bot, "/triage list", who).await;
            says(&text, &["This is for the support team", "nothing was done."]);
        }
    })
    .await;
}
