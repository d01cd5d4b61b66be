//! Models and settings that go astray: the run ends in a state that a person can see, and everything else goes on.

use deskhand_core::model::{ModelReply, RawReply};
use deskhand_tests::{scenario, scenario_with};
use serde_json::json;

use super::types;
use crate::lines::{ada_asks, states};

#[tokio::test]
async fn a_model_that_never_stops_calling_tools_is_stopped() {
    scenario_with(&[("DESKHAND_MAX_STEPS", "5")], async |bot| {
        for _ in 0..5 {
            bot.model.calls("list_tickets", json!({}));
        }
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 5);
        assert_eq!(states(bot).await, ["completed max_steps"]);
        bot.slack.header(&ticket).says("a person must look at it");
    })
    .await;
}

#[tokio::test]
async fn a_reply_with_thoughts_only_is_nudged_once_and_then_a_person_looks() {
    scenario(async |bot| {
        let thoughts = || ModelReply {
            raw: Some(RawReply {
                provider: "anthropic".into(),
                message: json!({ "content": [{ "type": "thinking", "thinking": "Hm.", "signature": "s" }] }),
            }),
            ..ModelReply::default()
        };
        bot.model.replies(thoughts());
        bot.model.replies(thoughts());
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        let told = super::told(bot);
        assert!(told.contains("Your last reply was empty."), "{told}");
        assert_eq!(states(bot).await, ["completed empty_reply"]);
        bot.slack.header(&ticket).says("a person must look at it");
    })
    .await;
}

#[tokio::test]
async fn a_playbook_with_broken_front_matter_costs_only_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [
        ("good", "---\nname: good\ndescription: When all is well\n---\nBe kind."),
        ("broken", "---\nname: broken\nBe unkind."),
    ] {
        std::fs::create_dir(folder.path().join(name)).expect("it is ours");
        std::fs::write(folder.path().join(name).join("SKILL.md"), text).expect("it is ours");
    }
    let skills = folder.path().display().to_string();
    scenario_with(&[("DESKHAND_SKILLS", &skills)], async |bot| {
        bot.model.calls("load_skill", json!({ "name": "good" }));
        bot.model.says("Done.");
        ada_asks(bot).await;
        bot.settle().await;
        assert!(super::told(bot).contains("Be kind."));
        assert!(!bot.model.last_request().system.contains("unkind"));
        assert_eq!(states(bot).await, ["completed triaged"]);
        let said = types(bot, "/triage skills").await;
        assert!(said.contains("• good: When all is well"), "{said}");
        let broken: Vec<&str> = said.lines().filter(|line| line.contains('✗')).collect();
        assert!(
            broken.len() == 1 && broken[0].contains("broken/SKILL.md: line"),
            "{said}"
        );
    })
    .await;
}
