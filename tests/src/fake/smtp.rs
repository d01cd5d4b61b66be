//! A mail server that takes what the bot sends (RFC 5321), and misbehaves on demand. No TLS and no names: the client's
//! library brings both.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use deskhand_adapters::email::{ParsedMail, parse};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Default)]
struct State {
    sent: Vec<Sent>,
    /// What becomes of the next mails, before those that are taken.
    next: VecDeque<Next>,
    connections: usize,
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
}

impl Smtp {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let smtp = Self {
            state: Arc::default(),
            port,
        };
        let served = smtp.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move {
                    served.locked().connections += 1;
                    // A client that hangs up is no failure of the server's.
                    let _ = served.talk(stream).await;
                });
            }
        });
        smtp
    }

    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
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

    async fn talk(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 mail.fake ESMTP\r\n").await?;
        let (mut from, mut to) = (String::new(), Vec::new());
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let address = || {
                let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
                inner.map_or_else(String::new, |(address, _)| address.to_owned())
            };
            let verb = line.trim().to_ascii_uppercase();
            let answer = match verb.as_str() {
                _ if verb.starts_with("EHLO") => "250-mail.fake\r\n250-8BITMIME\r\n250 SIZE 50000000".to_owned(),
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
                            return stream.shutdown().await;
                        }
                        None => {
                            self.locked().sent.push(sent);
                            "250 2.0.0 queued".to_owned()
                        }
                    }
                }
                "QUIT" => {
                    stream.write_all(b"221 2.0.0 bye\r\n").await?;
                    return Ok(());
                }
                "NOOP" | "RSET" => "250 2.0.0 fine".to_owned(),
                _ => "500 5.5.1 not known here".to_owned(),
            };
            stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
    }
}

/// Up to the lone dot; a doubled dot at the start of a line is one.
async fn letter(stream: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
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
