//! What went wrong with a call, and what its caller must know of it: may it be tried again, when, and may it have
//! happened already? The sentences are for the person who runs the bot.

use std::time::Duration;

use deskhand_core::port::PortError;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Too many calls; nothing happened.
    Slow { retry_after: Option<Duration> },
    /// Discord answered with an error's number.
    Refused {
        status: u16,
        code: u64,
        /// Which fields of the request it is about; never what they held.
        fields: Vec<String>,
    },
    /// The message that the call was about is gone.
    Gone,
    /// The request never left.
    NotSent { why: String },
    /// The request may have arrived.
    Lost { why: String },
}

// docs.discord.com, "Opcodes and Status Codes".
const UNKNOWN_CHANNEL: u64 = 10_003;
const UNKNOWN_MESSAGE: u64 = 10_008;
const INVALID_FORM: u64 = 50_035;

impl Failure {
    pub(super) fn refused(status: u16, code: u64) -> Self {
        Self::Refused {
            status,
            code,
            fields: Vec::new(),
        }
    }

    pub(super) fn of_refusal(status: u16, answer: &Value) -> Self {
        let mut fields = Vec::new();
        named("", &answer["errors"], &mut fields);
        Self::Refused {
            status,
            code: answer["code"].as_u64().unwrap_or_default(),
            fields,
        }
    }

    pub(super) fn code(&self) -> Option<u64> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Slow { .. } | Self::Gone | Self::NotSent { .. } | Self::Lost { .. } => None,
        }
    }

    /// Discord would perhaps take the same words in a simpler form.
    pub(super) fn is_about_form(&self) -> bool {
        self.code() == Some(INVALID_FORM)
    }

    pub(super) fn is_unknown_channel(&self) -> bool {
        self.code() == Some(UNKNOWN_CHANNEL)
    }

    /// Whoever names a message finds neither it nor its thread: then it is gone.
    pub(super) fn about_message(self) -> Self {
        match self.code() {
            Some(UNKNOWN_CHANNEL | UNKNOWN_MESSAGE) => Self::Gone,
            Some(_) | None => self,
        }
    }

    /// `act` completes "could not …".
    pub(super) fn tell(self, act: &str, channel: &str) -> PortError {
        match self {
            Self::Slow { retry_after } => PortError::Transient {
                why: format!("Discord: could not {act}: too many calls"),
                retry_after,
            },
            Self::NotSent { why } => PortError::transient(format!("Discord: could not {act}: {why}")),
            Self::Lost { why } => PortError::Ambiguous {
                why: format!("Discord: it is not known whether it did {act}: {why}"),
            },
            Self::Gone => PortError::Gone {
                why: format!("Discord: could not {act}: the message in channel {channel} is gone"),
            },
            Self::Refused { status, code, fields } => refused(status, code, &fields, act, channel),
        }
    }
}

fn refused(status: u16, code: u64, fields: &[String], act: &str, channel: &str) -> PortError {
    let numbers = match code {
        0 => format!("status {status}"),
        code => format!("{code}"),
    };
    let permanent = |advice: &str| PortError::permanent(format!("Discord: could not {act}: {advice} ({numbers})"));
    let gone = |what: &str| PortError::Gone {
        why: format!("Discord: could not {act}: {what} ({numbers})"),
    };
    match (status, code) {
        (_, UNKNOWN_CHANNEL) => permanent(&format!(
            "there is no channel {channel} that the bot can see: check the id and the bot's right View Channels"
        )),
        (_, UNKNOWN_MESSAGE) => gone("the message is gone"),
        (_, 10_004) => permanent("the bot is not in that server: invite it again"),
        (_, 10_007 | 10_013) => gone("the person is not in the server"),
        // A webhook that is not there must never be tried again, says Discord.
        (_, 10_015 | 50_027) => gone("the time for answering, fifteen minutes, is over"),
        (_, 10_062) => gone("the interaction is unknown: it was answered after more than three seconds"),
        (_, 40_060) => gone("the interaction was answered already, by another process of the bot"),
        (_, 50_001) => permanent(&format!(
            "the bot has no access to channel {channel}: give it View Channels there"
        )),
        (_, 50_007) => permanent("the person takes no direct messages"),
        (_, 50_013) => permanent(&format!(
            "the bot lacks permissions in channel {channel}: it needs View Channels, Send Messages, Embed Links, Attach \
             Files, Read Message History, Create Public Threads and Send Messages in Threads"
        )),
        (_, 30_046) => PortError::Transient {
            why: format!("Discord: could not {act}: old messages may not be edited more often just now ({numbers})"),
            retry_after: Some(Duration::from_secs(600)),
        },
        (_, 50_035) => permanent(&format!("Discord refuses the request's {}", fields.join(", "))),
        (401, _) => permanent(
            "Discord does not accept the bot token: reset it in the developer portal and set DISCORD_BOT_TOKEN anew",
        ),
        (404, _) => gone("it is not there"),
        (_, _) => permanent("Discord refuses it"),
    }
}

/// The paths of the fields that an "Invalid Form Body" complains of.
fn named(path: &str, errors: &Value, found: &mut Vec<String>) {
    let Some(errors) = errors.as_object() else { return };
    for (key, inner) in errors {
        if key == "_errors" {
            found.push(path.trim_start_matches('.').to_owned());
        } else if found.len() < 5 {
            named(&format!("{path}.{key}"), inner, found);
        }
    }
}

impl From<reqwest::Error> for Failure {
    /// The address of an answer holds its token, so nothing of the error goes on.
    fn from(error: reqwest::Error) -> Self {
        let why = match error.is_timeout() {
            true => "did not answer in time",
            false => "the connection broke",
        };
        match error.is_connect() || error.is_builder() {
            true => Self::NotSent {
                why: "no connection".into(),
            },
            false => Self::Lost { why: why.into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_known_number_ends_in_a_line_that_says_what_to_do() {
        for (status, code, line) in [
            (404, 10_062, "answered after more than three seconds"),
            (400, 40_060, "was answered already"),
            (403, 50_013, "lacks permissions in channel 7"),
            (403, 50_001, "no access to channel 7"),
            (404, 10_015, "fifteen minutes"),
            (401, 0, "DISCORD_BOT_TOKEN"),
        ] {
            let answer = json!({ "code": code, "message": "…" });
            let told = Failure::of_refusal(status, &answer).tell("post", "7").to_string();
            assert!(told.contains(line), "{told}");
        }
    }

    #[test]
    fn a_refused_form_names_its_fields_and_not_what_they_held() {
        let answer = json!({ "code": 50_035, "errors": { "embeds": { "0": { "title": {
            "_errors": [{ "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 256 or fewer in length." }] } } } } });
        let failure = Failure::of_refusal(400, &answer);
        assert!(failure.is_about_form());
        assert!(failure.tell("post", "7").to_string().contains("embeds.0.title"));
    }

    #[test]
    fn a_message_without_its_thread_is_gone() {
        let answer = json!({ "code": 10_003 });
        let failure = Failure::of_refusal(404, &answer).about_message();
        assert!(matches!(failure.tell("update", "7"), PortError::Gone { .. }));
    }
}
