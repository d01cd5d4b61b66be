//! A tool server at an address: its token, and what is known when it is gone.

use std::future::IntoFuture;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use deskhand_core::port::{ServerState, Tools, ToolsError};
use deskhand_core::step::Outcome;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::{TOKEN, call, servers, stand, unknown};

/// Answers in plain JSON and without a session, as the smallest servers do.
async fn answer(headers: HeaderMap, Json(heard): Json<Value>) -> Response {
    let token = format!("Bearer {TOKEN}");
    if headers.get("authorization").and_then(|value| value.to_str().ok()) != Some(token.as_str()) {
        return (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")]).into_response();
    }
    let result = match heard["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": heard["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "remote", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [
            { "name": "track", "inputSchema": { "type": "object" } },
            { "name": "break", "inputSchema": { "type": "object" } },
        ] }),
        Some("tools/call") if heard["params"]["name"] == "break" => {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "It is in Bremen." }] }),
        Some(_) | None => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": heard["id"], "result": result })).into_response()
}

async fn serve() -> (String, AbortOnDropHandle<std::io::Result<()>>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it listens"));
    let router = Router::new().route("/mcp", post(answer));
    let served = tokio::spawn(axum::serve(listener, router).into_future());
    (url, AbortOnDropHandle::new(served))
}

#[tokio::test]
async fn a_server_at_an_address_is_asked_with_its_token() {
    let (url, _served) = serve().await;
    let servers = servers(&format!(
        "[mcp.carrier]\nurl = \"{url}\"\ntoken = \"SHOP_TOKEN\"\n[mcp.stranger]\nurl = \"{url}\"\n"
    ));
    servers.ready().await;
    assert_eq!(
        stand(&servers),
        [
            "carrier connected 2",
            "stranger down 0 it wants a token, or does not take this one (HTTP 401)"
        ]
    );
    let found = call(&servers, "carrier__track", json!({})).await;
    assert_eq!(found, Ok(Outcome::ok("It is in Bremen.")));
    let broken = call(&servers, "carrier__break", json!({})).await;
    assert_eq!(broken, unknown("it answered HTTP 500"), "who knows what it did before");
    assert_eq!(stand(&servers)[0], "carrier connected 2");
}

#[tokio::test]
async fn a_call_that_found_nobody_at_the_address_is_told_as_not_made() {
    let (url, served) = serve().await;
    let servers = servers(&format!("[mcp.carrier]\nurl = \"{url}\"\ntoken = \"SHOP_TOKEN\"\n"));
    servers.ready().await;
    served.abort();
    let _ = served.await;
    match call(&servers, "carrier__track", json!({})).await {
        Err(ToolsError::NotCalled { why }) => assert!(why.starts_with("the tool server carrier"), "{why}"),
        other => panic!("{other:?}"),
    }
    servers
        .until("carrier", |carrier| carrier.state == ServerState::Down)
        .await;
    assert_eq!(servers.offered().len(), 2, "its tools stay");
}
