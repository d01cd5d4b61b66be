//! Slack's limits, which the fake enforces: whatever customers and models write, the card is posted, updated and safe.

use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

/// A card about these words with this draft is posted, opened in every form, and settled; the customer gets all of it.
async fn goes_through(bot: &Bot, words: &str, draft: &str) {
    bot.model.calls("reply_customer", json!({ "text": draft }));
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", words, by("ada@example.com"))
        .await;
    bot.settle().await;
    let card = bot.slack.only_card();
    let start: String = draft.chars().take(200).collect();
    card.says(&start);

    let full = bot.slack.views_full(&card, by("sam")).await;
    let end: String = draft.chars().skip(draft.chars().count() - 100).collect();
    assert!(
        full.replace('\n', "").contains(&end.replace('\n', "")),
        "the end is in the full view:\n{full}"
    );
    bot.slack.opens_modal(&card, "Edit", by("sam")).await.closes().await;

    bot.model.says("Done.");
    bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
    bot.settle().await;
    card.says("Approved by sam");
    card.has_no_buttons();
    bot.zendesk.has_reply(&ticket, draft);
    // No request was refused for its size, so nothing fell back to plain text.
    let refused: Vec<_> = bot
        .slack
        .requests()
        .into_iter()
        .filter(|request| request.outcome != "ok")
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[tokio::test]
async fn a_draft_of_twelve_thousand_characters_is_shown_edited_and_sent_whole() {
    scenario(async |bot| {
        let draft = "We are sorry that it took so long, and here is what happened. ".repeat(200);
        goes_through(bot, "I sent the kettle back.", draft[..12_000].trim()).await;
    })
    .await;
}

#[tokio::test]
async fn a_draft_of_one_long_word_is_shown_and_sent_whole() {
    scenario(async |bot| goes_through(bot, "I sent the kettle back.", &"x".repeat(12_000)).await).await;
}

#[tokio::test]
async fn five_thousand_chinese_characters_are_shown_and_answered() {
    scenario(async |bot| {
        goes_through(
            bot,
            &"我的退款在哪里？".repeat(625),
            &"您的退款已于星期一寄出。".repeat(417),
        )
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_text_of_nothing_but_signs_that_take_more_room_when_escaped_goes_through() {
    scenario(async |bot| goes_through(bot, &"<&>".repeat(2_000), "a & b < c > d ".repeat(700).trim()).await).await;
}

#[tokio::test]
async fn smileys_that_count_twice_go_through() {
    scenario(async |bot| goes_through(bot, &"😀".repeat(4_000), &"😀👍".repeat(2_500)).await).await;
}

#[tokio::test]
async fn a_customers_markup_stays_text_and_pings_nobody() {
    scenario(async |bot| {
        let words = "<!channel> *bold* _it_ <@U0SAM00001> <https://evil.example|our shop> &lt;!here&gt; ~no~ `code`";
        bot.model.calls(
            "reply_customer",
            json!({ "text": "Hello <!everyone>, *we* are <@U0KIM00001>." }),
        );
        bot.model.says("A person must look at this.");
        let subject = "<!here> *Refund* <@U0KIM00001>";
        bot.zendesk.opens(subject, words, by("ada@example.com")).await;
        bot.settle().await;
        let card = bot.slack.only_card();
        card.says("<!channel> *bold* _it_ <@U0SAM00001> <https://evil.example|our shop> &lt;!here&gt;");
        card.says("Hello <!everyone>, *we* are <@U0KIM00001>.");
        bot.slack.rejects(&card, by("sam"), "<!channel> *no*").await;
        bot.settle().await;
        card.says("Rejected by sam: <!channel> *no*");

        for request in bot.slack.requests() {
            let arguments = request.arguments.to_string();
            let mrkdwn = mrkdwn_in(&request.arguments);
            for ping in ["<!channel", "<!here", "<!everyone", "<@U0", "<https://evil"] {
                assert!(
                    !mrkdwn.iter().any(|text| text.contains(ping)),
                    "{ping} would be carried out in {}: {arguments}",
                    request.method
                );
            }
        }
    })
    .await;
}

/// Every string that Slack would read for markup: messages' texts and mrkdwn objects.
fn mrkdwn_in(arguments: &serde_json::Value) -> Vec<String> {
    fn gather(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(object) => {
                if object.get("type").is_some_and(|kind| kind == "mrkdwn")
                    && let Some(text) = object.get("text").and_then(serde_json::Value::as_str)
                {
                    found.push(text.to_owned());
                }
                object.values().for_each(|value| gather(value, found));
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| gather(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(text) = arguments.get("text").and_then(serde_json::Value::as_str) {
        found.push(text.to_owned());
    }
    match arguments.get("blocks") {
        // Form fields carry JSON as text.
        Some(serde_json::Value::String(text)) => {
            gather(&serde_json::from_str(text).expect("blocks are JSON"), &mut found);
        }
        Some(blocks) => gather(blocks, &mut found),
        None => {}
    }
    found
}
