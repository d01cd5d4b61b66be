//! A mailbox over IMAP (RFC 3501), read from where it was left; IDLE (RFC 2177) where it is offered.
//!
//! Mails are only looked at and marked as seen, never moved and never removed. What was read how far is the caller's to
//! remember; UIDs mean something only together with the mailbox's UIDVALIDITY.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_imap::{Client, Session};
use futures_util::StreamExt;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// For everything but waiting: a server that is silent for longer is gone.
const PATIENCE: Duration = Duration::from_secs(60);

trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Debug {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Debug> Stream for T {}

/// Why a mailbox could not be read; it is tried again. Shows no name and no password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ImapError {
    pub why: String,
}

impl ImapError {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl From<async_imap::error::Error> for ImapError {
    fn from(error: async_imap::error::Error) -> Self {
        Self::new(format!("the mailbox: {error}"))
    }
}

impl From<tokio::time::error::Elapsed> for ImapError {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self::new("the mail server was silent for too long")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tls {
    FromTheStart,
    Upgraded,
    /// Only to a server on the same host.
    None,
}

/// Where a mailbox is.
#[derive(Clone, Debug)]
pub struct Imap {
    host: String,
    port: u16,
    tls: Tls,
    name: String,
    password: SecretString,
    folder: String,
    house: Vec<CertificateDer<'static>>,
}

impl Imap {
    /// `imaps://name:password@host/INBOX`, or `imap://name:password@host?tls=required` (STARTTLS). The error is the end of
    /// a sentence, and shows nothing of the address.
    pub fn new(url: &str) -> Result<Self, String> {
        let wrong = "is not an address like imaps://name:password@host/INBOX";
        let url: url::Url = url.parse().map_err(|_| wrong.to_owned())?;
        let required = url
            .query_pairs()
            .any(|(name, value)| name == "tls" && value == "required");
        let host = url.host_str().ok_or(wrong)?.trim_matches(['[', ']']).to_owned();
        let near = matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1");
        let tls = match (url.scheme(), required) {
            ("imaps", _) => Tls::FromTheStart,
            ("imap", true) => Tls::Upgraded,
            ("imap", false) if near => Tls::None,
            ("imap", false) => {
                return Err("would send its password in the clear: use imaps://, or add ?tls=required".to_owned());
            }
            _ => return Err(wrong.to_owned()),
        };
        let decoded = |text: &str| percent_decoded(text).ok_or_else(|| wrong.to_owned());
        let (name, password) = (decoded(url.username())?, decoded(url.password().unwrap_or_default())?);
        if name.is_empty() || password.is_empty() {
            return Err(wrong.to_owned());
        }
        let folder = match decoded(url.path().trim_matches('/'))? {
            folder if folder.is_empty() => "INBOX".to_owned(),
            folder => folder,
        };
        Ok(Self {
            port: url.port().unwrap_or(if tls == Tls::FromTheStart { 993 } else { 143 }),
            host,
            tls,
            name,
            password: password.into(),
            folder,
            house: Vec::new(),
        })
    }

    /// Believes these certificates as well.
    #[must_use]
    pub fn trusting(mut self, house: Vec<CertificateDer<'static>>) -> Self {
        self.house = house;
        self
    }

    /// What it is remembered by: without the password, which may change.
    pub fn key(&self) -> String {
        format!("{}@{}:{}/{}", self.name, self.host, self.port, self.folder)
    }

    /// Signs in and opens the mailbox.
    pub async fn open(&self) -> Result<Mailbox, ImapError> {
        timeout(PATIENCE, self.opened()).await?
    }

    async fn opened(&self) -> Result<Mailbox, ImapError> {
        let place = format!("{}:{}", self.host, self.port);
        let tcp = TcpStream::connect(&place)
            .await
            .map_err(|error| ImapError::new(format!("{place} cannot be reached: {error}")))?;
        let stream: Box<dyn Stream> = match self.tls {
            Tls::None => Box::new(tcp),
            Tls::FromTheStart => Box::new(self.secured(tcp).await?),
            Tls::Upgraded => {
                let mut client = Client::new(tcp);
                greeted(&mut client).await?;
                client.run_command_and_check_ok("STARTTLS", None).await?;
                Box::new(self.secured(client.into_inner()).await?)
            }
        };
        let mut client = Client::new(stream);
        if self.tls != Tls::Upgraded {
            greeted(&mut client).await?;
        }
        let mut session = client
            .login(&self.name, self.password.expose_secret())
            .await
            .map_err(|(error, _)| ImapError::new(format!("{place} refused the name or the password: {error}")))?;
        let idles = session.capabilities().await?.has_str("IDLE");
        let chosen = session.select(&self.folder).await?;
        Ok(Mailbox {
            validity: chosen.uid_validity.unwrap_or_default(),
            session: Some(session),
            idles,
        })
    }

    async fn secured(&self, tcp: TcpStream) -> Result<tokio_rustls::client::TlsStream<TcpStream>, ImapError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots.add_parsable_certificates(self.house.iter().cloned());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ImapError::new(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(self.host.clone()).map_err(|error| ImapError::new(error.to_string()))?;
        let secured = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        secured.map_err(|error| ImapError::new(format!("{} has no TLS that can be trusted: {error}", self.host)))
    }
}

async fn greeted<T: Stream>(client: &mut Client<T>) -> Result<(), ImapError> {
    match client.read_response().await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(ImapError::new("the mail server hung up")),
        Err(error) => Err(ImapError::new(format!("the mail server did not greet: {error}"))),
    }
}

/// An open mailbox.
pub struct Mailbox {
    pub validity: u32,
    /// Taken only while it idles; a failure there ends the mailbox.
    session: Option<Session<Box<dyn Stream>>>,
    idles: bool,
}

/// Which mails are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that nobody has seen: at the very first start, so that an old mailbox does not become a flood.
    Unseen,
    /// Those that nobody has seen, and all of the last week: where the numbers lost their meaning.
    Recent,
    /// Those behind a UID.
    After(u32),
}

impl Mailbox {
    fn session(&mut self) -> Result<&mut Session<Box<dyn Stream>>, ImapError> {
        self.session
            .as_mut()
            .ok_or_else(|| ImapError::new("the connection is gone"))
    }

    /// The UIDs of mails, ascending.
    pub async fn uids(&mut self, which: Which, today: chrono::NaiveDate) -> Result<Vec<u32>, ImapError> {
        let query = match which {
            Which::Unseen => "UNSEEN".to_owned(),
            Which::Recent => {
                let since = today - chrono::Duration::days(7);
                format!("OR UNSEEN SINCE {}", since.format("%-d-%b-%Y"))
            }
            Which::After(uid) => format!("UID {}:*", u64::from(uid) + 1),
        };
        let found = timeout(PATIENCE, self.session()?.uid_search(query)).await??;
        // "5:*" means the last mail, too, where there is none behind it.
        let least = match which {
            Which::After(uid) => uid,
            Which::Unseen | Which::Recent => 0,
        };
        let mut uids: Vec<u32> = found.into_iter().filter(|uid| *uid > least).collect();
        uids.sort_unstable();
        Ok(uids)
    }

    /// The highest UID given so far.
    pub async fn newest(&mut self) -> Result<u32, ImapError> {
        let found = timeout(PATIENCE, self.session()?.uid_search("UID *")).await??;
        Ok(found.into_iter().max().unwrap_or_default())
    }

    /// The bytes of a mail; `None` when it is gone, or larger than `most`.
    pub async fn fetch(&mut self, uid: u32, most: u32) -> Result<Fetched, ImapError> {
        let sized = self.fetched(uid, "(UID RFC822.SIZE)").await?;
        let Some(size) = sized.as_ref().and_then(|found| found.size) else {
            return Ok(Fetched::Gone);
        };
        if size > most {
            return Ok(Fetched::TooLarge(size));
        }
        let found = self.fetched(uid, "(UID BODY.PEEK[])").await?;
        let body = found.as_ref().and_then(|found| found.body());
        Ok(body.map_or(Fetched::Gone, |body| Fetched::Mail(body.to_vec())))
    }

    async fn fetched(&mut self, uid: u32, what: &str) -> Result<Option<async_imap::types::Fetch>, ImapError> {
        let all = async {
            let mut stream = self.session()?.uid_fetch(uid.to_string(), what).await?;
            let mut found = None;
            // Read to its end, so that the next answer is not taken for this one's.
            while let Some(answer) = stream.next().await {
                let answer = answer?;
                if answer.uid == Some(uid) {
                    found = Some(answer);
                }
            }
            Ok(found)
        };
        // A mail of many megabytes takes its time.
        timeout(PATIENCE * 5, all).await?
    }

    /// Marks a mail as seen, for people who look into the mailbox.
    pub async fn mark_seen(&mut self, uid: u32) -> Result<(), ImapError> {
        let all = async {
            let mut stream = self
                .session()?
                .uid_store(uid.to_string(), "+FLAGS.SILENT (\\Seen)")
                .await?;
            while let Some(answer) = stream.next().await {
                answer?;
            }
            Ok(())
        };
        timeout(PATIENCE, all).await?
    }

    /// Whether the server tells by itself that something happened.
    pub fn idles(&self) -> bool {
        self.idles
    }

    /// Waits until something happens, or for `most`.
    pub async fn wait(&mut self, most: Duration) -> Result<(), ImapError> {
        if !self.idles {
            tokio::time::sleep(most).await;
            timeout(PATIENCE, self.session()?.noop()).await??;
            return Ok(());
        }
        let session = self
            .session
            .take()
            .ok_or_else(|| ImapError::new("the connection is gone"))?;
        let mut idle = session.idle();
        timeout(PATIENCE, idle.init()).await??;
        {
            let (happens, _stop) = idle.wait_with_timeout(most);
            happens.await?;
        }
        self.session = Some(timeout(PATIENCE, idle.done()).await??);
        Ok(())
    }

    pub async fn close(mut self) {
        if let Some(mut session) = self.session.take() {
            // A server that does not say goodbye has lost nothing.
            let _ = timeout(Duration::from_secs(2), session.logout()).await;
        }
    }
}

/// What a look for a mail brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    Mail(Vec<u8>),
    /// Its size in bytes.
    TooLarge(u32),
    /// Removed or moved by somebody meanwhile.
    Gone,
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let hex = std::str::from_utf8(&digits).ok()?;
        out.push(u8::from_str_radix(hex, 16).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_server_mailbox_and_kind_of_tls() {
        let at = Imap::new("imaps://care%40lamps.example:p%2Fw@mail.example/Support/New").expect("it is right");
        assert_eq!(at.key(), "care@lamps.example@mail.example:993/Support/New");
        assert_eq!((at.tls, at.password.expose_secret()), (Tls::FromTheStart, "p/w"));
        let at = Imap::new("imap://care:x@mail.example?tls=required").expect("it is right");
        assert_eq!((at.port, at.tls, at.folder.as_str()), (143, Tls::Upgraded, "INBOX"));
        let refused = |url: &str| Imap::new(url).err().unwrap_or_default();
        assert!(refused("imap://care:geheim@mail.example").contains("in the clear"));
        for wrong in [
            "geheim",
            "imaps://mail.example",
            "http://care:geheim@mail.example",
            "imaps://care@mail.example",
        ] {
            assert!(
                refused(wrong).starts_with("is not an address") && !refused(wrong).contains("geheim"),
                "{wrong}"
            );
        }
    }
}
