//! A mail server that takes what the bot sends (RFC 5321), and misbehaves on demand. A guarded one has a certificate of its
//! own making, and takes mail only over TLS from who gave a name and a password (RFC 3207, RFC 4954).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deskhand_adapters::email::{ParsedMail, parse};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

trait Line: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Line for T {}

type Stream = BufReader<Box<dyn Line>>;

/// Who may send through a guarded server.
pub const NAME: &str = "care@lamps.example";
pub const PASSWORD: &str = "geheim/1";

/// How a guarded server comes to TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// From the first byte.
    Wrapped,
    Starttls,
    /// It should, and somebody on the way leaves it out of what the server offers.
    Stripped,
}

#[derive(Clone)]
struct Guarded {
    guard: Guard,
    /// `PLAIN` or `LOGIN`.
    mechanism: &'static str,
    acceptor: TlsAcceptor,
    certificate: String,
}

#[derive(Default)]
struct State {
    sent: Vec<Sent>,
    /// What becomes of the next mails, before those that are taken.
    next: VecDeque<Next>,
    connections: usize,
    /// The verbs that were heard, in order.
    heard: Vec<String>,
}

enum Next {
    Refused(String),
    /// The mail is kept, and the connection breaks before the answer.
    TakenSilently,
}

/// A mail that the server took.
#[derive(Clone)]
pub struct Sent {
    pub from: String,
    pub to: Vec<String>,
    pub mail: ParsedMail,
}

#[derive(Clone)]
pub struct Smtp {
    state: Arc<Mutex<State>>,
    port: u16,
    guarded: Option<Guarded>,
}

impl Smtp {
    pub async fn start() -> Self {
        Self::started(None).await
    }

    /// A guarded server, known as `localhost` to its certificate, that knows one mechanism of signing in.
    pub async fn guarded(guard: Guard, mechanism: &'static str) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate can be made");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions that ring knows")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("certificate and key belong together");
        Self::started(Some(Guarded {
            guard,
            mechanism,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            certificate: made.cert.pem(),
        }))
        .await
    }

    async fn started(guarded: Option<Guarded>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let smtp = Self {
            state: Arc::default(),
            port,
            guarded,
        };
        let served = smtp.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move {
                    served.locked().connections += 1;
                    // A client that hangs up is no failure of the server's.
                    let _ = served.serve(stream).await;
                });
            }
        });
        smtp
    }

    pub fn url(&self) -> String {
        match self.guarded.as_ref().map(|guarded| guarded.guard) {
            None => format!("smtp://127.0.0.1:{}", self.port),
            Some(guard) => self.url_for(guard, PASSWORD),
        }
    }

    /// As somebody would set it who takes the server for this one and knows this password.
    pub fn url_for(&self, guard: Guard, password: &str) -> String {
        let (scheme, query) = match guard {
            Guard::Wrapped => ("smtps", ""),
            Guard::Starttls | Guard::Stripped => ("smtp", "?tls=required"),
        };
        let signed = format!("{}:{}", NAME.replace('@', "%40"), password.replace('/', "%2F"));
        format!("{scheme}://{signed}@localhost:{}{query}", self.port)
    }

    /// A guarded server's certificate, in PEM.
    pub fn certificate(&self) -> &str {
        self.guarded.as_ref().map_or("", |guarded| &guarded.certificate)
    }

    /// The verbs that were heard, in order.
    pub fn heard(&self) -> Vec<String> {
        self.locked().heard.clone()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no holder panicked")
    }

    /// The next mail is refused with this answer: `450 4.2.0 try later`.
    pub fn refuses_next(&self, answer: &str) {
        self.locked().next.push_back(Next::Refused(answer.to_owned()));
    }

    /// The next mail is taken, and the connection breaks before the server says so.
    pub fn takes_next_silently(&self) {
        self.locked().next.push_back(Next::TakenSilently);
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.locked().sent.clone()
    }

    pub fn connections(&self) -> usize {
        self.locked().connections
    }

    /// The one mail that went out.
    pub fn only(&self) -> Sent {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "mails that went out");
        sent.into_iter().next().expect("there is one")
    }

    async fn serve(&self, stream: tokio::net::TcpStream) -> std::io::Result<()> {
        let Some(guarded) = &self.guarded else {
            self.talk(BufReader::new(Box::new(stream)), true).await?;
            return Ok(());
        };
        if guarded.guard == Guard::Wrapped {
            let secured = guarded.acceptor.accept(stream).await?;
            self.talk(BufReader::new(Box::new(secured)), true).await?;
            return Ok(());
        }
        let upgraded = self.talk(BufReader::new(Box::new(stream)), false).await?;
        if let Some(plain) = upgraded {
            let secured = guarded.acceptor.accept(plain.into_inner()).await?;
            self.hear(BufReader::new(Box::new(secured)), true).await?;
        }
        Ok(())
    }

    async fn talk(&self, mut stream: Stream, secured: bool) -> std::io::Result<Option<Stream>> {
        stream.write_all(b"220 mail.fake ESMTP\r\n").await?;
        stream.flush().await?;
        self.hear(stream, secured).await
    }

    fn greeting(&self, secured: bool) -> String {
        let offers = match &self.guarded {
            None => String::new(),
            Some(guarded) if secured => format!("250-AUTH {}\r\n", guarded.mechanism),
            Some(guarded) if guarded.guard == Guard::Starttls => "250-STARTTLS\r\n".to_owned(),
            Some(_) => String::new(),
        };
        format!("250-mail.fake\r\n250-8BITMIME\r\n{offers}250 SIZE 50000000")
    }

    /// The connection, where it is to become a TLS one.
    async fn hear(&self, mut stream: Stream, secured: bool) -> std::io::Result<Option<Stream>> {
        let (mut from, mut to) = (String::new(), Vec::new());
        let mut known = self.guarded.is_none();
        loop {
            let Some(line) = line(&mut stream).await? else {
                return Ok(None);
            };
            let address = || {
                let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
                inner.map_or_else(String::new, |(address, _)| address.to_owned())
            };
            let verb = line.trim().to_ascii_uppercase();
            let word = verb.split([' ', ':']).next().unwrap_or_default().to_owned();
            self.locked().heard.push(word);
            let answer = match verb.as_str() {
                _ if verb.starts_with("EHLO") => self.greeting(secured),
                "STARTTLS" if !secured => {
                    stream.write_all(b"220 2.0.0 go ahead\r\n").await?;
                    return Ok(Some(stream));
                }
                _ if verb.starts_with("AUTH ") && secured => {
                    known = self.signs_in(&mut stream, line.trim()).await?;
                    let answer = if known {
                        "235 2.7.0 welcome"
                    } else {
                        "535 5.7.8 name or password is wrong"
                    };
                    answer.to_owned()
                }
                _ if verb.starts_with("MAIL FROM:") && !known => "530 5.7.0 sign in first".to_owned(),
                _ if verb.starts_with("MAIL FROM:") => {
                    (from, to) = (address(), Vec::new());
                    "250 2.1.0 fine".to_owned()
                }
                _ if verb.starts_with("RCPT TO:") => {
                    to.push(address());
                    "250 2.1.5 fine".to_owned()
                }
                "DATA" => {
                    stream.write_all(b"354 go on\r\n").await?;
                    stream.flush().await?;
                    let body = letter(&mut stream).await?;
                    let sent = Sent {
                        from: from.clone(),
                        to: to.clone(),
                        mail: parse(&body),
                    };
                    let next = self.locked().next.pop_front();
                    match next {
                        Some(Next::Refused(answer)) => answer,
                        Some(Next::TakenSilently) => {
                            self.locked().sent.push(sent);
                            stream.shutdown().await?;
                            return Ok(None);
                        }
                        None => {
                            self.locked().sent.push(sent);
                            "250 2.0.0 queued".to_owned()
                        }
                    }
                }
                "QUIT" => {
                    stream.write_all(b"221 2.0.0 bye\r\n").await?;
                    stream.flush().await?;
                    return Ok(None);
                }
                "NOOP" | "RSET" => "250 2.0.0 fine".to_owned(),
                _ => "500 5.5.1 not known here".to_owned(),
            };
            stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
            stream.flush().await?;
        }
    }

    /// One of the two ways in which people sign in; the other one is not known here.
    async fn signs_in(&self, stream: &mut Stream, command: &str) -> std::io::Result<bool> {
        let mechanism = self.guarded.as_ref().map_or("", |guarded| guarded.mechanism);
        let mut words = command.split(' ').skip(1);
        if words.next() != Some(mechanism) {
            return Ok(false);
        }
        let first = words.next().map(str::to_owned);
        if mechanism == "PLAIN" {
            let given = match first {
                Some(given) => given,
                None => asked(stream, "").await?,
            };
            return Ok(decoded(&given) == format!("\0{NAME}\0{PASSWORD}"));
        }
        let name = match first {
            Some(given) => given,
            None => asked(stream, "Username:").await?,
        };
        let password = asked(stream, "Password:").await?;
        Ok(decoded(&name) == NAME && decoded(&password) == PASSWORD)
    }
}

async fn asked(stream: &mut Stream, question: &str) -> std::io::Result<String> {
    let question = format!("334 {}\r\n", BASE64_STANDARD.encode(question));
    stream.write_all(question.as_bytes()).await?;
    stream.flush().await?;
    let said = line(stream).await?;
    Ok(said.unwrap_or_default().trim().to_owned())
}

fn decoded(text: &str) -> String {
    String::from_utf8(BASE64_STANDARD.decode(text).unwrap_or_default()).unwrap_or_default()
}

async fn line(stream: &mut Stream) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    Ok((stream.read_line(&mut line).await? > 0).then_some(line))
}

/// Up to the lone dot; a doubled dot at the start of a line is one.
async fn letter(stream: &mut Stream) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = Vec::new();
        if stream.read_until(b'\n', &mut line).await? == 0 {
            // A client that hangs up in the middle has sent nothing; whatever else comes is read and dropped.
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await?;
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        match line.as_slice() {
            b".\r\n" => return Ok(body),
            [b'.', rest @ ..] => body.extend_from_slice(rest),
            whole => body.extend_from_slice(whole),
        }
    }
}
