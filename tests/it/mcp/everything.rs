//! The protocol's own example server, by other people and in another language, by both ways. `.ci/run` installs it.

use std::process::Stdio;

use deskhand_adapters::mcp::Servers;
use deskhand_core::port::{ServerState, Tools};
use deskhand_core::step::Outcome;
use serde_json::json;

use super::{call, servers};

/// Where its program is, as `.ci/run` says.
fn program() -> Option<String> {
    let found = std::env::var("MCP_SERVER_EVERYTHING")
        .ok()
        .filter(|path| !path.is_empty());
    if found.is_none() {
        println!("skipped: MCP_SERVER_EVERYTHING names no server (.ci/run installs it)");
    }
    found
}

async fn works(servers: &Servers) {
    servers
        .until("every", |every| every.state == ServerState::Connected)
        .await;
    let offered = servers.offered();
    let echo = offered
        .iter()
        .find(|tool| tool.name == "every__echo")
        .expect("it is offered");
    assert_eq!(echo.schema["properties"]["message"]["type"], "string");
    assert!(!echo.description.is_empty());

    let said = call(servers, "every__echo", json!({ "message": "hello" })).await;
    assert_eq!(said, Ok(Outcome::ok("Echo: hello")));
    let wrong = call(servers, "every__echo", json!({ "message": 5 }))
        .await
        .expect("it answers");
    assert!(wrong.failed && wrong.text.contains("message"), "{wrong:?}");
    let image = call(servers, "every__get-tiny-image", json!({}))
        .await
        .expect("it answers");
    assert!(image.text.contains("[image, "), "{image:?}");
}

#[tokio::test]
async fn the_example_server_works_as_a_child() {
    let Some(program) = program() else { return };
    let servers = servers(&format!(
        "[mcp.every]\ncommand = \"node\"\nargs = [\"{program}\", \"stdio\"]\n"
    ));
    servers.ready().await;
    works(&servers).await;
}

#[tokio::test]
async fn the_example_server_works_at_an_address() {
    let Some(program) = program() else { return };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        free.local_addr().expect("it is bound").port()
    };
    let mut child = tokio::process::Command::new("node")
        .args([&program, "streamableHttp"])
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("node starts");
    let servers = servers(&format!("[mcp.every]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
    // It may take a while to listen: until then the server counts as down and is tried again.
    servers.ready().await;
    works(&servers).await;
    drop(servers);
    child.kill().await.expect("it is ours");
}
