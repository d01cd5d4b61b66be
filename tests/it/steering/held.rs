//! Pause, resume and stop, also in the middle of a reply.

use deskhand_core::tool::outside::Rule;
use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use serde_json::json;

use super::{is_writing, told, types};
use crate::lines::{a_reply_waits, ada_asks, drafts, sam_approves, states, works_until_the_shop_is_called};

#[tokio::test]
async fn pause_in_the_middle_of_a_reply_keeps_it_as_partial_and_resume_goes_on() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        let work = is_writing(bot, "Dear Ada, your refund ").await;
        let said = types(bot, "/triage pause T-1001").await;
        assert!(said.contains("T-1001 is paused by sam"), "{said}");
        work.await.expect("it ends").expect("the runner lets go");
        bot.settle().await;
        assert_eq!(states(bot).await, ["waiting"]);
        bot.slack
            .header(&ticket)
            .says("paused by hand: resume T-1001 lets it go on");
        let shown = types(bot, "/triage runs T-1001").await;
        assert!(shown.contains("reply paused by a person"), "{shown}");

        // A comment, an instruction, and whatever else would queue it, finds it paused.
        let said = types(bot, "/triage T-1001").await;
        assert!(
            said.contains("T-1001 is paused; resume T-1001 lets it go on."),
            "{said}"
        );
        let said = types(bot, "/triage T-1001 be kind").await;
        assert!(said.contains("it hears your instruction when resume T-1001"), "{said}");
        bot.zendesk.comments(&ticket, "Hello?", by("ada@example.com")).await;
        bot.settle().await;
        assert_eq!(states(bot).await, ["waiting"]);

        bot.model.releases();
        drafts(bot, "Your refund left us on Monday.");
        let said = types(bot, "/triage resume T-1001").await;
        assert!(said.contains("T-1001 goes on."), "{said}");
        bot.settle().await;
        let told = told(bot);
        assert!(
            told.contains("Your last reply was paused by a person while you wrote it; none of its calls was run."),
            "{told}"
        );
        assert!(
            told.contains("Dear Ada, your refund") && told.contains("Hello?") && told.contains("be kind"),
            "{told}"
        );
        bot.slack.only_card().says("Your refund left us on Monday.");
    })
    .await;
}

#[tokio::test]
async fn a_waiting_run_that_is_paused_hears_of_its_decision_when_it_is_resumed() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        assert!(types(bot, "/triage pause T-1001").await.contains("paused"));
        assert!(types(bot, "/triage pause T-1001").await.contains("paused already"));
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);

        bot.model.says("Done.");
        types(bot, "/triage resume T-1001").await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
        assert_eq!(states(bot).await, ["completed answered"]);
    })
    .await;
}

#[tokio::test]
async fn stop_in_the_middle_of_a_reply_ends_the_run_and_keeps_what_was_written() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Dear Ada, ").await;
        let said = types(bot, "/triage stop T-1001").await;
        assert!(said.contains("T-1001 is stopped"), "{said}");
        work.await.expect("it ends").expect("the runner lets go");
        bot.model.releases();
        bot.settle().await;
        assert_eq!(states(bot).await, ["cancelled"]);
        let partial: String = sqlx::query_scalar("SELECT kind ->> 'text' FROM step WHERE kind ->> 'kind' = 'partial'")
            .fetch_one(bot.pool())
            .await
            .expect("it was kept");
        assert_eq!(partial, "Dear Ada, ");
        bot.slack.has_no_cards();
    })
    .await;
}

#[tokio::test]
async fn pause_in_the_middle_of_a_call_outside_gives_it_up_and_the_model_is_told() {
    scenario(async |bot| {
        bot.server.offers("shop__refund", Rule::Allow, false);
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        ada_asks(bot).await;
        let work = works_until_the_shop_is_called(bot).await;
        types(bot, "/triage pause T-1001").await;
        work.await.expect("it ends").expect("the runner lets go");
        assert_eq!(bot.server.given_up(), 1, "its server is told that nobody waits");
        assert_eq!(states(bot).await, ["waiting"]);

        bot.server.answers_again();
        bot.model.says("A person must look whether it was paid.");
        types(bot, "/triage resume T-1001").await;
        bot.settle().await;
        assert_eq!(bot.server.calls().len(), 1, "it is not made again");
        assert!(told(bot).contains("Interrupted, result unknown"), "{}", told(bot));
    })
    .await;
}

#[tokio::test]
async fn nothing_to_pause_is_said_so() {
    scenario(async |bot| {
        bot.model.says("Nothing to do.");
        ada_asks(bot).await;
        bot.settle().await;
        let said = types(bot, "/triage pause T-1001").await;
        assert!(said.contains("Nothing is at work on T-1001"), "{said}");
        let said = types(bot, "/triage compact T-1001").await;
        assert!(
            said.contains("its next run shortens what came before by itself"),
            "{said}"
        );
    })
    .await;
}
