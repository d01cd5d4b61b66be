//! A tool server at an HTTP address, and what its errors say about whether a call reached it.

use std::error::Error;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    HttpStatusError, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// Bytes of one answer.
pub(super) const MOST: usize = 4 * 1024 * 1024;

pub(super) type Transport = StreamableHttpClientTransport<reqwest::Client>;

/// Nothing is sent yet.
pub(super) fn transport(url: &Url, token: Option<&SecretString>) -> Result<Transport, String> {
    let client = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        // A redirect would take the token and the arguments to where nobody sent them.
        .redirect(reqwest::redirect::Policy::none())
        // The protocol leaves bodies half read, and a connection with one is slow to be used again.
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| format!("HTTP cannot be set up: {error}"))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .max_json_response_size(MOST)
        .max_sse_event_size(MOST);
    if let Some(token) = token {
        config = config.auth_header(token.expose_secret());
    }
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

const NOT_MCP: &str = "it answered with something that is not MCP";
const NO_TOKEN: &str = "it wants a token, or does not take this one (HTTP 401)";

/// What a failed request says.
pub(super) struct Failure {
    /// The server surely did nothing.
    pub(super) harmless: bool,
    /// There is nobody at the other end any more.
    pub(super) broken: bool,
    /// A clause.
    pub(super) why: String,
}

/// Reads an error of the transport. Its own words are not shown where they may hold the address with what is in it.
pub(super) fn failure(error: &(dyn Error + 'static)) -> Failure {
    let mut harmless = false;
    let mut broken = true;
    let mut why = None;
    let mut next = Some(error);
    let mut last = String::new();
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            harmless |= error.is_connect();
        }
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // Transparent, so it never stands in the chain by itself.
            Some(StreamableHttpError::HttpStatus(HttpStatusError { status, .. })) => {
                broken = false;
                harmless = *status == 429;
                why = Some(format!("it answered HTTP {status}"));
            }
            Some(StreamableHttpError::AuthRequired(_)) => {
                harmless = true;
                why = Some(NO_TOKEN.into());
            }
            Some(StreamableHttpError::InsufficientScope(_)) => {
                harmless = true;
                why = Some("its token does not reach far enough (HTTP 403)".into());
            }
            Some(StreamableHttpError::SessionExpired) => harmless = true,
            Some(StreamableHttpError::UnexpectedServerResponse(text)) => match refusal(text) {
                Some(status) => {
                    broken = false;
                    // It read the request and would not have it.
                    harmless = (400..500).contains(&status) && status != 408;
                    why = Some(match status {
                        401 => NO_TOKEN.into(),
                        _ => format!("it answered HTTP {status}"),
                    });
                }
                None => why = Some(NOT_MCP.into()),
            },
            Some(StreamableHttpError::Deserialize(_) | StreamableHttpError::UnexpectedContentType(_)) => {
                why = Some(NOT_MCP.into());
            }
            Some(StreamableHttpError::ResponseBodyTooLarge { .. }) => {
                broken = false;
                why = Some("its answer was too long".into());
            }
            Some(_) | None => {}
        }
        last = error.to_string();
        next = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // The library does not name it as the source of its own.
            Some(StreamableHttpError::Client(error)) => Some(error),
            Some(_) | None => error.source(),
        };
    }
    // The innermost cause is the system's: "Connection refused".
    let why = why.unwrap_or_else(|| match harmless {
        true => format!("it cannot be reached: {last}"),
        false => format!("the connection broke: {last}"),
    });
    Failure { harmless, broken, why }
}

/// The status in the library's words `HTTP 404 Not Found: …`, which has no field for it.
fn refusal(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Failed = StreamableHttpError<reqwest::Error>;

    /// Harmless, broken, why.
    fn read(error: Failed) -> (bool, bool, String) {
        let failure = failure(&error);
        (failure.harmless, failure.broken, failure.why)
    }

    #[test]
    fn a_refused_request_did_nothing_and_a_failed_one_may_have() {
        let refused = Failed::UnexpectedServerResponse("HTTP 404 Not Found: <html>".into());
        assert_eq!(read(refused), (true, false, "it answered HTTP 404".into()));
        let unsigned = Failed::UnexpectedServerResponse("HTTP 401 Unauthorized: ".into());
        assert_eq!(read(unsigned), (true, false, NO_TOKEN.into()));
        let failed = Failed::HttpStatus(HttpStatusError::new(503, None));
        assert_eq!(read(failed), (false, false, "it answered HTTP 503".into()));
        let later = Failed::HttpStatus(HttpStatusError::new(429, None));
        assert_eq!(read(later), (true, false, "it answered HTTP 429".into()));
    }

    #[test]
    fn garbage_leaves_open_what_was_done() {
        let garbage = Failed::UnexpectedServerResponse("failed to parse".into());
        assert_eq!(read(garbage), (false, true, NOT_MCP.into()));
        let cut = Failed::UnexpectedEndOfStream;
        assert_eq!(
            read(cut),
            (false, true, "the connection broke: unexpected end of stream".into())
        );
    }
}
