//! Commands, as people give them: by slash, by mention, by `!triage` in a thread.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::{CHANNEL, Card, Posted};
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario, scenario_with};
use serde_json::json;

const DRAFT: &str = "Your refund left us on Monday.";

/// A customer asked, and the model's draft waits as a card.
async fn a_draft_waits(bot: &Bot) -> (TicketHandle, Card) {
    bot.model.calls("reply_customer", json!({ "text": DRAFT }));
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    (ticket, bot.slack.only_open_card())
}

/// A customer asked, and the run ended without a draft.
async fn a_ticket_is_triaged(bot: &Bot) -> TicketHandle {
    bot.model.calls_many([(
        "classify_ticket",
        json!({ "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                "confidence": 0.9, "reason": "Asks for money back." }),
    )]);
    bot.model.says("Triaged.");
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    ticket
}

/// What a person is answered, whether at once or after their rights were looked up. The check itself is not an answer.
async fn answer(bot: &Bot, line: &str, who: &str) -> String {
    let seen = bot.slack.commands(line, by(who), CHANNEL).await;
    assert_eq!(seen.status, 200);
    bot.settle().await;
    let mut told = seen.told();
    told.retain(|line| !line.starts_with("Checking your rights"));
    assert_eq!(told.len(), 1, "one command, one answer: {told:#?}");
    told.remove(0)
}

/// What the bot said in the thread of the post, or in the thread that it started under it.
fn heard_in_thread(bot: &Bot, under: &Posted) -> Vec<String> {
    let root = under.thread_parent().unwrap_or_else(|| under.clone());
    let lines = root.lines();
    bot.slack.lines();
    lines
        .into_iter()
        .filter(|line| !line.contains("Checking your rights"))
        .collect()
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

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
            &["T-1001 is at work: its run is waiting.", "It waits for A-1 · reply to"],
        );
        assert_eq!(bot.model.requests().len(), 1, "asking where it is starts nothing");
        card.says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_whose_run_has_ended_goes_on_in_a_new_one_that_continues_it() {
    scenario(async |bot| {
        a_ticket_is_triaged(bot).await;
        bot.model.says("Still nothing to do.");
        says(&answer(bot, "/triage T-1001", "sam").await, &["Working on T-1001."]);
        assert_eq!(bot.counts("SELECT count(*) FROM run").await, 2);
        assert_eq!(
            bot.counts("SELECT count(*) FROM run WHERE continues IS NOT NULL AND state = 'completed'")
                .await,
            1
        );
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
async fn an_instruction_reaches_the_model_and_whoever_gave_it_may_not_approve_what_came_of_it() {
    let both = [("DESKHAND_APPROVERS", "slack:U0SAM00001,slack:U0KIM00001")];
    scenario_with(&both, async |bot| {
        let ticket = a_ticket_is_triaged(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "Here is a voucher of 5 EUR." }));
        says(
            &answer(bot, "/triage T-1001 offer a voucher of 5 EUR", "sam").await,
            &["Working on T-1001 with your instruction."],
        );
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["Instruction by sam of the team: offer a voucher of 5 EUR"]);

        let card = bot.slack.only_open_card();
        let own = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        own.says("A-1 came from your own instruction, so somebody else must decide it.");
        bot.zendesk.has_no_replies(&ticket);

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("kim")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Here is a voucher of 5 EUR.");
    })
    .await;
}

#[tokio::test]
async fn an_instruction_while_a_draft_waits_withdraws_it_and_a_new_draft_comes() {
    let both = [("DESKHAND_APPROVERS", "slack:U0SAM00001,slack:U0KIM00001")];
    scenario_with(&both, async |bot| {
        let (ticket, first) = a_draft_waits(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "Here is a voucher of 5 EUR." }));
        says(
            &answer(bot, "/triage T-1001 offer a voucher of 5 EUR", "kim").await,
            &["Working on T-1001 with your instruction."],
        );
        first.says("Withdrawn: kim gave a new instruction");
        first.has_no_buttons();
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["Instruction by kim of the team: offer a voucher of 5 EUR"]);
        let second = bot.slack.only_open_card();
        second.says("Here is a voucher of 5 EUR.");
        bot.model.says("Done.");
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Here is a voucher of 5 EUR.");
    })
    .await;
}

#[tokio::test]
async fn an_instruction_goes_on_though_an_escalation_still_waits() {
    scenario(async |bot| {
        bot.model.calls(
            "escalate_ticket",
            json!({ "level": 2, "team": "billing", "reason": "The refund is three weeks late." }),
        );
        let ticket = bot
            .zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        bot.settle().await;
        let escalation = bot.slack.only_open_card();
        bot.model.says("I wrote it down.");
        answer(bot, "/triage T-1001 look at order 4711 as well", "kim").await;
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["look at order 4711 as well", "A-1 is still undecided"]);
        bot.model.says("The escalation is on its way.");
        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        escalation.says("Approved by sam");
        says(
            &bot.slack.lines().join("\n"),
            &["T-1001 was escalated to level 2 (billing)"],
        );
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn an_instruction_while_the_model_thinks_is_heard_in_the_same_run() {
    scenario(async |bot| {
        bot.model.says("Nothing to do.");
        bot.model.says("I looked at the order as well.");
        bot.model.holds();
        bot.zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        let app = bot.app.clone();
        let work = tokio::spawn(async move { deskhand::worker::runner::tick(&app).await });
        bot.model.is_thinking().await;
        let seen = bot
            .slack
            .commands("/triage T-1001 look at order 4711 as well", by("sam"), CHANNEL)
            .await;
        seen.says("Working on T-1001 with your instruction.");
        bot.model.releases();
        work.await.expect("it works").expect("it works");
        bot.settle().await;
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["look at order 4711 as well"]);
        assert_eq!(bot.counts("SELECT count(*) FROM run").await, 1);
    })
    .await;
}

#[tokio::test]
async fn stop_cancels_the_run_and_withdraws_what_waits() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        says(
            &answer(bot, "/triage stop T-1001", "sam").await,
            &["T-1001 is stopped; whatever waited is withdrawn."],
        );
        card.says("Withdrawn: stopped by sam");
        card.has_no_buttons();
        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was withdrawn: stopped by sam. Nothing was sent.");
        bot.zendesk.has_no_replies(&ticket);
        says(
            &answer(bot, "/triage stop T-1001", "sam").await,
            &["Nothing was at work on T-1001"],
        );
    })
    .await;
}

#[tokio::test]
async fn stop_after_an_approval_calls_back_a_reply_that_has_not_left_yet() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        bot.zendesk.is_down(true);
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        answer(bot, "/triage stop T-1001", "sam").await;
        bot.zendesk.is_down(false);
        bot.advance(std::time::Duration::from_secs(3600));
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_a_person_took_gets_no_reply_until_it_is_released() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        says(
            &answer(bot, "/triage take T-1001", "kim").await,
            &["T-1001 is yours; I keep my hands off it until release T-1001."],
        );
        card.says("Withdrawn");
        card.has_no_buttons();
        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was withdrawn");
        bot.slack.header(&ticket).says("State: with human");

        bot.zendesk
            .comments(&ticket, "Hello? Anybody?", by("ada@example.com"))
            .await;
        bot.settle().await;
        says(
            &answer(bot, "/triage T-1001", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        says(
            &answer(bot, "/triage T-1001 be quick", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        says(
            &answer(bot, "/triage new T-1001", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        assert_eq!(bot.model.requests().len(), 1, "no run while a person has it");
        bot.zendesk.has_no_replies(&ticket);

        says(
            &answer(bot, "/triage release T-1001", "sam").await,
            &["T-1001 is released"],
        );
        says(
            &answer(bot, "/triage release T-1001", "sam").await,
            &["T-1001 is not with a person."],
        );
        bot.model.calls("reply_customer", json!({ "text": "Here we are." }));
        says(&answer(bot, "/triage T-1001", "sam").await, &["Working on T-1001."]);
        says(&format!("{:?}", bot.model.last_request().turns), &["Hello? Anybody?"]);
        bot.slack.only_open_card().says("Here we are.");
    })
    .await;
}

#[tokio::test]
async fn new_starts_afresh_and_withdraws_what_waits() {
    scenario(async |bot| {
        let (ticket, first) = a_draft_waits(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "It left us on Tuesday." }));
        says(
            &answer(bot, "/triage new T-1001", "sam").await,
            &["T-1001 starts afresh."],
        );
        first.says("Withdrawn: a new run was asked for");
        let request = bot.model.last_request();
        assert_eq!(request.turns.len(), 1, "it knows nothing of the run before");
        assert_eq!(
            bot.counts("SELECT count(*) FROM run WHERE state = 'waiting' AND continues IS NULL")
                .await,
            1,
            "and does not continue it"
        );
        bot.model.says("Done.");
        let second = bot.slack.only_open_card();
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "It left us on Tuesday.");
    })
    .await;
}

#[tokio::test]
async fn only_admins_change_the_mode() {
    scenario(async |bot| {
        let refused = answer(bot, "/triage mode shadow", "kim").await;
        assert_eq!(refused, "This is for Deskhand's admins; nothing was done.");
        assert_eq!(answer(bot, "/triage mode", "sam").await, "The mode is ask.");

        says(
            &answer(bot, "/triage mode shadow", "sam").await,
            &["The mode is shadow: nothing leaves the house"],
        );
        assert_eq!(answer(bot, "/triage mode", "sam").await, "The mode is shadow.");
        says(
            &answer(bot, "/triage mode loud", "sam").await,
            &["mode takes shadow, ask or auto, not \"loud\"."],
        );
        assert_eq!(
            bot.counts("SELECT count(*) FROM ledger WHERE kind = 'setting' AND actor = 'slack:U0SAM00001'")
                .await,
            1,
            "the ledger keeps who did"
        );
    })
    .await;
}

#[tokio::test]
async fn what_was_approved_before_shadow_mode_came_is_recorded_once_and_not_sent() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        answer(bot, "/triage mode shadow", "sam").await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        card.says("Approved by sam");
        bot.slack.header(&ticket).says("shadow mode: nothing is sent");
        assert_eq!(
            bot.counts("SELECT count(*) FROM outbox WHERE kind = 'reply' AND state = 'recorded'")
                .await,
            1
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
