//! What every chat must do with a card: one suite, run against both.

use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario_with};
use serde_json::json;

use crate::lines::{a_reply_waits, ada_asks};

/// A chat as this suite uses it: people by their names, the one open card, and what somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    Slack,
    Discord,
}

const BOTH: [In; 2] = [In::Slack, In::Discord];

impl In {
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Slack => &[],
            Self::Discord => &[("WITH_DISCORD", "only")],
        }
    }

    /// What the one card says that has been there from the start.
    fn card(self, bot: &Bot) -> String {
        match self {
            Self::Slack => bot.slack.cards().first().map(|card| card.text()),
            Self::Discord => bot.discord.cards().first().map(|card| card.text()),
        }
        .expect("there is a card")
    }

    fn buttons(self, bot: &Bot) -> Vec<String> {
        match self {
            Self::Slack => bot.slack.cards().first().map(|card| card.buttons()),
            Self::Discord => bot.discord.cards().first().map(|card| card.buttons()),
        }
        .expect("there is a card")
    }

    /// Clicks a button of that card, on a screen that may be old; gives what the person alone was told.
    async fn clicks(self, bot: &Bot, label: &str, who: &str) -> Vec<String> {
        match self {
            Self::Slack => {
                let card = bot.slack.cards().remove(0);
                let seen = bot.slack.clicks_stale(&card, label, by(who)).await;
                bot.settle().await;
                seen.told()
            }
            Self::Discord => {
                let card = bot.discord.cards().remove(0);
                let seen = bot.discord.clicks(&card, label, by(who)).await;
                bot.settle().await;
                seen.told()
            }
        }
    }

    /// What a form says that a button of that card opens.
    async fn form(self, bot: &Bot, label: &str, who: &str) -> String {
        match self {
            Self::Slack => {
                let card = bot.slack.cards().remove(0);
                bot.slack.opens_modal(&card, label, by(who)).await.text()
            }
            Self::Discord => {
                let card = bot.discord.cards().remove(0);
                bot.discord.opens_form(&card, label, by(who)).await.text()
            }
        }
    }

    /// Opens a form, fills it in and sends it; gives what the person alone was told of it.
    async fn fills_in(self, bot: &Bot, label: &str, words: &str, who: &str) -> Vec<String> {
        match self {
            Self::Slack => {
                let card = bot.slack.cards().remove(0);
                let sent = bot.slack.opens_modal(&card, label, by(who)).await.submits(words).await;
                bot.settle().await;
                let errors = sent
                    .errors
                    .values()
                    .map(|why| why.as_str().unwrap_or_default().to_owned());
                errors.chain(sent.seen.told()).collect()
            }
            Self::Discord => {
                let card = bot.discord.cards().remove(0);
                let sent = bot.discord.opens_form(&card, label, by(who)).await.submits(words).await;
                bot.settle().await;
                sent.told()
            }
        }
    }
}

#[tokio::test]
async fn a_card_shows_the_draft_with_the_same_buttons_and_an_approval_sends_it() {
    for chat in BOTH {
        scenario_with(chat.settings(), async |bot| {
            let ticket = a_reply_waits(bot).await;
            let card = chat.card(bot);
            for words in [
                "Where is my refund?",
                "I sent the kettle back.",
                "Your refund left us on Monday.",
                "This reply goes to",
                "A-1",
            ] {
                assert!(card.contains(words), "{chat:?}: {words:?} is not in:\n{card}");
            }
            assert_eq!(
                chat.buttons(bot),
                ["Approve", "Edit", "Reject", "View full"],
                "{chat:?}"
            );

            bot.model.says("Done.");
            assert_eq!(chat.clicks(bot, "Approve", "sam").await, [""; 0], "{chat:?}");
            bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
            assert!(chat.card(bot).contains("Approved by sam"), "{chat:?}");
            assert_eq!(chat.buttons(bot), [""; 0], "{chat:?}");

            let again = chat.clicks(bot, "Approve", "sam").await;
            assert!(
                again.concat().contains("A-1 was already approved by sam"),
                "{chat:?}: {again:?}"
            );
        })
        .await;
    }
}

#[tokio::test]
async fn an_edit_is_sent_and_a_rejection_is_not() {
    for chat in BOTH {
        scenario_with(chat.settings(), async |bot| {
            let ticket = a_reply_waits(bot).await;
            bot.model.says("Done.");
            assert_eq!(
                chat.fills_in(bot, "Edit", "It left us on Tuesday.", "sam").await,
                [""; 0],
                "{chat:?}"
            );
            bot.zendesk.has_reply(&ticket, "It left us on Tuesday.");
            assert!(chat.card(bot).contains("Edited and approved by sam"), "{chat:?}");
        })
        .await;
        scenario_with(chat.settings(), async |bot| {
            let ticket = a_reply_waits(bot).await;
            bot.model.says("A person must look at this.");
            let told = chat.fills_in(bot, "Reject", "Wrong tone or language", "sam").await;
            assert_eq!(told, [""; 0], "{chat:?}");
            bot.zendesk.has_no_replies(&ticket);
            assert!(
                chat.card(bot).contains("Rejected by sam: Wrong tone or language"),
                "{chat:?}"
            );
        })
        .await;
    }
}

#[tokio::test]
async fn a_stranger_is_refused_alone_and_the_card_survives_a_restart() {
    for chat in BOTH {
        scenario_with(chat.settings(), async |bot| {
            let ticket = a_reply_waits(bot).await;
            let told = chat.clicks(bot, "Approve", "stranger").await;
            assert_eq!(
                told,
                ["You are not on the list of those who may decide A-1. Nothing was changed."],
                "{chat:?}"
            );
            bot.zendesk.has_no_replies(&ticket);

            bot.restarts().await;
            bot.model.says("Done.");
            assert_eq!(chat.clicks(bot, "Approve", "sam").await, [""; 0], "{chat:?}");
            bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
            assert!(chat.card(bot).contains("Approved by sam"), "{chat:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_question_is_answered_once_by_the_button_of_an_option_or_by_the_form() {
    const QUESTION: &str = "May she have the refund after 40 days?";
    for chat in BOTH {
        for in_words in [false, true] {
            scenario_with(chat.settings(), async |bot| {
                let asked = json!({ "question": QUESTION, "options": ["Yes, as a courtesy", "No"] });
                bot.model.calls("ask_question", asked);
                ada_asks(bot).await;
                bot.settle().await;
                let card = chat.card(bot);
                assert!(card.contains(QUESTION), "{chat:?}: {card}");
                assert_eq!(
                    chat.buttons(bot),
                    ["Yes, as a courtesy", "No", "Answer", "Reject", "View full"],
                    "{chat:?}"
                );

                let refused = match in_words {
                    true => chat.fills_in(bot, "Answer", "Half of it.", "stranger").await,
                    false => chat.clicks(bot, "No", "stranger").await,
                };
                assert!(refused.concat().contains("not on the list"), "{chat:?}: {refused:?}");
                assert_eq!(bot.model.requests().len(), 1, "{chat:?}: the run rests");

                bot.model.says("I leave it at that.");
                let (told, answer) = match in_words {
                    true => {
                        let form = chat.form(bot, "Answer", "sam").await;
                        assert!(form.contains(QUESTION), "{chat:?}: {form}");
                        (chat.fills_in(bot, "Answer", "Half of it.", "sam").await, "Half of it.")
                    }
                    false => (chat.clicks(bot, "No", "sam").await, "No"),
                };
                assert_eq!(told, [""; 0], "{chat:?}: the card itself shows it");
                let heard = format!("{:?}", bot.model.last_request().turns);
                let line = format!("sam of the team answered: {answer}");
                assert!(heard.contains(&line), "{chat:?}: {heard}");
                assert!(
                    chat.card(bot).contains(&format!("Answered by sam: {answer}")),
                    "{chat:?}"
                );
                assert_eq!(chat.buttons(bot), [""; 0], "{chat:?}");

                let again = chat.clicks(bot, "Yes, as a courtesy", "sam").await;
                assert!(
                    again.concat().contains("A-1 was already answered by sam"),
                    "{chat:?}: {again:?}"
                );
                assert_eq!(bot.model.requests().len(), 2, "{chat:?}: it is answered once");
            })
            .await;
        }
    }
}
