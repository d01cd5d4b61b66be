//! What a file says, where it is text. The bot's token goes to Slack's own hosts and nowhere else, whatever address a message
//! names.

use std::time::Duration;

use deskhand_core::port::PortError;
use encoding_rs::UTF_8;
use futures_util::StreamExt;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{Settings, SlackChat};

/// Where Slack keeps files.
const HOST: &str = "files.slack.com";
/// More of a file is not read.
const MOST: usize = 256 * 1024;

pub(super) struct Files {
    client: reqwest::Client,
    token: SecretString,
    /// The API's own address: a workspace elsewhere keeps its files there.
    api: Option<Url>,
    time_limit: Duration,
}

impl Files {
    pub(super) fn new(settings: &Settings) -> Self {
        let client = reqwest::Client::builder()
            // Slack leads whoever may not read a file to a page for signing in; the token stays here.
            .redirect(reqwest::redirect::Policy::none())
            .timeout(settings.time_limit)
            .build();
        Self {
            client: client.unwrap_or_default(),
            token: settings.bot_token.clone(),
            api: settings.api_url.parse().ok(),
            time_limit: settings.time_limit,
        }
    }

    fn is_slacks(&self, url: &Url) -> bool {
        let files = url.scheme() == "https" && url.host_str() == Some(HOST) && url.port_or_known_default() == Some(443);
        let api = self.api.as_ref().is_some_and(|api| {
            api.host_str() != Some("slack.com") && api.origin() == url.origin() && url.origin().is_tuple()
        });
        (files || api) && url.username().is_empty() && url.password().is_none()
    }
}

impl SlackChat {
    /// A file's text, as far as it is read: 256 kB at most.
    pub async fn file(&self, url: &str) -> Result<String, PortError> {
        let files = &self.files;
        let url = Url::parse(url).ok().filter(|url| files.is_slacks(url));
        let Some(url) = url else {
            return Err(PortError::permanent(
                "Slack: the file is not kept at Slack, so it is not read",
            ));
        };
        let lost = |_| PortError::transient("Slack: the file could not be read: the connection broke");
        let asked = files.client.get(url).bearer_auth(files.token.expose_secret());
        let response = asked.timeout(files.time_limit).send().await.map_err(lost)?;
        let page = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let page = page.is_some_and(|kind| kind.starts_with("text/html"));
        match response.status() {
            StatusCode::OK if !page => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                return Err(PortError::Gone {
                    why: "Slack: the file is gone".into(),
                });
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(PortError::transient("Slack: the file could not be read just now"));
            }
            _ => {
                return Err(PortError::permanent(
                    "Slack: the file may not be read: the app needs the scope files:read and must be in the channel",
                ));
            }
        }
        let mut bytes = Vec::new();
        let mut stream = response.bytes_stream();
        while let Some(part) = stream.next().await {
            bytes.extend_from_slice(&part.map_err(lost)?);
            if bytes.len() >= MOST {
                bytes.truncate(MOST);
                return Ok(format!("{}\n[… the rest was not read]", decoded(&bytes)));
            }
        }
        Ok(decoded(&bytes))
    }
}

/// By what the bytes look like, since Slack does not tell a file's charset.
fn decoded(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    // Cut within a character, it is still UTF-8.
    if let Err(cut) = std::str::from_utf8(bytes)
        && cut.error_len().is_none()
    {
        return UTF_8.decode(bytes).0.into_owned();
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector
        .guess(None, chardetng::Utf8Detection::Allow)
        .decode(bytes)
        .0
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(api: &str) -> Files {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut settings = Settings::new("xoxb-1".to_owned().into());
        api.clone_into(&mut settings.api_url);
        Files::new(&settings)
    }

    #[test]
    fn the_token_goes_to_slack_alone() {
        let slack = files("https://slack.com/api");
        let may = |files: &Files, url: &str| files.is_slacks(&url.parse().expect("an address"));
        assert!(may(&slack, "https://files.slack.com/files-pri/T1-F1/x.txt"));
        for other in [
            "http://files.slack.com/x.txt",
            "https://files.slack.com.example.com/x.txt",
            "https://files.slack.com:8443/x.txt",
            "https://files.slack.com@example.com/x.txt",
            "https://u:p@files.slack.com/x.txt",
            "https://slack.com/x.txt",
            "https://example.com/x.txt",
            "file:///etc/passwd",
        ] {
            assert!(!may(&slack, other), "{other}");
        }
        let fake = files("http://127.0.0.1:4242/api");
        assert!(may(&fake, "http://127.0.0.1:4242/files/x.txt"));
        assert!(!may(&fake, "http://127.0.0.1:4243/files/x.txt"));
    }

    #[test]
    fn words_are_read_in_whatever_charset_they_are() {
        assert_eq!(decoded("Füße".as_bytes()), "Füße");
        assert_eq!(decoded(&"Füße".as_bytes()[.."Fü".len() - 1]), "F\u{fffd}");
        assert_eq!(decoded(b"F\xfc\xdfe und M\xf6bel"), "Füße und Möbel");
    }
}
