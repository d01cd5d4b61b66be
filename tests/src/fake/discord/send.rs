//! Interactions from Discord to the bot, signed as Discord signs them, and what people see of the answers.

use chrono::Duration;
use serde_json::Value;
use tokio::sync::oneshot;

use super::state::{Person, Private, Token};
use super::verbs::From;
use super::{APPLICATION, GUILD, Inner, OTHER_GUILD, check, key};
use crate::fake::spec;
use crate::fake::wire::Forgery;

impl Inner {
    /// What every interaction carries, with a token that lives fifteen minutes.
    pub(super) fn interaction(&self, kind: u64, person: &Person, channel: &str, from: From) -> (Value, String) {
        let mut guild = self.guild();
        let id = guild.state.fresh();
        let token = format!("aW50ZXJhY3Rpb246{id}");
        guild.state.tokens.push(Token {
            token: token.clone(),
            until: self.clock.now() + Duration::minutes(15),
            answered: false,
        });
        let mut body = serde_json::json!({
            "id": id, "application_id": APPLICATION, "token": token, "version": 1, "type": kind, "channel_id": channel,
            "channel": { "id": channel, "type": 0 }, "locale": "en-US", "entitlements": [], "context": 0,
        });
        match from {
            From::Guild | From::OtherGuild => {
                let there = if from == From::Guild { GUILD } else { OTHER_GUILD };
                body["guild_id"] = there.into();
                body["member"] = person.as_member();
            }
            From::Direct => {
                body["user"] = person.user();
                body["context"] = 1.into();
            }
        }
        (body, token)
    }

    /// Sends it, and lets the person see the answer. Gives back the status, and the answer where it is more than that.
    pub(super) async fn interact(&self, body: Value, person: &Person, token: &str, on: Option<&str>) -> (u16, Value) {
        let (bot, forgery) = {
            let mut guild = self.guild();
            (guild.bot.clone(), guild.forgery.take())
        };
        if let Some(answered) = self.by_gateway(&body, token) {
            // Whoever waits longer than this waits for ever.
            let patience = std::time::Duration::from_secs(20);
            let answered = tokio::time::timeout(patience, answered).await;
            let (status, answer) = match answered {
                Ok(Ok(answer)) => (200, answer),
                Ok(Err(_)) | Err(_) => (0, Value::Null),
            };
            self.sees(status, &answer, person, token, on);
            return (status, answer);
        }
        let bot = bot.expect("bot_is_at() was called before anybody acts");
        let mut bytes = body.to_string().into_bytes();
        let timestamp = self.clock.now().timestamp().to_string();
        let mut signature = hex::encode(key().sign(&[timestamp.as_bytes(), &bytes].concat()).as_ref());
        match forgery {
            Some(Forgery::ChangedBody) => bytes.push(b' '),
            Some(Forgery::WrongSecret) => signature = "00".repeat(64),
            Some(Forgery::NoSignature) => signature.clear(),
            Some(Forgery::OldTimestamp | Forgery::FutureTimestamp | Forgery::SillyTimestamp) | None => {}
        }
        let request = self.client.post(format!("{bot}/discord/interactions")).body(bytes);
        let request = request
            .header("content-type", "application/json")
            .header("x-signature-timestamp", timestamp)
            .header("x-signature-ed25519", signature);
        let (status, answer) = match request.send().await {
            Ok(response) => (response.status().as_u16(), response.json().await.unwrap_or_default()),
            Err(_) => (0, Value::Null),
        };
        if forgery.is_none() {
            self.sees(status, &answer, person, token, on);
        }
        (status, answer)
    }

    /// Where no endpoint is set, the gateway tells of it, and the answer comes by the callback.
    fn by_gateway(&self, body: &Value, token: &str) -> Option<oneshot::Receiver<Value>> {
        let mut guild = self.guild();
        if guild.endpoint {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        guild.callbacks.insert(token.to_owned(), sender);
        guild.gateway.happens("INTERACTION_CREATE", body.clone());
        Some(receiver)
    }

    fn sees(&self, status: u16, answer: &Value, person: &Person, token: &str, on: Option<&str>) {
        let mut guild = self.guild();
        if status != 200 || !answer.is_object() {
            guild
                .violations
                .push(format!("an interaction was answered {status} {answer}"));
            return;
        }
        for known in guild.state.tokens.iter_mut().filter(|known| known.token == token) {
            known.answered = true;
        }
        guild.violations.extend(spec::discord_answer_faults(answer));
        let data = &answer["data"];
        match answer["type"].as_u64() {
            Some(kind @ (4 | 5)) => {
                if data["flags"] != 64 {
                    guild
                        .violations
                        .push(format!("everybody sees the answer to one person: {answer}"));
                }
                if kind == 4 {
                    guild.violations.extend(check::mentions(data));
                    if let Err(refused) = check::message(data) {
                        guild
                            .violations
                            .push(format!("an answer that Discord refuses: {:?}", refused.body));
                    }
                }
                guild.state.privates.push(Private {
                    to: person.id.clone(),
                    token: token.to_owned(),
                    body: data.clone(),
                    thinking: kind == 5,
                    file: None,
                    looked: false,
                });
            }
            Some(7) => {
                guild.violations.extend(check::mentions(data));
                if let Err(refused) = check::message(data) {
                    guild
                        .violations
                        .push(format!("an answer that Discord refuses: {:?}", refused.body));
                }
                let message = on.and_then(|id| guild.state.messages.iter_mut().find(|message| message.id == id));
                match message {
                    Some(message) => message.changes(data),
                    None => guild
                        .violations
                        .push("an answer changes a message that is not there".into()),
                }
            }
            Some(1 | 6 | 8 | 9) => {}
            other => guild.violations.push(format!("an answer of the type {other:?}")),
        }
    }
}
