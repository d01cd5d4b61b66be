//! Tool servers: real processes and real HTTP, well-behaved and not. What a call comes to, who is told what, and that one
//! broken server costs the others nothing.

mod everything;
mod remote;

use std::path::PathBuf;
use std::time::Duration;

use deskhand::config::Config;
use deskhand_adapters::mcp::Servers;
use deskhand_core::id::TicketId;
use deskhand_core::port::{ServerState, Tools, ToolsError};
use deskhand_core::step::Outcome;
use deskhand_core::tool::outside::ToolUse;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::scenario_with;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lines::{ada_asks, states};

/// The server of our own, see tests/tool-server.
const SERVER: &str = env!("CARGO_BIN_EXE_tool-server");
const TOKEN: &str = "a-token-of-the-shop";

/// A settings file with this text, in a folder that goes with the value.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("deskhand.toml");
    std::fs::write(&path, text.replace("SERVER", SERVER)).expect("it is ours");
    (folder, path)
}

/// The servers of a settings file, not started.
fn servers(text: &str) -> Servers {
    let (_folder, path) = file(text);
    let env = |name: &str| (name == "SHOP_TOKEN").then(|| TOKEN.to_owned());
    let config = Config::load(Some(&path), &env).expect("the settings are right");
    Servers::new(config.mcp)
}

/// One server of our own, connected.
async fn shop(more: &str) -> Servers {
    let servers = servers(&format!("[mcp.shop]\ncommand = \"SERVER\"\n{more}"));
    servers.ready().await;
    servers.until("shop", |shop| shop.state == ServerState::Connected).await;
    servers
}

async fn call(servers: &Servers, tool: &str, args: Value) -> Result<Outcome, ToolsError> {
    let used = ToolUse {
        ticket: TicketId(1001),
        tool: tool.into(),
        args,
    };
    servers.call(&used).await
}

fn unknown(why: &str) -> Result<Outcome, ToolsError> {
    Err(ToolsError::Unknown { why: why.into() })
}

/// How each server stands: `shop connected 9`, `gone down 0 it ended`.
fn stand(servers: &Servers) -> Vec<String> {
    let all = servers.servers();
    let lines = all.iter().map(|server| {
        let error = server.error.as_deref().unwrap_or_default();
        format!("{} {} {} {error}", server.name, server.state, server.tools)
            .trim_end()
            .to_owned()
    });
    lines.collect()
}

#[tokio::test]
async fn a_broken_server_says_why_in_one_sentence_and_the_others_work() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let servers = servers(
        "[mcp.babbles]\ncommand = \"SERVER\"\nargs = [\"babbles\"]\ntimeout = \"2s\"\n\
         [mcp.ends]\ncommand = \"SERVER\"\nargs = [\"ends\"]\nenv = [\"SHOP_TOKEN\"]\n\
         [mcp.missing]\ncommand = \"/nowhere/tool-server\"\n\
         [mcp.nobody]\nurl = \"http://127.0.0.1:1/mcp\"\n\
         [mcp.shop]\ncommand = \"SERVER\"\n",
    );
    assert_eq!(stand(&servers).len(), 5);
    servers.ready().await;
    assert_eq!(
        stand(&servers),
        [
            "babbles down 0 it does not speak MCP: it wrote \"Welcome to the shop!\"",
            "ends down 0 it ended with exit code 3: cannot sign in with …",
            "missing down 0 the program /nowhere/tool-server cannot be started: No such file or directory (os error 2)",
            "nobody down 0 it cannot be reached: Connection refused (os error 111)",
            "shop connected 9",
        ]
    );
    let booked = call(&servers, "shop__refund", json!({ "amount": 5 })).await;
    assert_eq!(booked, Ok(Outcome::ok("Refund R-1 over 5 is booked.")));
}

#[tokio::test]
async fn names_are_safe_and_rules_are_the_teams() {
    let shop = shop(
        "rule = \"allow\"\ntrust_hints = true\nenv = [\"SHOP_TOKEN\"]\n\
         [mcp.shop.tools]\nrefund = \"ask\"\ndie = \"deny\"\ngone = \"deny\"\n",
    )
    .await;
    let offered = shop.offered();
    let shown: Vec<String> = offered
        .iter()
        .map(|tool| format!("{} {}{}", tool.name, tool.rule, if tool.reads { " reads" } else { "" }))
        .collect();
    assert_eq!(
        shown,
        [
            "shop__die deny",
            "shop__environment allow",
            "shop__fail allow",
            "shop__get_order allow reads",
            "shop__grow allow",
            "shop__hang allow",
            "shop__mumble allow",
            "shop__odd allow",
            "shop__refund ask",
        ]
    );
    assert_eq!(
        shop.servers()[0].remarks,
        [
            "[mcp.shop.tools] names gone, which it does not have",
            "the schema of odd is none; any arguments are taken",
        ]
    );
    let found = call(&shop, "shop__get_order", json!({})).await;
    assert_eq!(
        found,
        Ok(Outcome::ok("Order 7 is on its way.")),
        "it is called by its own name"
    );
}

#[tokio::test]
async fn a_server_sees_only_the_variables_that_the_settings_name() {
    let shop = shop("env = { THEIR_NAME = \"SHOP_TOKEN\" }\n").await;
    let seen = call(&shop, "shop__environment", json!({}))
        .await
        .expect("it answers")
        .text;
    assert!(seen.split(' ').any(|name| name == "THEIR_NAME"), "{seen}");
    assert!(seen.split(' ').any(|name| name == "PATH"), "{seen}");
    assert!(!seen.contains("CARGO") && !seen.contains("SHOP_TOKEN"), "{seen}");
}

#[tokio::test]
async fn what_is_known_of_a_call_is_what_the_model_is_told() {
    let shop = shop("timeout = \"2s\"\n").await;
    assert_eq!(
        call(&shop, "shop__fail", json!({})).await,
        Ok(Outcome::failed("No order 9"))
    );
    let mumbled = call(&shop, "shop__mumble", json!({})).await;
    assert_eq!(mumbled, unknown("its server answered with something that is no result"));
    let hung = call(&shop, "shop__hang", json!({})).await;
    assert_eq!(hung, unknown("its server gave no answer within 2 s"));
    let other = call(&shop, "shop__other", json!({})).await;
    let why = "no tool server offers it now".into();
    assert_eq!(other, Err(ToolsError::NotCalled { why }));
    let booked = call(&shop, "shop__refund", json!({ "amount": 6 })).await;
    assert_eq!(
        booked,
        Ok(Outcome::ok("Refund R-1 over 6 is booked.")),
        "all that harmed nothing"
    );
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again_and_offers_its_tools_meanwhile() {
    let shop = shop("").await;
    let died = call(&shop, "shop__die", json!({})).await;
    assert_eq!(died, unknown("its server ended in the middle of the call"));
    shop.until("shop", |shop| shop.state == ServerState::Down).await;
    assert_eq!(stand(&shop), ["shop down 9 it ended with exit code 4"]);
    assert_eq!(shop.offered().len(), 9);
    let down = call(&shop, "shop__refund", json!({ "amount": 5 })).await;
    let why = "the tool server shop is down (it ended with exit code 4)".into();
    assert_eq!(down, Err(ToolsError::NotCalled { why }));
    shop.until("shop", |shop| shop.state == ServerState::Connected).await;
    let booked = call(&shop, "shop__refund", json!({ "amount": 5 })).await;
    assert_eq!(booked, Ok(Outcome::ok("Refund R-1 over 5 is booked.")));
    assert_eq!(stand(&shop), ["shop connected 9"]);
}

#[tokio::test]
async fn a_server_is_told_of_a_call_that_nobody_waits_for_any_more() {
    // It ends when it hears of it, and says what it heard; then it is started again.
    async fn hears(shop: &Servers, why: &str) {
        let said = shop.until("shop", |shop| {
            let error = shop.error.as_deref().unwrap_or_default();
            error.contains("was given up") && error.contains(why)
        });
        let in_time = tokio::time::timeout(Duration::from_secs(30), said).await;
        assert!(in_time.is_ok(), "it was not told of: {why}");
    }
    let given_up = shop("args = [\"minds\"]\n").await;
    tokio::select! {
        answer = call(&given_up, "shop__hang", json!({})) => panic!("it answered {answer:?}"),
        () = given_up.until("shop", |shop| shop.tools == 10) => {}
    }
    hears(&given_up, "the run was stopped or paused").await;

    let late = shop("args = [\"minds\"]\ntimeout = \"2s\"\n").await;
    let hung = call(&late, "shop__hang", json!({})).await;
    assert_eq!(hung, unknown("its server gave no answer within 2 s"));
    hears(&late, "request timeout").await;
}

#[tokio::test]
async fn tools_that_a_server_adds_are_offered() {
    let shop = shop("").await;
    call(&shop, "shop__grow", json!({})).await.expect("it grows");
    let grown = shop.until("shop", |shop| shop.tools == 10);
    tokio::time::timeout(Duration::from_secs(30), grown)
        .await
        .expect("its new list is asked for");
    assert!(shop.offered().iter().any(|tool| tool.name == "shop__new"));
}

#[tokio::test]
async fn supervisor_approves_a_call_of_a_tool_server_and_it_is_made() {
    let (_folder, path) = file(
        "[mcp.shop]\ncommand = \"SERVER\"\ntrust_hints = true\n\
         [mcp.gone]\ncommand = \"SERVER\"\nargs = [\"ends\"]\n",
    );
    let path = path.display().to_string();
    scenario_with(&[("FILE_OF_THE_SCENARIO", &path)], async |bot| {
        bot.model.calls("shop__get_order", json!({}));
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        ada_asks(bot).await;
        bot.settle().await;

        let card = bot.slack.only_card();
        card.says("The tool shop__refund is called once, with exactly these arguments.");
        let looked = format!("{:?}", bot.model.last_request().turns);
        assert!(looked.contains("Order 7 is on its way."), "it only reads: {looked}");
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        let told = format!("{:?}", bot.model.last_request().turns);
        assert!(
            told.contains("<customer_text>\\nRefund R-1 over 5 is booked."),
            "{told}"
        );
        card.says("Approved by sam");
        assert_eq!(states(bot).await, ["completed triaged"]);

        let seen = bot.slack.commands("/triage mcp", by("sam"), CHANNEL).await;
        seen.says("• shop: connected, 9 tools; the schema of odd is none; any arguments are taken");
        seen.says("• gone: down, 0 tools; it ended with exit code 3: cannot sign in with");
    })
    .await;
}
