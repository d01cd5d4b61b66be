//! A gateway connection: frames out and in, and the heartbeat between them.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::session::{Session, Then};
use super::{Told, fraction};

/// For a connection, a greeting, or one frame on its way out.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a server with thousands of channels tells of itself fits.
const LARGEST: usize = 32 << 20;

/// Why a connection is over.
#[derive(Debug)]
pub(super) enum Ended {
    /// Nobody takes what is told.
    Unheard,
    /// No new connection mends it.
    ForGood {
        why: String,
    },
    /// In good order: Discord asked, or the session is not taken up again.
    Asked {
        why: &'static str,
    },
    Broke {
        why: String,
    },
    /// The same, and Discord said how long to wait.
    Later {
        why: String,
        wait: Duration,
    },
}

pub(super) struct Line {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

enum In {
    Frame(Value),
    Closed(Option<u16>),
    Broke(String),
}

impl Line {
    /// The token goes over it, so it is encrypted, or on this machine.
    pub(super) async fn open(url: &str) -> Result<Self, Ended> {
        let address = url::Url::parse(url).ok().filter(is_safe);
        let Some(mut address) = address else {
            return Err(Ended::Broke {
                why: "Discord named a gateway whose address is not encrypted".into(),
            });
        };
        address.set_query(Some("v=10&encoding=json"));
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        let opening = tokio_tungstenite::connect_async_with_config(address.as_str(), Some(config), true);
        match tokio::time::timeout(PATIENCE, opening).await {
            Ok(Ok((socket, _))) => Ok(Self { socket }),
            Ok(Err(error)) => Err(Ended::Broke {
                why: format!("no connection: {error}"),
            }),
            Err(_) => Err(Ended::Broke {
                why: "no connection in time".into(),
            }),
        }
    }

    /// Reads no further than what is taken, and keeps the heart beating meanwhile.
    pub(super) async fn serve(mut self, session: &mut Session, told: &mpsc::Sender<Told>) -> Ended {
        let mut beat = tokio::time::interval_at(Instant::now() + PATIENCE, PATIENCE);
        loop {
            let socket = &mut self.socket;
            let (then, room) = tokio::select! {
                _ = beat.tick() => (session.beat(), None),
                (room, frame) = next(socket, told) => match (room, frame) {
                    (Err(SendError(())), _) => return Ended::Unheard,
                    (Ok(room), In::Frame(frame)) => (session.heard(&frame), Some(room)),
                    (Ok(_), In::Broke(why)) => return Ended::Broke { why },
                    (Ok(_), In::Closed(code)) => return match (session.closed(code), code) {
                        (Err(why), _) => Ended::ForGood { why },
                        (Ok(()), Some(code)) => Ended::Broke { why: format!("Discord closed the connection ({code})") },
                        (Ok(()), None) => Ended::Broke { why: "the connection ended".into() },
                    },
                },
            };
            match then {
                Then::Nothing => {}
                Then::Again { why } => return Ended::Asked { why },
                Then::Say(frame) => {
                    if let Err(ended) = self.say(&frame).await {
                        return ended;
                    }
                }
                Then::Greet { say, beat_every } => {
                    if let Err(ended) = self.say(&say).await {
                        return ended;
                    }
                    // The first one somewhere within the first interval, as Discord asks.
                    beat = tokio::time::interval_at(Instant::now() + beat_every.mul_f64(fraction()), beat_every);
                    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
                }
                Then::Tell(event) => {
                    if let (Some(room), Some(at)) = (room, session.resume().cloned()) {
                        room.send(Told { event, at });
                    }
                }
            }
        }
    }

    async fn say(&mut self, frame: &Value) -> Result<(), Ended> {
        let sent = self.socket.send(Message::text(frame.to_string()));
        match tokio::time::timeout(PATIENCE, sent).await {
            Ok(Ok(())) => Ok(()),
            // Whoever hung up may have said why: that is read next.
            Ok(Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed)) => Ok(()),
            Ok(Err(tungstenite::Error::Protocol(_))) => Ok(()),
            Ok(Err(error)) => Err(Ended::Broke {
                why: format!("the connection broke: {error}"),
            }),
            Err(_) => Err(Ended::Broke {
                why: "the connection takes nothing any more".into(),
            }),
        }
    }
}

type Room<'a> = Result<mpsc::Permit<'a, Told>, SendError<()>>;

/// The next frame, once there is room for what it tells. Cancelling it loses nothing.
async fn next<'a>(
    socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>,
    told: &'a mpsc::Sender<Told>,
) -> (Room<'a>, In) {
    let room = match told.reserve().await {
        Ok(room) => room,
        Err(closed) => return (Err(closed), In::Closed(None)),
    };
    loop {
        let read = tokio::select! {
            read = socket.next() => read,
            () = told.closed() => return (Err(SendError(())), In::Closed(None)),
        };
        let frame = match read {
            Some(Ok(Message::Text(text))) => In::Frame(serde_json::from_str(&text).unwrap_or_default()),
            Some(Ok(Message::Close(frame))) => In::Closed(frame.map(|frame| frame.code.into())),
            // Pings are answered by the library; nothing else is expected.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => continue,
            Some(Err(error)) => In::Broke(format!("the connection broke: {error}")),
            None => In::Closed(None),
        };
        return (Ok(room), frame);
    }
}

fn is_safe(url: &url::Url) -> bool {
    let here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    url.scheme() == "wss" || (url.scheme() == "ws" && here)
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn the_token_goes_over_no_open_wire() {
        for (url, safe) in [
            ("wss://gateway.discord.gg", true),
            ("ws://127.0.0.1:8080", true),
            ("ws://[::1]:8080", true),
            ("ws://gateway.discord.gg", false),
            ("http://127.0.0.1", false),
        ] {
            assert_eq!(is_safe(&url.parse().expect("an address")), safe, "{url}");
        }
    }
}
