//! Discord's gateway: a websocket by which Discord tells what people write, and clicks where no interactions endpoint is
//! set.
//!
//! [`session`] knows what is said and is pure; [`line`] is the connection. A connection that breaks is made again, more and
//! more patiently, and its session is taken up where it was. Only what no new connection mends ends the listening, with a
//! sentence for whoever runs the bot.
//!
//! Why not a client library? serenity brings a TLS of years ago. twilight-gateway, in the newest version for our compiler,
//! waits without a limit for a dead peer to say goodbye, and a new connection a second after each refusal uses up the
//! thousand a day after which Discord takes the token away. The protocol is small, and the websocket is a library's.

mod line;
mod session;

use std::sync::Arc;
use std::time::Duration;

use deskhand_core::port::PortError;
use deskhand_core::retry::{self, RetryPolicy};
use tokio::sync::mpsc;

use self::line::{Ended, Line};
use self::session::Session;
pub use self::session::{Event, Resume};
use super::DiscordChat;
use super::client::Pace;

/// What Discord is asked to tell (docs.discord.com, "Gateway Intents").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intents(pub u64);

impl Intents {
    /// Servers with their channels and threads, and messages there. What they say comes only with mentions of the bot.
    pub const MESSAGES: Self = Self(1 | 1 << 9);
    /// The same, and what every message says: a privilege that the developer portal grants.
    pub const CONTENT: Self = Self(Self::MESSAGES.0 | 1 << 15);
}

/// Something that Discord told, and how to go on after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub event: Event,
    pub at: Resume,
}

/// Waits between connections: fewer of the longest fit into a day than Discord allows new sessions.
const AGAIN: RetryPolicy = RetryPolicy {
    base: Duration::from_secs(2),
    cap: Duration::from_secs(240),
    attempts: u32::MAX,
    longest_told: Duration::from_secs(24 * 60 * 60),
};

/// Listens for as long as somebody takes what is told. Gives a sentence where it had to give up; `None` when nobody takes
/// anything any more.
pub async fn listen(
    chat: Arc<DiscordChat>,
    intents: Intents,
    resume: Option<Resume>,
    told: mpsc::Sender<Told>,
) -> Option<String> {
    let mut session = Session::new(chat.gateway_token(), intents.0, resume);
    let mut failures = 0;
    loop {
        let ended = match connect(&chat, &mut session, failures).await {
            Ok(line) => line.serve(&mut session, &told).await,
            Err(ended) => ended,
        };
        if session.is_proven() {
            failures = 0;
        }
        let (why, wait) = match ended {
            Ended::Unheard => return None,
            Ended::ForGood { why } => return Some(why),
            // A session that is over wants a moment before the next one, says Discord.
            Ended::Asked { why } if failures == 0 && session.resume().is_some() => {
                tracing::info!(%why, "the connection to Discord's gateway is made anew");
                failures += 1;
                continue;
            }
            Ended::Asked { why } => (why.to_owned(), None),
            Ended::Broke { why } => (why, None),
            Ended::Later { why, wait } => (why, Some(wait)),
        };
        failures += 1;
        let pause = match chat.pace() {
            Pace::Discord => retry::delay(failures, fraction(), wait, &AGAIN).unwrap_or(AGAIN.cap),
            Pace::Unlimited => wait.unwrap_or_default(),
        };
        tracing::warn!(%why, pause.seconds = pause.as_secs(), "Discord's gateway is not heard for a moment; connecting again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = told.closed() => return None,
        }
    }
}

async fn connect(chat: &DiscordChat, session: &mut Session, failures: u32) -> Result<Line, Ended> {
    let url = match session.resume() {
        // The address that came with a session may go away before it.
        Some(resume) if failures < 3 => resume.url.clone(),
        Some(_) | None => match chat.gateway().await {
            Ok(open) if open.left == 0 && session.resume().is_none() => {
                return Err(Ended::Later {
                    why: format!(
                        "Discord allows no new session of this bot for {} minutes",
                        open.reset.as_secs().div_ceil(60)
                    ),
                    wait: open.reset,
                });
            }
            Ok(open) => open.url,
            Err(PortError::Permanent { why }) => return Err(Ended::ForGood { why }),
            Err(PortError::Transient {
                why,
                retry_after: Some(wait),
            }) => return Err(Ended::Later { why, wait }),
            Err(error) => return Err(Ended::Broke { why: error.to_string() }),
        },
    };
    session.connected();
    Line::open(&url).await
}

/// A random number from 0 to 1.
fn fraction() -> f64 {
    let random = uuid::Uuid::new_v4().as_u128() as u32;
    f64::from(random) / f64::from(u32::MAX)
}
