//! A scene is recorded, then replayed: the same model gives the same run, another one gives another, and nothing that is
//! only in the recording is asked for twice.

use super::{Change, Conclusion, Replay, Turn, changes};
use crate::model::{Call, ModelReply, Stop};
use crate::next::tests::scene::{Scene, classify, read, reply, route};
use crate::step::{Outcome, StepKind};
use crate::transcript::Transcript;

/// Replays against a script: one entry a request.
fn replay(scene: &Scene, script: &[ModelReply]) -> (Replay, usize) {
    let mut replay = Replay::of(&scene.transcript);
    let mut script = script.iter().cloned();
    let mut looks = 0;
    loop {
        let facts = replay.dress(scene.facts.clone());
        match replay.turn(&facts) {
            Turn::Ask(_) => replay.replied("scripted", script.next().expect("the script is long enough")),
            Turn::Look(some) => {
                looks += some.len();
                let found = some.into_iter().map(|looking| StepKind::Outcome {
                    call: looking.call,
                    outcome: Outcome::ok("found now"),
                });
                replay.looked(found.collect());
            }
            Turn::Again => {}
            Turn::Over => {
                assert!(script.next().is_none(), "the script is used up");
                return (replay, looks);
            }
        }
    }
}

/// What the model said in the recording.
fn said(transcript: &Transcript) -> Vec<ModelReply> {
    let replies = transcript.steps().iter().filter_map(|step| match &step.kind {
        StepKind::Replied { reply, .. } => Some((**reply).clone()),
        _ => None,
    });
    replies.collect()
}

fn calls(calls: &[(&str, serde_json::Value)]) -> ModelReply {
    let calls = calls.iter().enumerate().map(|(n, (name, args))| Call {
        id: format!("other-{n}"),
        name: (*name).into(),
        args: args.clone(),
    });
    ModelReply {
        calls: calls.collect(),
        stop: Stop::Calls,
        ..ModelReply::default()
    }
}

fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        ..ModelReply::default()
    }
}

fn differences(scene: &Scene, replay: &Replay) -> Vec<Change> {
    changes(&Conclusion::of(&scene.transcript), &Conclusion::of(replay.transcript()))
}

/// A draft was rejected and redrafted, the customer wrote again, and the last draft was approved.
fn a_long_story() -> Scene {
    let mut scene = Scene::at_work();
    scene.article("returns", 3, "Within 30 days.");
    scene
        .calls(&[read("returns"), classify("needs_approval"), route("billing")])
        .happens();
    scene.calls(&[reply("Pay for it yourself.")]).happens();
    scene.rejects(1, "too harsh").happens();
    scene.calls(&[reply("We take it back.")]).happens();
    scene.customer_writes("It is about two kettles.").happens();
    scene.calls(&[read("returns"), reply("We take both back.")]).happens();
    scene.approves(3).happens();
    scene.says("Ada is answered.").happens();
    assert!(scene.ended);
    scene
}

#[test]
fn the_same_replies_come_to_the_same_and_ask_for_the_same() {
    let scene = a_long_story();
    let recorded = said(&scene.transcript);
    let (replay, looks) = replay(&scene, &recorded);
    assert_eq!(looks, 0, "what was read then is not read again");
    assert_eq!(differences(&scene, &replay), []);
    assert_eq!(
        replay.transcript().turns(),
        scene.transcript.turns(),
        "the model was shown exactly what it was shown then"
    );
}

#[test]
fn another_model_is_shown_what_it_asks_for_and_changes_what_it_changes() {
    let scene = a_long_story();
    let mut other = classify("human");
    other.1["priority"] = "low".into();
    let script = [
        calls(&[read("returns"), read("warranty"), other, route("repairs")]),
        says("A person must look."),
        // Hears of the rejection's time nothing: it asked nobody. The customer's second comment comes all the same.
        says("Still."),
    ];
    let (replay, looks) = replay(&scene, &script);
    assert_eq!(looks, 1, "only the other article");
    let outcomes: Vec<&str> = replay.transcript().outcomes().map(|(_, o)| o.text.as_str()).collect();
    assert!(
        outcomes.contains(&"Within 30 days.") && outcomes.contains(&"found now"),
        "{outcomes:?}"
    );
    let told = format!("{:?}", replay.transcript().turns());
    assert!(told.contains("two kettles"), "{told}");
    let found = differences(&scene, &replay);
    let lines: Vec<String> = found
        .iter()
        .map(|c| format!("{}: {} → {}", c.what, c.then, c.now))
        .collect();
    assert_eq!(
        lines,
        [
            "priority: high → low",
            "team: billing → repairs",
            "action: needs_approval → human",
            "draft: We take both back. → ",
        ]
    );
    assert!(
        found[3]
            .diff
            .as_ref()
            .is_some_and(|diff| diff.contains("-We take both back."))
    );
}

#[test]
fn a_new_draft_is_kept_and_not_asked_for() {
    let scene = a_long_story();
    let script = [
        calls(&[read("returns"), classify("needs_approval"), route("billing")]),
        calls(&[reply("Gladly.")]),
        says("Done."),
        says("Done again."),
    ];
    let (replay, _) = replay(&scene, &script);
    let outcomes: Vec<&str> = replay.transcript().outcomes().map(|(_, o)| o.text.as_str()).collect();
    assert_eq!(outcomes.last(), Some(&"Recorded, not sent: the bot is in shadow mode."));
    let found = differences(&scene, &replay);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].what, found[0].now.as_str()), ("draft", "Gladly."));
}

#[test]
fn a_run_that_still_waits_is_replayed_up_to_there() {
    let mut scene = Scene::at_work();
    scene
        .calls(&[classify("needs_approval"), reply("On Monday.")])
        .happens();
    let (replay, _) = replay(&scene, &said(&scene.transcript));
    assert_eq!(differences(&scene, &replay), []);
    assert_eq!(Conclusion::of(replay.transcript()).draft.as_deref(), Some("On Monday."));
}
