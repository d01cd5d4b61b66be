//! A tool server of the scenarios' own, with the bad habits that a real one seldom shows on demand. It speaks the Model
//! Context Protocol on its standard input and output, without any library, so that nothing makes it well-behaved.
//!
//! `tool-server` works; `tool-server babbles` never speaks the protocol; `tool-server ends` complains and ends;
//! `tool-server minds` lists one tool more once it hangs in a call, and ends when it hears that nobody waits for it.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("babbles") => babble(),
        Some("ends") => {
            let token = std::env::var("SHOP_TOKEN").unwrap_or_default();
            eprintln!("cannot sign in with {token}");
            std::process::exit(3);
        }
        Some("minds") => serve(true),
        Some(_) | None => serve(false),
    }
}

/// Writes what is no protocol to everything that it hears.
fn babble() {
    say("Welcome to the shop!");
    for line in std::io::stdin().lines() {
        say(if line.is_ok() { "{ \"what\": " } else { "?" });
    }
}

fn serve(minds: bool) {
    let mut grown = false;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(heard) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let params = &heard["params"];
        if minds && heard["method"] == "notifications/cancelled" {
            eprintln!("call {} was given up: {}", params["requestId"], params["reason"]);
            std::process::exit(5);
        }
        if minds && params["name"] == "hang" {
            grown = true;
            say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string());
            continue;
        }
        let result = match heard["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "shop", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": tools(grown) }),
            Some("tools/call") => match call(&params["name"], &params["arguments"]) {
                Some(result) => {
                    grown |= params["name"] == "grow";
                    result
                }
                None => continue,
            },
            Some(_) | None => continue,
        };
        say(&json!({ "jsonrpc": "2.0", "id": heard["id"], "result": result }).to_string());
        if params["name"] == "grow" {
            say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string());
        }
    }
}

fn tools(grown: bool) -> Vec<Value> {
    let amount = json!({ "type": "object", "properties": { "amount": { "type": "integer" } } });
    let mut tools = vec![
        json!({ "name": "refund", "description": "Pays an amount back", "inputSchema": amount }),
        json!({ "name": "get order", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }),
        json!({ "name": "odd", "description": "Its schema is none", "inputSchema": "whatever" }),
        json!({ "name": "environment", "inputSchema": { "type": "object" } }),
    ];
    for name in ["fail", "mumble", "hang", "die", "grow"] {
        tools.push(json!({ "name": name, "inputSchema": { "type": "object" } }));
    }
    if grown {
        tools.push(json!({ "name": "new", "inputSchema": { "type": "object" } }));
    }
    tools
}

/// `None`: no answer.
fn call(name: &Value, args: &Value) -> Option<Value> {
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    match name.as_str()? {
        "refund" => Some(text(&format!("Refund R-1 over {} is booked.", args["amount"]))),
        "get order" => Some(text("Order 7 is on its way.")),
        "environment" => {
            let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            names.sort();
            Some(text(&names.join(" ")))
        }
        "fail" => Some(json!({ "content": [{ "type": "text", "text": "No order 9" }], "isError": true })),
        "mumble" => Some(json!({ "mumble": true })),
        "die" => std::process::exit(4),
        "hang" => None,
        _ => Some(text("Done.")),
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that is gone ends us with the next line that we read.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
