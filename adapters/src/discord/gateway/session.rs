//! What is said on a gateway connection, without the connection: frames in, and what to do about each.
//!
//! It remembers by which session and number to go on, so that a connection that broke loses nothing
//! (docs.discord.com, "Gateway").

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// By what a broken connection is taken up again, by whichever process: what came after `seq` is told again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    pub session: String,
    pub url: String,
    pub seq: u64,
}

/// What became known on the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A new session: nobody tells what happened before it.
    Began,
    /// The old session goes on; what was missed came before this.
    Resumed,
    Happened {
        kind: String,
        data: Value,
    },
}

/// What to do about a frame.
#[derive(Debug, PartialEq)]
pub(super) enum Then {
    Nothing,
    /// Say this, and from now on send a heartbeat so often.
    Greet {
        say: Value,
        beat_every: Duration,
    },
    Say(Value),
    Tell(Event),
    /// Hang up and connect again.
    Again {
        why: &'static str,
    },
}

// docs.discord.com, "Opcodes and Status Codes".
const DISPATCH: u64 = 0;
const HEARTBEAT: u64 = 1;
const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;
const RECONNECT: u64 = 7;
const INVALID_SESSION: u64 = 9;
const HELLO: u64 = 10;
const ACK: u64 = 11;

pub(super) struct Session {
    token: String,
    intents: u64,
    resume: Option<Resume>,
    greeted: bool,
    acknowledged: bool,
    /// This connection has shown that it works: it was accepted, and a heartbeat came back.
    proven: bool,
    accepted: bool,
}

impl Session {
    pub(super) fn new(token: String, intents: u64, resume: Option<Resume>) -> Self {
        Self {
            token,
            intents,
            resume,
            greeted: false,
            acknowledged: true,
            proven: false,
            accepted: false,
        }
    }

    pub(super) fn resume(&self) -> Option<&Resume> {
        self.resume.as_ref()
    }

    /// True once for each connection that has worked: whoever counts failures begins anew.
    pub(super) fn is_proven(&self) -> bool {
        self.proven
    }

    /// A new connection; the session stays.
    pub(super) fn connected(&mut self) {
        (self.greeted, self.accepted, self.proven, self.acknowledged) = (false, false, false, true);
    }

    pub(super) fn heard(&mut self, frame: &Value) -> Then {
        let data = &frame["d"];
        match frame["op"].as_u64() {
            Some(HELLO) => self.greet(data),
            Some(DISPATCH) => self.dispatched(frame),
            Some(HEARTBEAT) => Then::Say(self.heartbeat()),
            Some(ACK) => {
                self.acknowledged = true;
                self.proven = self.accepted;
                Then::Nothing
            }
            Some(RECONNECT) => Then::Again {
                why: "Discord asked for a new connection",
            },
            Some(INVALID_SESSION) => {
                if data != &Value::Bool(true) {
                    self.resume = None;
                }
                Then::Again {
                    why: "Discord no longer knows the session",
                }
            }
            // Discord may add kinds of frames.
            Some(_) | None => Then::Nothing,
        }
    }

    fn greet(&mut self, hello: &Value) -> Then {
        let every = hello["heartbeat_interval"].as_u64().filter(|millis| *millis > 0);
        self.greeted = true;
        Then::Greet {
            say: match &self.resume {
                Some(resume) => json!({
                    "op": RESUME,
                    "d": { "token": self.token, "session_id": resume.session, "seq": resume.seq },
                }),
                None => json!({
                    "op": IDENTIFY,
                    "d": {
                        "token": self.token,
                        "intents": self.intents,
                        "properties": { "os": std::env::consts::OS, "browser": "deskhand", "device": "deskhand" },
                        "shard": [0, 1],
                    },
                }),
            },
            beat_every: Duration::from_millis(every.unwrap_or(41_250)),
        }
    }

    fn dispatched(&mut self, frame: &Value) -> Then {
        let kind = frame["t"].as_str().unwrap_or_default();
        let (data, seq) = (&frame["d"], frame["s"].as_u64());
        if kind == "READY" {
            let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            self.resume = Some(Resume {
                session: text("session_id"),
                url: text("resume_gateway_url"),
                seq: seq.unwrap_or_default(),
            });
            self.accepted = true;
            return Then::Tell(Event::Began);
        }
        if let (Some(resume), Some(seq)) = (&mut self.resume, seq) {
            resume.seq = seq;
        }
        if kind == "RESUMED" {
            self.accepted = true;
            return Then::Tell(Event::Resumed);
        }
        Then::Tell(Event::Happened {
            kind: kind.to_owned(),
            data: data.clone(),
        })
    }

    /// A heartbeat is due. One that was never answered means that nobody is there, whatever the connection says.
    pub(super) fn beat(&mut self) -> Then {
        if !self.greeted {
            return Then::Again {
                why: "nobody greeted on the connection",
            };
        }
        if !std::mem::replace(&mut self.acknowledged, false) {
            return Then::Again {
                why: "a heartbeat was not answered",
            };
        }
        Then::Say(self.heartbeat())
    }

    fn heartbeat(&self) -> Value {
        json!({ "op": HEARTBEAT, "d": self.resume.as_ref().map(|resume| resume.seq) })
    }

    /// Discord hung up. A sentence for the operator where trying again is of no use.
    pub(super) fn closed(&mut self, code: Option<u16>) -> Result<(), String> {
        let stop = |why: &str| Err(format!("Discord's gateway: {why}"));
        match code {
            Some(4004) => stop(
                "the bot token is not accepted (4004): reset it in the developer portal, set DISCORD_BOT_TOKEN anew and \
                 start again",
            ),
            Some(4010..=4012) => stop(
                "Discord does not take this version's way of connecting, or the bot is in too many servers (4010 to \
                 4012): a newer version of Deskhand is needed",
            ),
            Some(4013) => stop(
                "Discord does not know the intents that were asked for (4013): a newer version of Deskhand is needed",
            ),
            Some(4014) => stop(
                "the Message Content Intent is not granted (4014): switch it on in the developer portal under Bot, \
                 Privileged Gateway Intents, and start again",
            ),
            // The session is over, or never was.
            Some(4003 | 4007 | 4009) => {
                self.resume = None;
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: &str = "wss://gateway.example.com";

    fn session(resume: Option<Resume>) -> Session {
        Session::new("the-token".into(), 33_281, resume)
    }

    fn hello() -> Value {
        json!({ "op": 10, "d": { "heartbeat_interval": 41_250 }, "s": null, "t": null })
    }

    fn ready() -> Value {
        json!({ "op": 0, "s": 1, "t": "READY", "d": { "session_id": "s1", "resume_gateway_url": GATEWAY } })
    }

    fn written(seq: u64) -> Value {
        json!({ "op": 0, "s": seq, "t": "MESSAGE_CREATE", "d": { "id": "7" } })
    }

    fn said(then: Then) -> Value {
        match then {
            Then::Greet { say, .. } | Then::Say(say) => say,
            other => panic!("nothing was said: {other:?}"),
        }
    }

    fn at(seq: u64) -> Option<Resume> {
        Some(Resume {
            session: "s1".into(),
            url: GATEWAY.into(),
            seq,
        })
    }

    fn hangs_up(then: &Then) -> bool {
        matches!(then, Then::Again { .. })
    }

    #[test]
    fn a_first_connection_identifies_and_a_later_one_goes_on_where_it_was() {
        let mut session = session(None);
        session.connected();
        let Then::Greet { say, beat_every } = session.heard(&hello()) else {
            panic!("it greets")
        };
        assert_eq!(beat_every, Duration::from_millis(41_250));
        assert_eq!(
            (&say["op"], &say["d"]["intents"], &say["d"]["token"]),
            (&json!(2), &json!(33_281), &json!("the-token"))
        );
        assert_eq!(session.heard(&ready()), Then::Tell(Event::Began));
        assert!(matches!(session.heard(&written(2)), Then::Tell(Event::Happened { .. })));
        assert_eq!(session.resume(), at(2).as_ref());

        session.connected();
        let resume = said(session.heard(&hello()));
        assert_eq!(
            resume,
            json!({ "op": 6, "d": { "token": "the-token", "session_id": "s1", "seq": 2 } })
        );
        session.heard(&written(3));
        let resumed = json!({ "op": 0, "s": 4, "t": "RESUMED", "d": {} });
        assert_eq!(session.heard(&resumed), Then::Tell(Event::Resumed));
        assert_eq!(session.resume(), at(4).as_ref());
    }

    #[test]
    fn an_invalid_session_is_forgotten_unless_it_can_be_resumed() {
        for (resumable, left) in [(true, at(7)), (false, None)] {
            let mut session = session(at(7));
            session.connected();
            session.heard(&hello());
            assert!(hangs_up(&session.heard(&json!({ "op": 9, "d": resumable }))));
            assert_eq!(session.resume(), left.as_ref());
        }
        let mut session = session(at(7));
        assert!(hangs_up(&session.heard(&json!({ "op": 7, "d": null }))));
        assert_eq!(session.resume(), at(7).as_ref(), "a reconnect keeps it");
    }

    #[test]
    fn a_heartbeat_that_nobody_answers_hangs_up() {
        let mut session = session(None);
        session.connected();
        assert!(hangs_up(&session.beat()), "not even a greeting came");
        session.heard(&hello());
        assert_eq!(said(session.beat()), json!({ "op": 1, "d": null }));
        assert!(hangs_up(&session.beat()));

        session.connected();
        session.heard(&hello());
        session.heard(&ready());
        assert_eq!(said(session.beat()), json!({ "op": 1, "d": 1 }));
        assert!(!session.is_proven());
        session.heard(&json!({ "op": 11, "d": null }));
        assert!(session.is_proven());
        assert!(!hangs_up(&session.beat()));
        assert_eq!(
            said(session.heard(&json!({ "op": 1, "d": null }))),
            json!({ "op": 1, "d": 1 }),
            "Discord may ask for one"
        );
    }

    #[test]
    fn what_no_new_connection_mends_is_one_sentence() {
        for (code, words) in [
            (4004, "set DISCORD_BOT_TOKEN anew"),
            (4011, "a newer version"),
            (4013, "a newer version"),
            (4014, "Message Content Intent"),
        ] {
            let why = session(None).closed(Some(code)).expect_err("it stops");
            assert!(why.contains(words) && why.contains(&code.to_string()[..3]), "{why}");
        }
    }

    #[test]
    fn a_session_that_timed_out_is_not_taken_up_again() {
        for (code, left) in [
            (Some(4009), None),
            (Some(4007), None),
            (Some(4000), at(7)),
            (Some(1001), at(7)),
            (None, at(7)),
        ] {
            let mut session = session(at(7));
            assert_eq!(session.closed(code), Ok(()));
            assert_eq!(session.resume(), left.as_ref(), "{code:?}");
        }
    }

    #[test]
    fn frames_that_nobody_knows_change_nothing() {
        let mut session = session(at(7));
        for frame in [
            json!({}),
            json!([]),
            json!(null),
            json!({ "op": 31 }),
            json!({ "op": "x", "d": 1 }),
        ] {
            assert_eq!(session.heard(&frame), Then::Nothing, "{frame}");
        }
    }
}
