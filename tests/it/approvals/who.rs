//! Who may decide, and what everybody else is told.

use deskhand_tests::fake::by;
use deskhand_tests::{scenario, scenario_with};

use super::{DRAFT, a_draft_waits};

#[tokio::test]
async fn a_stranger_may_not_approve_and_is_told_privately() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let seen = bot.slack.clicks(&card, "Approve", by("stranger")).await;
        bot.settle().await;
        seen.says("You are not on the list of those who may decide A-1. Nothing was changed.");
        assert_eq!(seen.told().len(), 1, "one click, one answer");
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(
            card.buttons().first().map(String::as_str),
            Some("Approve"),
            "it is still open"
        );
        let lines = bot.slack.lines();
        assert!(lines.is_empty(), "nobody else sees it: {lines:?}");
        assert_eq!(
            bot.counts("SELECT count(*) FROM ledger WHERE kind = 'refused' AND actor = 'slack:U0STRANGER'")
                .await,
            1,
            "the ledger keeps the refused click"
        );

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
    })
    .await;
}

#[tokio::test]
async fn a_stranger_can_fill_in_the_forms_and_still_decides_nothing() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let edit = bot.slack.edits(&card, by("stranger"), "You owe us money.").await;
        assert!(!edit.closed, "the form stays");
        let said = edit.errors.values().next().cloned().unwrap_or_default().to_string();
        assert!(said.contains("not on the list"), "{said}");
        let reject = bot.slack.rejects(&card, by("stranger"), "No action is needed").await;
        assert!(!reject.closed, "the form stays and says why");
        assert!(bot.slack.modal(by("stranger")).text().contains("not on the list"));
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(bot.slack.only_open_card().ts, card.ts);
    })
    .await;
}

#[tokio::test]
async fn a_guest_may_not_approve() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let seen = bot.slack.clicks(&card, "Approve", by("guest")).await;
        bot.settle().await;
        seen.says("not on the list");
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn somebody_of_another_organisation_may_not_approve_even_when_listed() {
    scenario_with(&[("DESKHAND_APPROVERS", "slack:U0OUTSIDER")], async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        for label in ["Approve", "Edit", "Reject", "View full"] {
            let seen = bot.slack.clicks(&card, label, by("outsider")).await;
            bot.settle().await;
            seen.says("This is for the support team of this workspace; nothing was done.");
            assert_eq!(seen.told().len(), 1, "{label}: one click, one answer");
        }
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn somebody_of_another_organisation_cannot_send_a_form_either() {
    scenario_with(
        &[("DESKHAND_APPROVERS", "slack:U0OUTSIDER,slack:U0SAM00001")],
        async |bot| {
            let (ticket, card) = a_draft_waits(bot, DRAFT).await;
            // The form is opened by a colleague; what is sent says who sent it.
            let form = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
            let sent = form.submits_as(by("outsider"), "You owe us money.").await;
            assert!(!sent.closed, "the form stays");
            bot.settle().await;
            bot.zendesk.has_no_replies(&ticket);
            bot.slack.only_open_card();
        },
    )
    .await;
}

#[tokio::test]
async fn a_member_of_a_listed_group_approves_after_it_was_looked_up() {
    scenario_with(&[("DESKHAND_APPROVERS", "slack:@S0LEADS001")], async |bot| {
        bot.slack.group("S0LEADS001", &["sam"]);
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");

        let first = bot.slack.clicks(&card, "Approve", by("sam")).await;
        assert_eq!(first.status, 200, "it is kept and acknowledged");
        bot.settle().await;
        first.says("A-1: checking; the answer follows in a moment.");
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn somebody_who_is_not_in_the_group_is_refused_after_the_look_up_and_at_once_the_next_time() {
    scenario_with(&[("DESKHAND_APPROVERS", "slack:@S0LEADS001")], async |bot| {
        bot.slack.group("S0LEADS001", &["sam"]);
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let first = bot.slack.clicks(&card, "Approve", by("stranger")).await;
        bot.settle().await;
        assert_eq!(first.told().len(), 2, "checking, then the answer: {:?}", first.told());
        first.says("You are not on the list of those who may decide A-1. Nothing was changed.");

        let second = bot.slack.clicks(&card, "Approve", by("stranger")).await;
        bot.settle().await;
        assert_eq!(
            second.told().len(),
            1,
            "what is known by now needs no checking: {:?}",
            second.told()
        );
        bot.zendesk.has_no_replies(&ticket);

        // Somebody who left the group is known for five minutes at most.
        bot.slack.group("S0LEADS001", &[]);
        bot.advance(std::time::Duration::from_secs(6 * 60));
        let left = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        left.says("You are not on the list");
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn a_look_up_that_fails_refuses() {
    // Nobody made this group, so Slack does not know it.
    scenario_with(&[("DESKHAND_APPROVERS", "slack:@S0NOSUCH01")], async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let seen = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        seen.says("Your rights could not be checked just now, so nothing was changed. Try again in a minute.");
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn whoever_left_the_group_between_click_and_execution_sends_nothing() {
    scenario_with(&[("DESKHAND_APPROVERS", "slack:@S0LEADS001")], async |bot| {
        bot.slack.group("S0LEADS001", &["sam"]);
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        // The first click makes the group known; a second one decides at once.
        let wrong = bot.slack.clicks(&card, "Approve", by("stranger")).await;
        bot.settle().await;
        wrong.says("not on the list");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.slack.group("S0LEADS001", &[]);
        the_groups_are_looked_up(bot).await;
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        card.says("Superseded: sam may no longer decide this.");
        let again = bot.slack.only_open_card();
        again.says("sam may no longer decide this.");
    })
    .await;
}

/// As the sweeper's look-up would, between the click and the runner.
async fn the_groups_are_looked_up(bot: &deskhand_tests::Bot) {
    deskhand::worker::sweeper::sync_groups(&bot.app)
        .await
        .expect("the groups are read");
}

#[tokio::test]
async fn an_empty_list_means_that_nobody_may_decide() {
    scenario_with(&[("DESKHAND_APPROVERS", "")], async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        card.says("nobody is set as approver");
        for who in ["sam", "stranger"] {
            let seen = bot.slack.clicks(&card, "Approve", by(who)).await;
            bot.settle().await;
            seen.says("You are not on the list of those who may decide A-1.");
        }
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}
