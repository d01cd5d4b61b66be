//! One call, and what is known of it when no result comes back.

use std::error::Error;

use deskhand_core::port::ToolsError;
use deskhand_core::step::Outcome;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;

use super::{Link, Reach, Server, http, keeper, said};

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
    match handle.await_response().await {
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
