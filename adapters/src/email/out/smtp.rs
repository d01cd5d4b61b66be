//! SMTP (RFC 5321), with TLS from the start, STARTTLS, or in the clear to a server on the same host; connections are kept.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::port::{PortError, Receipt};
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::{Error, PoolConfig};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use rustls::pki_types::CertificateDer;

use super::{Letter, Post};

pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    /// Host and port, for people.
    place: String,
    /// For one mail, from connecting to the server's last word.
    whole: Duration,
}

impl Smtp {
    /// `smtps://name:password@host`, `smtp://name:password@host:587?tls=required` (STARTTLS), or `smtp://localhost:25`.
    /// The error is the end of a sentence, and shows nothing of the address: a password stands in it.
    /// `house`: certificates that are believed beside the system's.
    pub fn new(url: &str, timeout: Duration, house: &[CertificateDer<'static>]) -> Result<Self, String> {
        let wrong = "is not an address like smtps://name:password@host or smtp://name:password@host:587?tls=required";
        let parsed: url::Url = url.parse().map_err(|_| wrong.to_owned())?;
        if !matches!(parsed.scheme(), "smtp" | "smtps") {
            return Err(wrong.to_owned());
        }
        let host = parsed.host_str().ok_or(wrong)?;
        let asked = parsed.query_pairs().find(|(name, _)| name == "tls").map(|(_, how)| how);
        // "opportunistic" would be content with a server, or somebody before it, that leaves STARTTLS out.
        let open = parsed.scheme() == "smtp" && asked.as_deref() != Some("required");
        let near = matches!(host, "localhost" | "127.0.0.1" | "[::1]") || !host.contains('.');
        if open && parsed.password().is_some() && !near {
            return Err("would send its password in the clear: use smtps://, or add ?tls=required".to_owned());
        }
        let tls = || {
            let mut parameters = TlsParameters::builder(host.trim_matches(['[', ']']).to_owned());
            for certificate in house {
                let certificate = Certificate::from_der(certificate.to_vec()).map_err(|error| error.to_string())?;
                parameters = parameters.add_root_certificate(certificate);
            }
            parameters.build_rustls().map_err(|error| error.to_string())
        };
        let tls = match (parsed.scheme(), asked.as_deref()) {
            ("smtps", _) => Tls::Wrapper(tls()?),
            (_, Some("required")) => Tls::Required(tls()?),
            (_, Some("opportunistic")) => Tls::Opportunistic(tls()?),
            (_, None) => Tls::None,
            (_, Some(_)) => return Err(wrong.to_owned()),
        };
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| wrong.to_owned())?
            .tls(tls)
            .timeout(Some(timeout))
            .pool_config(PoolConfig::new().max_size(4).idle_timeout(Duration::from_secs(60)))
            .build();
        let port = parsed.port().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self {
            transport,
            place: format!("{host}{port}"),
            whole: timeout * 3,
        })
    }
}

#[async_trait]
impl Post for Smtp {
    async fn send(&self, letter: &Letter) -> Result<Receipt, PortError> {
        let mail = letter.mime()?;
        // The library's time limit holds for connecting alone.
        match tokio::time::timeout(self.whole, self.transport.send(mail)).await {
            Ok(Ok(_)) => Ok(Receipt {
                remote_id: letter.message_id.clone(),
                remark: None,
            }),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(unknown("the mail server was silent for too long")),
        }
    }

    async fn check(&self) -> Result<String, PortError> {
        let answer = tokio::time::timeout(self.whole, self.transport.test_connection()).await;
        let Ok(answer) = answer else {
            return Err(PortError::transient(format!("{} is silent", self.place)));
        };
        match answer {
            Ok(true) => Ok(format!("mail goes out by {}", self.place)),
            Ok(false) => Err(PortError::transient(format!(
                "{} does not answer as a mail server",
                self.place
            ))),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// A refusal is a fact, whichever step it answers. A connection that was never made has carried nothing. Anything else
/// broke in the middle: the server may have taken the mail and its answer was lost.
fn failed(error: &Error) -> PortError {
    let why = sentence(error);
    if error.is_permanent() {
        return PortError::Permanent { why };
    }
    if error.is_transient() {
        return PortError::transient(why);
    }
    // The library tells the failure to connect only by its words.
    let connecting = error.to_string().starts_with("Connection error");
    let never_sent = connecting || error.is_client() || error.is_tls() || error.is_transport_shutdown();
    if never_sent {
        return PortError::transient(why);
    }
    unknown(&why)
}

fn unknown(why: &str) -> PortError {
    PortError::Ambiguous {
        why: format!("{why}; over SMTP nobody can ask whether the mail was taken, so it is not sent again by itself"),
    }
}

/// One clause, in the server's own words where it said some.
fn sentence(error: &Error) -> String {
    let mut shown = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !shown.contains(&inner_text) {
            shown.push_str(&format!(": {inner_text}"));
        }
        source = inner.source();
    }
    let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = shown.chars().take(300).collect();
    match error.status() {
        Some(code) => format!("the mail server said {code} ({cut})"),
        None if cut.contains("STARTTLS is not supported") => {
            "the mail server does not offer TLS (STARTTLS), without which it is sent nothing".to_owned()
        }
        None if cut.contains("invalid peer certificate") => format!(
            "the mail server's certificate is not believed ({cut}): where the house signs its own, MAIL_CA_FILE names them"
        ),
        None => format!("the mail server could not be talked to ({cut})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_judged_without_being_shown() {
        let time = Duration::from_secs(1);
        let refused = |url: &str| Smtp::new(url, time, &[]).err().unwrap_or_default();
        assert!(refused("secret").starts_with("is not an address"));
        assert!(!refused("http://n:geheim@mail.example").contains("geheim"));
        for open in ["", "?tls=opportunistic", "?tls=none"] {
            assert!(
                refused(&format!("smtp://n:geheim@mail.example:587{open}")).contains("in the clear"),
                "{open}"
            );
        }
        assert!(refused("smtp://mail.example?tls=perhaps").starts_with("is not an address"));
    }
}
