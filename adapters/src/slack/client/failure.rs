//! What went wrong with a call, and what its caller must know of it: may it be tried again, when, and may it have
//! happened already? The sentences are for the person who runs the bot.

use std::time::Duration;

use deskhand_core::port::PortError;
use serde_json::Value;
use slack_morphism::errors::SlackClientError;

/// What a second try would do if the first one did arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Harmless,
    /// People would see it twice.
    Doubles,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Too many calls; nothing happened.
    Slow { retry_after: Option<Duration> },
    /// Slack answered, with an error's name.
    Refused {
        code: String,
        /// The scope that is missing.
        needed: Option<String>,
    },
    /// The request never left.
    NotSent { why: String },
    /// The request may have arrived.
    Lost { why: String },
}

impl Failure {
    pub(super) fn refused(code: &str) -> Self {
        Self::Refused {
            code: code.to_owned(),
            needed: None,
        }
    }

    /// Slack's client takes an answer without an error's name for success, even one that does not say `ok`.
    pub(super) fn of_answer(answer: Value) -> Result<Value, Self> {
        match answer.get("ok").and_then(Value::as_bool) {
            Some(true) => Ok(answer),
            Some(false) => Err(Self::refused("unknown_error")),
            None => Err(Self::Lost {
                why: "answered with something other than its API's JSON".into(),
            }),
        }
    }

    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Slow { .. } | Self::NotSent { .. } | Self::Lost { .. } => None,
        }
    }

    /// Slack would take the same words in a simpler form.
    pub(super) fn is_about_blocks(&self) -> bool {
        matches!(
            self.code(),
            Some("invalid_blocks" | "invalid_blocks_format" | "msg_blocks_too_long" | "msg_too_long")
        )
    }

    /// `act` completes "could not …".
    pub(super) fn tell(self, act: &str, channel: &str, repeat: Repeat) -> PortError {
        match self {
            Self::Slow { retry_after } => PortError::Transient {
                why: format!("Slack: could not {act}: too many calls"),
                retry_after,
            },
            Self::NotSent { why } => PortError::transient(format!("Slack: could not {act}: {why}")),
            Self::Lost { why } => match repeat {
                Repeat::Harmless => PortError::transient(format!("Slack: could not {act}: {why}")),
                Repeat::Doubles => PortError::Ambiguous {
                    why: format!("Slack: it is not known whether it did {act}: {why}"),
                },
            },
            Self::Refused { code, needed } => refused(&code, needed.as_deref(), act, channel, repeat),
        }
    }
}

fn refused(code: &str, needed: Option<&str>, act: &str, channel: &str, repeat: Repeat) -> PortError {
    let permanent = |advice: String| PortError::permanent(format!("Slack: could not {act}: {advice} ({code})"));
    match code {
        "ratelimited" | "rate_limited" => PortError::transient(format!("Slack: could not {act}: too many calls")),
        // "Some aspect of the operation may have succeeded", say Slack's method pages.
        "fatal_error" | "internal_error" => Failure::Lost {
            why: format!("an error on Slack's side ({code})"),
        }
        .tell(act, channel, repeat),
        "service_unavailable" | "request_timeout" | "team_added_to_org" | "external_channel_migrating" => {
            PortError::transient(format!("Slack: could not {act}: it is not available just now ({code})"))
        }
        "message_not_found" | "thread_not_found" => PortError::Gone {
            why: format!("Slack: could not {act}: the message in channel {channel} is gone ({code})"),
        },
        "used_url" | "expired_url" => PortError::Gone {
            why: format!("Slack: could not {act}: the address for answering has expired ({code})"),
        },
        "expired_trigger_id" | "exchanged_trigger_id" | "view_not_found" | "not_found" | "hash_conflict" => {
            PortError::Gone {
                why: format!("Slack: could not {act}: the form or its trigger is gone ({code})"),
            }
        }
        "no_such_subteam" | "subteam_not_found" => PortError::Gone {
            why: format!("Slack: could not {act}: there is no such user group ({code})"),
        },
        "channel_not_found" => permanent(format!(
            "there is no channel {channel} that the bot can see: check the id, and for a private channel invite the bot"
        )),
        "not_in_channel" => permanent(format!(
            "the bot is not in channel {channel}: invite it there with /invite @Deskhand"
        )),
        "is_archived" => permanent(format!(
            "channel {channel} is archived: unarchive it or set another channel"
        )),
        "restricted_action" | "restricted_action_read_only_channel" | "restricted_action_thread_only_channel" => {
            permanent(format!(
                "the workspace does not let apps post in channel {channel}: ask its admins"
            ))
        }
        "missing_scope" => permanent(format!(
            "the app lacks the scope {}: add it under OAuth & Permissions and reinstall the app",
            needed.unwrap_or("that this needs")
        )),
        "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" | "account_inactive"
        | "org_login_required" => {
            permanent("Slack does not accept the bot token: install the app again and set SLACK_BOT_TOKEN anew".into())
        }
        "not_allowed_token_type" => permanent("this needs a bot token (xoxb-…) in SLACK_BOT_TOKEN".into()),
        "cant_update_message" | "cant_delete_message" => permanent("the message is not one of the bot's own".into()),
        "edit_window_closed" => permanent("the workspace's time for editing messages is over".into()),
        _ => permanent("Slack refuses it".into()),
    }
}

impl From<SlackClientError> for Failure {
    /// Slack's client prints whole bodies in its errors; none of that goes on.
    fn from(error: SlackClientError) -> Self {
        match error {
            SlackClientError::RateLimitError(limit) => Self::Slow {
                retry_after: limit.retry_after,
            },
            SlackClientError::ApiError(api) => Self::Refused {
                needed: api.http_response_body.as_deref().and_then(needed),
                code: api.code,
            },
            SlackClientError::HttpError(http) => {
                match (http.status_code.as_u16(), http.http_response_body.as_deref()) {
                    (404 | 410, Some(code @ ("used_url" | "expired_url"))) => Self::refused(code),
                    (status @ (408 | 500..=599), _) => Self::Lost {
                        why: format!("answered with status {status}"),
                    },
                    (status, _) => Self::refused(&format!("status {status}")),
                }
            }
            SlackClientError::HttpProtocolError(protocol) => match protocol.cause {
                Some(cause) if never_connected(cause.as_ref()) => Self::NotSent {
                    why: "no connection".into(),
                },
                Some(_) | None => Self::Lost {
                    why: "the connection broke".into(),
                },
            },
            SlackClientError::EndOfStream(_)
            | SlackClientError::SystemError(_)
            | SlackClientError::ProtocolError(_)
            | SlackClientError::SocketModeProtocolError(_) => Self::Lost {
                why: "its answer could not be read".into(),
            },
        }
    }
}

fn never_connected(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    cause
        .downcast_ref::<hyper_util::client::legacy::Error>()
        .is_some_and(|error| error.is_connect())
}

fn needed(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    body.get("needed").and_then(Value::as_str).map(str::to_owned)
}
