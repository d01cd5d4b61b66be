//! The gateway: a websocket that greets, lets a bot identify or resume, and tells it what happens in the server.
//!
//! What is told has a number within the session, and is told again to whoever resumes. As with Discord, what happens while
//! there is no session is told to nobody.

use std::sync::{Arc, Weak};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_util::task::AbortOnDropHandle;

use super::state::{self, Place};
use super::{APPLICATION, BOT_TOKEN, Discord, GUILD, Guild, Inner};

const GUILD_MESSAGES: u64 = 1 << 9;
const MESSAGE_CONTENT: u64 = 1 << 15;
/// All that there are, from docs.discord.com.
const INTENTS: u64 = ((1 << 17) - 1) | (0b11 << 20) | (0b11 << 24);

/// How far the newest session was told: its id, which is empty where there is none, and the number of what came last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub session: String,
    pub seq: u64,
}

pub(crate) struct Gateway {
    pub(super) url: String,
    session: Option<Session>,
    /// To the bot that listens now.
    line: Option<mpsc::UnboundedSender<Out>>,
    told: watch::Sender<Told>,
    beat_every: u64,
    /// Nothing comes back any more, though the connection stands.
    silent: bool,
    /// The developer portal lets the bot read what people write.
    pub(super) content: bool,
    /// New sessions that are still allowed.
    pub(super) left: u64,
    refuse_resumes: bool,
    /// New sessions, those taken up again, and connections that were made.
    counts: watch::Sender<Counts>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    identified: usize,
    resumed: usize,
    connected: usize,
}

struct Session {
    id: String,
    intents: u64,
    log: Vec<Value>,
}

enum Out {
    Say(Value),
    Close(u16),
    Break,
}

impl Gateway {
    pub(super) fn new() -> Self {
        Self {
            url: String::new(),
            session: None,
            line: None,
            told: watch::Sender::default(),
            beat_every: 41_250,
            silent: false,
            content: true,
            left: 1000,
            refuse_resumes: false,
            counts: watch::Sender::default(),
        }
    }

    /// Something happens, and whoever has a session is told of it, now or when they resume.
    pub(super) fn happens(&mut self, kind: &str, data: Value) {
        let Some(session) = &mut self.session else { return };
        let seq = session.log.len() as u64 + 1;
        let frame = json!({ "op": 0, "t": kind, "s": seq, "d": data });
        session.log.push(frame.clone());
        self.told.send_replace(Told {
            session: session.id.clone(),
            seq,
        });
        if let Some(line) = &self.line {
            let _ = line.send(Out::Say(frame));
        }
    }

    /// A message was written or changed. Without the privilege, what it says comes only where it is the bot's own or
    /// mentions the bot.
    pub(super) fn message(&mut self, kind: &str, mut drawn: Value) {
        let Some(session) = &self.session else { return };
        if session.intents & GUILD_MESSAGES == 0 {
            return;
        }
        let ours = drawn["author"]["id"] == APPLICATION;
        let mentioned = drawn["mentions"]
            .as_array()
            .is_some_and(|all| all.iter().any(|user| user["id"] == APPLICATION));
        if session.intents & MESSAGE_CONTENT == 0 && !ours && !mentioned {
            drawn["content"] = "".into();
            for part in ["embeds", "attachments", "components"] {
                drawn[part] = json!([]);
            }
        }
        self.happens(kind, drawn);
    }

    fn hangs_up(&mut self, how: Out) {
        if let Some(line) = self.line.take() {
            let _ = line.send(how);
        }
    }
}

impl Discord {
    /// How far the newest session was told.
    pub fn told(&self) -> watch::Receiver<Told> {
        self.guild().gateway.told.subscribe()
    }

    /// The connection breaks, without a goodbye.
    pub fn gateway_breaks(&self) {
        self.guild().gateway.hangs_up(Out::Break);
    }

    /// Discord closes the connection with a code.
    pub fn gateway_closes(&self, code: u16) {
        self.guild().gateway.hangs_up(Out::Close(code));
    }

    /// Discord asks the bot to connect anew; what happens until then is kept for it.
    pub fn gateway_asks_to_reconnect(&self) {
        let frame = json!({ "op": 7, "t": null, "s": null, "d": null });
        self.guild().gateway.hangs_up(Out::Say(frame));
    }

    /// The session is over, and what happens until the next one is told to nobody.
    pub fn gateway_forgets_the_session(&self) {
        let mut guild = self.guild();
        guild.gateway.session = None;
        guild.gateway.told.send_replace(Told::default());
        let frame = json!({ "op": 9, "t": null, "s": null, "d": false });
        guild.gateway.hangs_up(Out::Say(frame));
    }

    /// The next one who resumes is told to try again.
    pub fn gateway_refuses_the_next_resume(&self) {
        self.guild().gateway.refuse_resumes = true;
    }

    /// The connection stands, and nothing comes by it any more. Heartbeats are asked for so often, in milliseconds.
    pub fn gateway_falls_silent_for_those_that_beat_every(&self, millis: u64) {
        let mut guild = self.guild();
        guild.gateway.beat_every = millis;
        guild.gateway.silent = true;
    }

    /// The next connection hears everything again.
    pub fn gateway_speaks_again(&self) {
        let mut guild = self.guild();
        guild.gateway.silent = false;
        guild.gateway.beat_every = 41_250;
    }

    /// The privilege in the developer portal.
    pub fn grants_content(&self, granted: bool) {
        self.guild().gateway.content = granted;
    }

    /// So many new sessions are still allowed today.
    pub fn allows_sessions(&self, left: u64) {
        self.guild().gateway.left = left;
    }

    /// New sessions, and those that were taken up again.
    pub fn sessions(&self) -> (usize, usize) {
        let counts = *self.guild().gateway.counts.borrow();
        (counts.identified, counts.resumed)
    }

    /// Connections that were made, whatever came of them.
    pub fn connections(&self) -> usize {
        self.guild().gateway.counts.borrow().connected
    }

    /// Comes back once there were so many.
    pub async fn connects_times(&self, times: usize) {
        self.counted(|counts| counts.connected >= times).await;
    }

    /// Comes back once so many sessions were taken up again.
    pub async fn has_resumed(&self, times: usize) {
        self.counted(|counts| counts.resumed >= times).await;
    }

    async fn counted(&self, enough: impl Fn(&Counts) -> bool) {
        let mut counts = self.guild().gateway.counts.subscribe();
        // Whoever waits longer than this waits for ever.
        let patience = std::time::Duration::from_secs(60);
        let counted = tokio::time::timeout(patience, counts.wait_for(enough)).await;
        assert!(matches!(counted, Ok(Ok(_))), "the bot did not connect so often");
    }
}

/// Listens on a free port until the handle is dropped.
pub(super) async fn open(inner: &Arc<Inner>) -> AbortOnDropHandle<()> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port on 127.0.0.1");
    let address = listener.local_addr().expect("a bound listener has an address");
    inner.guild().gateway.url = format!("ws://{address}");
    let inner = Arc::downgrade(inner);
    AbortOnDropHandle::new(tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(inner.clone(), stream));
        }
    }))
}

async fn serve(inner: Weak<Inner>, stream: TcpStream) {
    let mut query = String::new();
    let look = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        request.uri().query().unwrap_or_default().clone_into(&mut query);
        Ok(response)
    };
    let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, look).await else {
        return;
    };
    let (line, mut out) = mpsc::unbounded_channel();
    if let Some(inner) = inner.upgrade() {
        let mut guild = inner.guild();
        guild.gateway.counts.send_modify(|counts| counts.connected += 1);
        if query != "v=10&encoding=json" {
            guild.violations.push(format!("the gateway was asked for {query:?}"));
        }
        let hello = json!({ "op": 10, "t": null, "s": null, "d": { "heartbeat_interval": guild.gateway.beat_every } });
        let _ = line.send(Out::Say(hello));
    }
    loop {
        tokio::select! {
            out = out.recv() => match out {
                Some(Out::Say(frame)) => {
                    if socket.send(Message::text(frame.to_string())).await.is_err() {
                        return;
                    }
                }
                Some(Out::Close(code)) => {
                    let frame = CloseFrame { code: code.into(), reason: Utf8Bytes::default() };
                    let _ = socket.close(Some(frame)).await;
                    return;
                }
                Some(Out::Break) | None => return,
            },
            frame = socket.next() => match (frame, inner.upgrade()) {
                (Some(Ok(Message::Text(text))), Some(inner)) => {
                    let frame: Value = serde_json::from_str(&text).unwrap_or_default();
                    heard(&mut inner.guild(), &frame, &line);
                }
                (Some(Ok(_)), Some(_)) => {}
                _ => return,
            },
        }
    }
}

fn heard(guild: &mut Guild, frame: &Value, line: &mpsc::UnboundedSender<Out>) {
    if guild.gateway.silent {
        return;
    }
    let data = &frame["d"];
    let close = |code: u16| {
        let _ = line.send(Out::Close(code));
    };
    let signed = data["token"] == BOT_TOKEN;
    match frame["op"].as_u64() {
        Some(1) => {
            let _ = line.send(Out::Say(json!({ "op": 11, "t": null, "s": null, "d": null })));
        }
        Some(2 | 6) if !signed => close(4004),
        Some(2) => match data["intents"].as_u64() {
            None => close(4002),
            Some(intents) if intents & !INTENTS != 0 => close(4013),
            Some(intents) if intents & MESSAGE_CONTENT != 0 && !guild.gateway.content => close(4014),
            Some(intents) => identified(guild, intents, data, line),
        },
        Some(6) => resumed(guild, data, line),
        _ => {
            guild.violations.push(format!("the gateway was told {frame}"));
            close(4001);
        }
    }
}

fn identified(guild: &mut Guild, intents: u64, data: &Value, line: &mpsc::UnboundedSender<Out>) {
    if guild.gateway.left == 0 {
        guild
            .violations
            .push("the bot identified more often than it may".into());
        let _ = line.send(Out::Close(4008));
        return;
    }
    for name in ["os", "browser", "device"] {
        if data["properties"][name].as_str().is_none_or(str::is_empty) {
            guild.violations.push(format!("an identify without properties.{name}"));
        }
    }
    guild.gateway.left -= 1;
    guild.gateway.counts.send_modify(|counts| counts.identified += 1);
    let id = format!("5e55{:028x}", guild.gateway.counts.borrow().identified);
    guild.gateway.hangs_up(Out::Close(4000));
    guild.gateway.session = Some(Session {
        id: id.clone(),
        intents,
        log: Vec::new(),
    });
    guild.gateway.line = Some(line.clone());
    let bot = guild.state.named(APPLICATION).user();
    let url = guild.gateway.url.clone();
    guild.gateway.happens(
        "READY",
        json!({
            "v": 10, "user": bot, "guilds": [{ "id": GUILD, "unavailable": true }], "session_id": id,
            "resume_gateway_url": url, "shard": [0, 1], "application": { "id": APPLICATION, "flags": 0 },
        }),
    );
    let (threads, channels): (Vec<_>, Vec<_>) = guild
        .state
        .channels
        .iter()
        .filter(|channel| !matches!(channel.place, Place::Direct { .. }))
        .partition(|channel| matches!(channel.place, Place::Thread { .. }));
    let drawn = |all: &[&state::Channel]| all.iter().map(|channel| channel.drawn()).collect::<Vec<_>>();
    let server = json!({
        "id": GUILD, "name": "Shop", "unavailable": false, "channels": drawn(&channels), "threads": drawn(&threads),
    });
    guild.gateway.happens("GUILD_CREATE", server);
}

fn resumed(guild: &mut Guild, data: &Value, line: &mpsc::UnboundedSender<Out>) {
    let gateway = &mut guild.gateway;
    let invalid = |again: bool| {
        let _ = line.send(Out::Say(json!({ "op": 9, "t": null, "s": null, "d": again })));
    };
    if std::mem::take(&mut gateway.refuse_resumes) {
        return invalid(true);
    }
    let asked = (data["session_id"].as_str(), data["seq"].as_u64());
    let Some(session) = gateway.session.as_ref().filter(|session| asked.0 == Some(&session.id)) else {
        return invalid(false);
    };
    let Some(missed) = asked.1.and_then(|seq| session.log.get(seq as usize..)) else {
        let _ = line.send(Out::Close(4007));
        return;
    };
    let missed = missed.to_vec();
    gateway.hangs_up(Out::Close(4000));
    for frame in missed {
        let _ = line.send(Out::Say(frame));
    }
    gateway.counts.send_modify(|counts| counts.resumed += 1);
    gateway.line = Some(line.clone());
    gateway.happens("RESUMED", json!({ "_trace": [] }));
}
