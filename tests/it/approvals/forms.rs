//! What opens on a supervisor's screen: the whole draft, the form to edit it, the form to reject it.

use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::{DRAFT, a_draft_waits, the_model_hears};

/// What was said inside a form that was not taken.
#[track_caller]
fn refusal(sent: &deskhand_tests::fake::slack::Sent) -> String {
    assert!(!sent.closed, "the form stays open with what was typed");
    let errors: Vec<String> = sent
        .errors
        .values()
        .map(|why| why.as_str().unwrap_or("").to_owned())
        .collect();
    assert_eq!(errors.len(), 1, "one sentence: {errors:?}");
    errors.concat()
}

#[tokio::test]
async fn view_full_shows_everything_that_the_card_had_to_cut() {
    scenario(async |bot| {
        let paragraph = "We looked into it once more and found the parcel in our warehouse. ";
        let draft = format!(
            "Dear Ada,\n{}\nYours, the last line of the draft.",
            paragraph.repeat(100)
        );
        bot.model.calls("reply_customer", json!({ "text": draft }));
        let words = format!(
            "It is late.\n{}\nThe last words of the customer.",
            "And late.\n".repeat(60)
        );
        bot.zendesk
            .opens("Where is my refund?", &words, by("ada@example.com"))
            .await;
        bot.settle().await;
        let card = bot.slack.only_card();
        card.says("Dear Ada,");
        card.says_nothing_of("the last line of the draft");
        card.says_nothing_of("The last words of the customer.");
        card.says("View full has the rest");

        // Whoever can read the channel may read it all; only deciding is for approvers.
        let full = bot.slack.views_full(&card, by("kim")).await;
        let whole = full.replace('\n', "");
        assert!(
            whole.contains(&draft.replace('\n', "").trim_end().to_owned()),
            "the whole draft:\n{full}"
        );
        assert!(full.contains("The last words of the customer."), "{full}");
        assert!(full.contains("This reply goes to"), "{full}");
    })
    .await;
}

#[tokio::test]
async fn the_edit_form_opens_with_the_draft_and_an_untouched_draft_is_sent_as_it_was() {
    scenario(async |bot| {
        let draft = "Dear Ada,\n\nyour refund left us on Monday.\n\n  Yours\n  the shop";
        let (ticket, card) = a_draft_waits(bot, draft).await;
        let form = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
        let text = form.text();
        assert!(text.starts_with("Edit A-1"), "{text}");
        assert!(text.contains(draft), "{text}");
        bot.model.says("Done.");
        form.submits(draft).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, draft);
        card.says("Edited and approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_form_that_is_closed_without_sending_changes_nothing() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        for label in ["Edit", "Reject", "View full"] {
            bot.slack.opens_modal(&card, label, by("sam")).await.closes().await;
        }
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn an_edit_of_a_draft_that_was_withdrawn_meanwhile_is_refused_inside_the_form() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let form = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
        bot.model.says("The customer found it; nothing to do.");
        bot.zendesk
            .comments(&ticket, "It came this morning, thank you!", by("ada@example.com"))
            .await;
        let sent = form.submits("Your refund left us on Tuesday.").await;
        assert_eq!(
            refusal(&sent),
            "A-1 was withdrawn: the customer wrote again. Nothing was sent."
        );
        assert!(form.is_open());
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        card.says("Withdrawn: the customer wrote again");
    })
    .await;
}

#[tokio::test]
async fn a_form_made_from_another_effect_is_refused_inside_the_form() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let edit = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
        let reject = bot.slack.opens_modal(&card, "Reject", by("sam")).await;
        the_draft_changes(bot).await;
        let sent = edit.submits("Your refund left us on Tuesday.").await;
        assert_eq!(
            refusal(&sent),
            "A-1 has changed since this card was drawn. Look at the newest card and decide there."
        );
        let sent = reject.submits("Wrong tone or language").await;
        assert!(!sent.closed);
        assert!(
            reject.text().contains("A-1 has changed since this card was drawn."),
            "{}",
            reject.text()
        );
        let seen = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        seen.says("A-1 has changed since this card was drawn.");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

/// The row is another effect's by now.
async fn the_draft_changes(bot: &Bot) {
    sqlx::query("UPDATE approval SET digest = repeat('ab', 32)")
        .execute(bot.pool())
        .await
        .expect("the row is there");
}

#[tokio::test]
async fn what_was_changed_behind_the_card_is_never_executed() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        sqlx::query(r#"UPDATE approval SET effect = jsonb_set(effect, '{text}', '"Send us your password."')"#)
            .execute(bot.pool())
            .await
            .expect("the row is there");
        assert_eq!(
            bot.counts("SELECT count(*) FROM approval WHERE effect::text LIKE '%password%'")
                .await,
            1,
            "the row was changed"
        );
        bot.model.says("A person must look at this.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        the_model_hears(bot, "A-1 is not what its card showed; it was not executed.");
    })
    .await;
}

#[tokio::test]
async fn the_reject_form_offers_reasons_and_the_one_chosen_reaches_the_model() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let form = bot.slack.opens_modal(&card, "Reject", by("sam")).await;
        let text = form.text();
        assert!(text.starts_with("Reject A-1"), "{text}");
        assert!(text.contains("The customer never sees it."), "{text}");
        bot.model.says("A person must look at this.");
        assert!(form.submits("It promises too much").await.closed);
        bot.settle().await;
        the_model_hears(bot, "Rejected by sam: It promises too much");
        card.says("Rejected by sam: It promises too much");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn an_edit_without_words_is_refused_inside_the_form() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let sent = bot.slack.edits(&card, by("sam"), " \n ").await;
        assert_eq!(refusal(&sent), "An empty text cannot be sent; reject it instead.");
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card();
    })
    .await;
}
