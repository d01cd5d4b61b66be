//! Whatever a model says and people do, in any order: `next` never panics, is always the same, and comes to an end.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scene::{Scene, Yielded, ask, change, classify, escalate, note, read, reply, route, spawn, waits};
use crate::approval::ApprovalState;
use crate::effect::Effect;
use crate::facts::Standing;
use crate::history::{self, Wire};
use crate::model::Stop;
use crate::run::{EffectState, RunState};
use crate::ticket::{Author, Mode};
use crate::tool::outside::Rule;

/// One thing that happens in a run's life, whoever does it.
#[derive(Clone, Debug)]
enum Happening {
    Replies(String, Vec<(&'static str, Value)>, Stop),
    CustomerWrites,
    ColleagueNotes,
    Instructed,
    /// Which of the open approvals, and how.
    Decided(usize, ApprovalState),
    Delivered(EffectState),
    ArticleMoves(&'static str),
    Mode(Mode),
    StandingLost,
    Tampered,
    SweeperExecutes,
    DiesInACall,
    ToolIsDenied,
    /// Which of the helpers at work, and how.
    HelperEnds(usize, RunState),
    /// The run is woken, or taken up after a crash.
    Woken,
}

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    prop::sample::select(vec![
        reply("On Monday."),
        reply("See evil.example/\u{1e9e}\u{1e9e} or 5.000 EUR"),
        reply(" "),
        escalate(1),
        escalate(2),
        classify("auto_reply"),
        classify("human"),
        route("billing"),
        ask("May she?", &["Yes", "No"]),
        ask(" ", &[]),
        spawn("What do the articles say?"),
        spawn(" "),
        waits(&[]),
        waits(&[2]),
        ("list_helpers", Value::Null),
        ("close_helper", json!({ "helper": 1 })),
        note("FYI"),
        read("refunds"),
        change("refunds", "5 days", "3 days"),
        change("refunds", "5 days", "5 days"),
        ("search_knowledge", json!({ "query": "refund" })),
        ("search_knowledge", json!("{\"query\": \"ref")),
        ("no_such_tool", Value::Null),
        ("shop__refund", json!({ "amount": 5 })),
        ("shop__stock", json!({ "amount": 5 })),
        ("shop__sync", Value::Null),
    ])
}

/// A server outside with a tool of each kind.
fn shop(run: &mut Scene) {
    run.offered("shop__refund", Rule::Ask, false, false)
        .offered("shop__stock", Rule::Allow, true, true)
        .offered("shop__sync", Rule::Allow, false, true);
}

fn happening() -> impl Strategy<Value = Happening> {
    let stop = prop::sample::select(vec![Stop::EndOfTurn, Stop::Calls, Stop::Length, Stop::Refusal]);
    let text = prop::sample::select(vec!["", " ", "Done."]).prop_map(str::to_owned);
    prop_oneof![
        8 => (text, prop::collection::vec(call(), 0..4), stop).prop_map(|(t, c, s)| Happening::Replies(t, c, s)),
        2 => Just(Happening::CustomerWrites),
        1 => Just(Happening::ColleagueNotes),
        1 => Just(Happening::Instructed),
        5 => (0..3usize, prop::sample::select(ApprovalState::ALL)).prop_map(|(n, state)| Happening::Decided(n, state)),
        2 => prop::sample::select(EffectState::ALL).prop_map(Happening::Delivered),
        1 => prop::sample::select(vec!["It takes 5 days now.", "Nothing."]).prop_map(Happening::ArticleMoves),
        1 => prop::sample::select(Mode::ALL).prop_map(Happening::Mode),
        1 => Just(Happening::StandingLost),
        1 => Just(Happening::Tampered),
        1 => Just(Happening::SweeperExecutes),
        1 => Just(Happening::DiesInACall),
        1 => Just(Happening::ToolIsDenied),
        3 => (0..3usize, prop::sample::select(RunState::ALL)).prop_map(|(n, state)| Happening::HelperEnds(n, state)),
        2 => Just(Happening::Woken),
    ]
}

fn happens(run: &mut Scene, happening: &Happening, asked: bool) {
    match happening {
        // A model speaks only when it is asked.
        Happening::Replies(text, calls, stop) => {
            if asked {
                run.model(text, calls, *stop);
            }
        }
        Happening::CustomerWrites => {
            run.customer_writes("See x.example/\u{1e9e}\u{1e9e}, I want 5000 €.");
        }
        Happening::ColleagueNotes => {
            run.comment(Author::Agent, false, "She called.");
        }
        Happening::Instructed => {
            run.instructed("Be kind.");
        }
        Happening::Decided(n, state) => {
            let open: Vec<i64> = run
                .facts
                .approvals
                .iter()
                .filter(|approval| approval.state == ApprovalState::Open)
                .map(|approval| approval.id.0)
                .collect();
            if let Some(id) = open.get(*n).filter(|_| *state != ApprovalState::Open) {
                run.decides(*id, *state, "so", Some("In other words."));
            }
        }
        Happening::Delivered(state) => {
            if run.facts.effects.last().is_some_and(|effect| !effect.state.is_final()) {
                run.delivery(*state, "so");
            }
        }
        Happening::ArticleMoves(body) => {
            let revision = run.transcript.next_seq();
            run.article("refunds", i64::from(revision) + 10, body);
        }
        Happening::Mode(mode) => run.facts.mode = *mode,
        Happening::StandingLost => {
            if let Some(approval) = run.facts.approvals.last_mut() {
                approval.standing = Standing::Lost;
            }
        }
        Happening::Tampered => {
            if let Some(approval) = run.facts.approvals.last_mut()
                && let Effect::ReplyCustomer(reply) = &mut approval.effect
            {
                reply.to.address = "eve@example.com".into();
            }
        }
        Happening::SweeperExecutes => {
            if let Some(approval) = run
                .facts
                .approvals
                .iter_mut()
                .find(|approval| approval.is_due() && approval.effect.is_sent())
            {
                approval.executed = true;
            }
        }
        Happening::DiesInACall => {
            run.dies_in_the_next_call();
        }
        Happening::ToolIsDenied => run.facts.outside = [].into(),
        Happening::HelperEnds(n, state) => {
            let at_work: Vec<i32> = helpers_at_work(run);
            if let Some(number) = at_work.get(*n).filter(|_| state.is_final()) {
                run.helper_ends(*number, *state, "Refunds take 5 days.");
            }
        }
        Happening::Woken => {}
    }
}

fn helpers_at_work(run: &Scene) -> Vec<i32> {
    let at_work = run.facts.helpers.iter().filter(|helper| helper.is_at_work());
    at_work.map(|helper| helper.number).collect()
}

/// What a provider would refuse in the latest request.
fn fault(run: &Scene) -> Option<String> {
    let request = run.request.as_ref()?;
    Wire::ALL
        .into_iter()
        .find_map(|wire| history::fault(&history::repaired(&request.turns, wire), wire))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The scene itself fails on circles, on a second outcome, on a second execution, and on whatever could not be
    /// committed.
    #[test]
    fn any_order_of_things_comes_to_a_yield(
        // Some things happen one right after the other, before the run does anything.
        things in prop::collection::vec((happening(), prop::bool::weighted(0.7)), 1..40),
        action in prop::sample::select(vec![None, Some(crate::ticket::Action::AutoReply)]),
    ) {
        let mut run = Scene::new();
        run.article("refunds", 3, "Refunds take 5 days.");
        shop(&mut run);
        if let Some(action) = action {
            run.triaged(action);
        }
        let mut asked = run.works() == Yielded::AskedModel;
        for (thing, works) in &things {
            happens(&mut run, thing, asked);
            asked &= !matches!(thing, Happening::Replies(..));
            if *works {
                asked = run.works() == Yielded::AskedModel;
            }
            prop_assert_eq!(fault(&run), None);
        }
    }

    /// `next` of steps and facts that do not belong together is still an answer.
    #[test]
    fn steps_in_any_disorder_are_no_reason_to_panic(
        things in prop::collection::vec(happening(), 1..20),
        kept in prop::collection::vec(any::<bool>(), 64),
    ) {
        let mut run = Scene::new();
        for thing in &things {
            happens(&mut run, thing, true);
        }
        let mut other = Scene::new();
        other.facts = run.facts.clone();
        for (step, kept) in run.transcript.steps().iter().zip(kept) {
            if kept {
                other.append(step.kind.clone());
            }
        }
        let first = crate::next::next(&other.transcript, &other.facts);
        prop_assert_eq!(first, crate::next::next(&other.transcript, &other.facts));
    }

    /// A model that never stops calling, and people who decide everything, still come to an end.
    #[test]
    fn a_run_ends_whatever_its_model_does(
        replies in prop::collection::vec((prop::collection::vec(call(), 0..4), any::<bool>()), 1..8),
        verdicts in prop::collection::vec(prop::sample::select(&[ApprovalState::Approved, ApprovalState::Answered, ApprovalState::Rejected, ApprovalState::Expired][..]), 1..4),
        mode in prop::sample::select(Mode::ALL),
    ) {
        let mut run = Scene::new();
        run.facts.mode = mode;
        run.facts.limits.max_steps = 12;
        shop(&mut run);
        run.article("refunds", 3, "Refunds take 5 days.");
        let mut script = replies.iter().cycle();
        let mut verdicts = verdicts.iter().cycle();
        for _ in 0..200 {
            match run.works() {
                Yielded::AskedModel => {
                    let (calls, speaks) = script.next().expect("a cycle does not end");
                    run.model(if *speaks { "Well." } else { "" }, calls, Stop::Calls);
                }
                Yielded::Waits => {
                    let open = run.facts.approvals.iter().find(|approval| approval.state == ApprovalState::Open);
                    match (open, helpers_at_work(&run).first()) {
                        (Some(open), _) => {
                            let id = open.id.0;
                            let verdict = verdicts.next().expect("a cycle does not end");
                            run.decides(id, *verdict, "", None);
                        }
                        (None, Some(number)) => {
                            run.helper_ends(*number, RunState::Completed, "Nothing.");
                        }
                        (None, None) => panic!("it waits for something"),
                    }
                }
                Yielded::Died => {}
                Yielded::Ended => break,
            }
        }
        prop_assert!(run.ended, "it did not end");
    }
}
