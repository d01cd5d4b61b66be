//! Keeps one server connected: greets it, lists its tools, lists them again when it says so, and starts anew when it is
//! gone, slower each time.

use std::sync::Arc;
use std::time::Duration;

use deskhand_core::port::ServerState;
use deskhand_core::retry;
use rmcp::model::{ClientConfig, ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::child::{self, Process};
use super::{Kept, Link, Reach, Server, Shared, http, listed};

/// A server that was there this long has shown that it works: its next end counts as the first.
const STEADY: Duration = Duration::from_secs(60);
/// Pages of its list of tools.
const MOST_PAGES: usize = 50;

type Running = RunningService<RoleClient, Ear>;

/// Hears what the server says unasked.
struct Ear {
    changed: Arc<Notify>,
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("deskhand", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// Never ends by itself.
pub(super) async fn keep(shared: Arc<Shared>, which: usize) {
    let kept = &shared.kept[which];
    let name = &kept.settings.name;
    let mut failures = 0;
    loop {
        let mut there = None;
        let why = match open(kept).await {
            Ok((running, process)) => {
                there = Some(Instant::now());
                hold(&shared, kept, running, process).await
            }
            Err(why) => why,
        };
        failures = match there {
            Some(since) if since.elapsed() > STEADY => 1,
            Some(_) | None => failures + 1,
        };
        // A server that is down for a day is one line in the log, as long as it is down for the same reason.
        if kept.standing.borrow().error.as_deref() != Some(&why) {
            tracing::warn!(server = %name, %why, "a tool server is down; it is tried again");
        }
        kept.standing.send_modify(|now| {
            now.state = ServerState::Down;
            now.error = Some(why);
            now.link = None;
        });
        let policy = &kept.settings.restarts;
        sleep(retry::delay(failures, fraction(), None, policy).unwrap_or(policy.cap)).await;
    }
}

/// Starts and greets it. The error is a clause.
async fn open(kept: &Kept) -> Result<(Running, Option<Process>), String> {
    let settings = &kept.settings;
    let ear = Ear {
        changed: Arc::clone(&kept.changed),
    };
    match &settings.reach {
        Reach::Child { command, args, env } => {
            let (process, output, input) = child::start(command, args, env)?;
            let transport = AsyncRwTransport::new(output, input).with_max_line_length(http::MOST);
            let why = match timeout(settings.timeout, ear.serve(transport)).await {
                Ok(Ok(running)) => return Ok((running, Some(process))),
                // How it ended says more, whichever side of the pipe broke first.
                Ok(Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. })) => {
                    None
                }
                Ok(Err(error)) => Some(refused(&error)),
                Err(_) => Some(no_answer(settings, "greeting")),
            };
            let why = process.stray().map(|line| not_mcp(&line)).or(why);
            let ended = process.ended().await;
            Err(why.unwrap_or(ended))
        }
        Reach::Http { url, token } => {
            let transport = http::transport(url, token.as_ref())?;
            match timeout(settings.timeout, ear.serve(transport)).await {
                Ok(Ok(running)) => Ok((running, None)),
                Ok(Err(error)) => Err(refused(&error)),
                Err(_) => Err(no_answer(settings, "greeting")),
            }
        }
    }
}

/// Stays with a connected server until it is gone; a clause on why it is.
async fn hold(shared: &Shared, kept: &Kept, running: Running, process: Option<Process>) -> String {
    let link = Link {
        peer: running.peer().clone(),
        broken: Arc::default(),
    };
    // Dropping it cancels the service, and closes the connection.
    let mut gone = Box::pin(running.waiting());
    let mut first = true;
    loop {
        let listed = tokio::select! {
            biased;
            _ = &mut gone => return ended(process).await,
            listed = timeout(kept.settings.timeout, list(&link.peer)) => listed,
        };
        match listed.unwrap_or_else(|_| Err(no_answer(&kept.settings, "question for its tools"))) {
            Ok(tools) => connected(shared, kept, &link, &tools),
            Err(why) if first => {
                drop(gone);
                ended(process).await;
                return why;
            }
            // What it offered before still stands, and so does the connection.
            Err(why) => kept.standing.send_modify(|now| {
                if !now.remarks.contains(&why) {
                    now.remarks.push(why);
                }
            }),
        }
        first = false;
        tokio::select! {
            _ = &mut gone => return ended(process).await,
            () = link.broken.notified() => break,
            // A server that says so all the time is asked but ten times a second.
            () = kept.changed.notified() => sleep(Duration::from_millis(100)).await,
        }
    }
    drop(gone);
    ended(process).await
}

fn connected(shared: &Shared, kept: &Kept, link: &Link, tools: &[Value]) {
    let (tools, remarks) = listed::judge(&kept.settings, tools);
    let name = &kept.settings.name;
    let before = kept.standing.borrow().state;
    if before != ServerState::Connected {
        tracing::info!(server = %name, tools = tools.len(), "a tool server is connected");
    }
    // A server that lists its tools again and again is not heard of again and again.
    if kept.standing.borrow().remarks != remarks {
        for remark in &remarks {
            tracing::warn!(server = %name, "a tool server's list: {remark}");
        }
    }
    // What is offered changes before the state is seen, so that whoever waited for it finds the tools.
    kept.standing.send_if_modified(|now| {
        now.tools = tools.into();
        now.remarks = remarks;
        false
    });
    shared.refresh();
    kept.standing.send_modify(|now| {
        now.state = ServerState::Connected;
        now.error = None;
        now.link = Some(link.clone());
    });
}

async fn ended(process: Option<Process>) -> String {
    match process {
        Some(process) => process.ended().await,
        None => "the connection broke".into(),
    }
}

/// Its tools as they come over the wire, so that a broken one does not cost the others.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Value>, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let answer = peer.send_request(request).await;
        let answer = answer.map_err(|error| format!("it does not list its tools: {}", brief(&error.to_string())))?;
        let answer = serde_json::to_value(&answer).unwrap_or_default();
        let Some(some) = answer["tools"].as_array() else {
            return Err("it answered with something that is no list of tools".into());
        };
        tools.extend(some.iter().cloned());
        cursor = answer["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}

fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => http::failure(error.error.as_ref()).why,
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".into(),
        ClientInitializeError::JsonRpcError(error) => format!("it refused the greeting: {}", brief(&error.message)),
        // Their own words print whole answers.
        _ => "it does not speak MCP as we know it".into(),
    }
}

fn not_mcp(line: &str) -> String {
    format!("it does not speak MCP: it wrote \"{}\"", brief(line))
}

fn no_answer(settings: &Server, to: &str) -> String {
    format!("it gave no answer to our {to} within {} s", settings.timeout.as_secs())
}

/// A server's words, as a part of a sentence of ours.
pub(super) fn brief(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}

/// Jitter: an even fraction from 0 to 1.
fn fraction() -> f64 {
    let [a, b, ..] = uuid::Uuid::new_v4().into_bytes();
    f64::from(u16::from_le_bytes([a, b])) / 65_535.0
}
