//! The head of a run's requests: the same bytes from the first to the last, so that a provider's cache hits.

use deskhand_core::model::ModelRequest;
use deskhand_core::tool::outside::Rule;
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::types;
use crate::lines::{ada_asks, drafts, sam_approves, states};

/// System prompt and tools as bytes; a request for a summary has no tools and is none of the run's own.
fn heads(bot: &Bot) -> Vec<Vec<u8>> {
    let own = |request: &ModelRequest| !request.tools.is_empty();
    let head = |request: &ModelRequest| serde_json::to_vec(&(&request.system, &request.tools)).expect("JSON");
    bot.model.requests().iter().filter(|r| own(r)).map(head).collect()
}

#[tokio::test]
async fn every_request_of_a_run_begins_with_the_same_bytes() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        for n in 0..8 {
            // A comment; each is long, so that there is something to summarise.
            let story = format!("Story {n}: {}", "it broke ".repeat(300));
            bot.zendesk.comments(&ticket, &story, by("ada@example.com")).await;
        }
        bot.model.calls("list_tickets", json!({}));
        drafts(bot, "Your refund left us on Monday.");
        bot.settle().await;

        // Another replica, after a summary.
        types(bot, "/triage compact T-1001").await;
        bot.restarts().await;
        bot.model.says("Ada tells how her kettle broke.");
        drafts(bot, "Your refund left us on Tuesday.");
        bot.zendesk.comments(&ticket, "And now?", by("ada@example.com")).await;
        bot.settle().await;

        // Held and resumed, then a click.
        types(bot, "/triage pause T-1001").await;
        types(bot, "/triage resume T-1001").await;
        bot.settle().await;
        bot.model.says("Ada is answered.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Tuesday.");
        for card in bot.slack.cards() {
            card.is_about(&ticket);
        }

        assert_eq!(states(bot).await, ["completed answered"], "one run");
        let heads = heads(bot);
        assert_eq!(heads.len(), 4, "requests of its own");
        assert!(heads.iter().all(|head| *head == heads[0]));
        let summaries = bot
            .counts("SELECT count(*) FROM step WHERE kind ->> 'kind' = 'compacted'")
            .await;
        assert_eq!(summaries, 1);
    })
    .await;
}

#[tokio::test]
async fn tools_that_a_server_adds_in_the_middle_of_a_run_are_offered_to_the_next() {
    scenario(async |bot| {
        bot.server.offers("shop__look", Rule::Allow, true);
        bot.server.offers_in_the_next_call("shop__refund");
        bot.model.calls("shop__look", json!({ "amount": 1 }));
        bot.model.says("Looked.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;

        bot.model.says("Nothing new.");
        bot.zendesk.comments(&ticket, "And now?", by("ada@example.com")).await;
        bot.settle().await;

        let heads = heads(bot);
        assert_eq!(heads.len(), 3, "requests");
        assert_eq!(heads[0], heads[1], "one run");
        let refund = b"shop__refund";
        let offered = |head: &[u8]| head.windows(refund.len()).any(|some| some == refund);
        assert!(!offered(&heads[1]) && offered(&heads[2]));
    })
    .await;
}
