//! What there is: help, lists, tickets, runs, articles, and words that are no command.

use deskhand_tests::scenario;
use serde_json::json;

use super::{DRAFT, a_draft_waits, answer, says};

#[tokio::test]
async fn help_lists_every_command_and_an_empty_command_asks_for_help() {
    scenario(async |bot| {
        for line in ["/triage help", "/triage", "/triage ?"] {
            let text = answer(bot, line, "sam").await;
            for command in [
                "<ticket> <instruction>",
                "list [filter]",
                "show <ticket>",
                "status",
                "approvals [mine|overdue]",
                "kb <query>",
                "runs <ticket>",
                "new <ticket>",
                "stop <ticket>",
                "take <ticket>",
                "release <ticket>",
                "mode [shadow|ask|auto]",
            ] {
                says(&text, &[command]);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn list_show_runs_status_and_approvals_tell_what_there_is() {
    scenario(async |bot| {
        says(&answer(bot, "/triage list", "sam").await, &["No tickets match."]);
        says(
            &answer(bot, "/triage approvals", "sam").await,
            &["Nothing waits for a decision."],
        );
        bot.model.calls(
            "classify_ticket",
            json!({ "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                    "confidence": 0.9, "reason": "Asks for money back." }),
        );
        let (ticket, card) = a_draft_waits(bot).await;
        card.says(DRAFT);

        let list = answer(bot, "/triage list", "sam").await;
        says(&list, &["T-1001", "triaged", "refund", "high", "Where is my refund?"]);
        says(&answer(bot, "/triage list high", "sam").await, &["T-1001"]);
        says(&answer(bot, "/triage list urgent", "sam").await, &["No tickets match."]);
        says(&answer(bot, "/triage list refund", "sam").await, &["T-1001"]);

        let shown = answer(bot, "/triage show T-1001", "sam").await;
        says(
            &shown,
            &[
                "T-1001 · Where is my refund? · triaged",
                "refund · high",
                "90 % sure",
                "Asks for money back.",
                "Waits: A-1 · reply to",
                "I sent the kettle back.",
            ],
        );
        let by_number = answer(bot, &format!("/triage show zendesk:{}", ticket.id), "sam").await;
        assert_eq!(by_number, shown, "its number at the desk is as good");

        let runs = answer(bot, "/triage runs T-1001", "sam").await;
        says(
            &runs,
            &[
                "Runs of T-1001",
                "waiting",
                "Classifying as refund · high",
                "asked as A-1",
            ],
        );
        says(
            &answer(bot, "/triage status", "sam").await,
            &["Mode ask, model script.", "1 waiting", "Approvals that wait: 1."],
        );
        says(
            &answer(bot, "/triage approvals", "sam").await,
            &["A-1 · reply to", "T-1001"],
        );
        says(&answer(bot, "/triage approvals mine", "sam").await, &["A-1"]);
        says(
            &answer(bot, "/triage approvals mine", "kim").await,
            &["Nothing waits for a decision."],
        );
        says(
            &answer(bot, "/triage approvals overdue", "sam").await,
            &["Nothing waits for a decision."],
        );
    })
    .await;
}

#[tokio::test]
async fn kb_finds_articles() {
    scenario(async |bot| {
        bot.knows(
            "refunds",
            "en",
            "How refunds work",
            "A refund leaves us within five days.",
        )
        .await;
        says(
            &answer(bot, "/triage kb when does a refund leave", "sam").await,
            &["refunds · How refunds work (en)", "within five days"],
        );
        says(
            &answer(bot, "/triage kb zebra", "sam").await,
            &["No article has these words."],
        );
        says(
            &answer(bot, "/triage kb", "sam").await,
            &["kb needs", "kb return a parcel"],
        );
    })
    .await;
}

#[tokio::test]
async fn a_ticket_whose_run_is_active_tells_its_state_and_what_waits() {
    scenario(async |bot| {
        let (_, card) = a_draft_waits(bot).await;
        says(
            &answer(bot, "/triage T-1001", "sam").await,
            &["T-1001 waits for A-1 · reply to"],
        );
        assert_eq!(bot.model.requests().len(), 1, "asking where it is starts nothing");
        card.says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_ticket_gets_a_friendly_sentence() {
    scenario(async |bot| {
        for line in [
            "T-9999",
            "show T-9999",
            "stop T-9999",
            "take T-9999",
            "runs T-9999",
            "T-9999 be kind",
        ] {
            let text = answer(bot, &format!("/triage {line}"), "sam").await;
            assert_eq!(
                text, "There is no ticket T-9999 here. Type list to see what there is.",
                "{line}"
            );
        }
        says(
            &answer(bot, "/triage zendesk:4711", "sam").await,
            &["There is no ticket zendesk:4711 here."],
        );
        says(
            &answer(bot, "/triage stop everything", "sam").await,
            &["\"everything\" is not a ticket"],
        );
    })
    .await;
}

#[tokio::test]
async fn an_unknown_word_is_answered_with_the_nearest_command() {
    scenario(async |bot| {
        let text = answer(bot, "/triage statsu", "sam").await;
        assert_eq!(
            text,
            "I do not know \"statsu\". Did you mean status? Type help for all commands."
        );
    })
    .await;
}
