//! One call, and what is known of it when no result comes back.

use std::error::Error;

use deskhand_core::port::ToolsError;
use deskhand_core::step::Outcome;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest, RequestId,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{Link, Reach, Server, http, keeper, said};

/// Whoever drops it before it is done gives the call up: its server is told so.
pub(super) async fn call(server: &Server, link: &Link, own_name: String, args: &Value) -> Result<Outcome, ToolsError> {
    let Value::Object(args) = args else {
        return Err(ToolsError::NotCalled {
            why: "its arguments are not an object".into(),
        });
    };
    let params = CallToolRequestParams::new(own_name).with_arguments(args.clone());
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    // On time-out the handle tells the server that nobody waits any more.
    let options = PeerRequestOptions::with_timeout(server.timeout);
    let handle = match link.peer.send_cancellable_request(request, options).await {
        Ok(handle) => handle,
        Err(_) => {
            link.broken.notify_one();
            return Err(ToolsError::NotCalled {
                why: format!("the tool server {} has just gone", server.name),
            });
        }
    };
    let mut waiting = Waiting {
        peer: link.peer.clone(),
        call: handle.id.clone(),
        over: false,
    };
    let answer = handle.await_response().await;
    waiting.over = true;
    match answer {
        Ok(result) => {
            let result = serde_json::to_value(&result).unwrap_or_default();
            said::outcome(&result).ok_or_else(|| unknown("its server answered with something that is no result"))
        }
        Err(ServiceError::McpError(error)) => {
            let text = said::clean(&error.message);
            Ok(Outcome::failed(if text.is_empty() {
                "[an error without words]".into()
            } else {
                text
            }))
        }
        Err(ServiceError::Timeout { timeout }) => Err(unknown(&format!(
            "its server gave no answer within {} s",
            timeout.as_secs()
        ))),
        Err(ServiceError::TransportSend(error)) => Err(not_sent(server, link, error.error.as_ref())),
        Err(ServiceError::TransportClosed) => Err(unknown("its server ended in the middle of the call")),
        Err(error) => Err(unknown(&keeper::brief(&error.to_string()))),
    }
}

/// A call that an answer is waited for. Its server may go on all the same: the protocol lets it
/// (<https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/cancellation>).
struct Waiting {
    peer: Peer<RoleClient>,
    call: RequestId,
    over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Without a runtime the process ends, and the connection with it.
        let (false, Ok(runtime)) = (self.over, Handle::try_current()) else {
            return;
        };
        let why = "the run was stopped or paused";
        let params = CancelledNotificationParam::new(Some(self.call.clone()), Some(why.into()));
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let told = peer.send_notification(CancelledNotification::new(params).into()).await;
            if let Err(error) = told {
                tracing::debug!(%error, "a tool server could not be told that nobody waits any more");
            }
        });
    }
}

fn not_sent(server: &Server, link: &Link, error: &(dyn Error + 'static)) -> ToolsError {
    match &server.reach {
        // A part of it may have been written, and a whole line is a call.
        Reach::Child { .. } => {
            link.broken.notify_one();
            unknown("its server ended in the middle of the call")
        }
        Reach::Http { .. } => {
            let failure = http::failure(error);
            if failure.broken {
                link.broken.notify_one();
            }
            match failure.harmless {
                true => ToolsError::NotCalled {
                    why: format!("the tool server {}: {}", server.name, failure.why),
                },
                false => unknown(&failure.why),
            }
        }
    }
}

fn unknown(why: &str) -> ToolsError {
    ToolsError::Unknown { why: why.into() }
}
