//! Showing things in a chat: headers, cards, settled cards and lines. Each is a view of a row, drawn anew.

use std::sync::Arc;

use deskhand_adapters::postgres::ledger::{self, Line};
use deskhand_adapters::postgres::outbox::{self, Claimed, Kind, New};
use deskhand_adapters::postgres::places;
use deskhand_core::approval::ApprovalState;
use deskhand_core::id::TicketId;
use deskhand_core::ledger::EntryKind;
use deskhand_core::port::{Chat, Content, Place, PortError, Post};
use deskhand_core::run::EffectState;
use serde::Deserialize;

use super::dispatcher::Tried;
use super::show;
use crate::app::App;

/// A line in the ticket's thread.
#[derive(Deserialize)]
struct Said {
    text: String,
    #[serde(default)]
    broadcast: bool,
}

pub(super) async fn deliver(app: &App, claimed: &Claimed) -> anyhow::Result<Tried> {
    let Some((name, channel)) = claimed.lane.split_once(':') else {
        return Ok(Tried::Dead {
            why: format!("\"{}\" is no lane", claimed.lane),
        });
    };
    let Some(chat) = app.chat(name) else {
        return Ok(Tried::Dead {
            why: format!("no {name} is connected: set it up, then redrive this"),
        });
    };
    let to = To {
        app,
        claimed,
        chat,
        name,
        channel,
    };
    let tried = match (claimed.kind, claimed.ticket) {
        (Kind::Answer, _) => super::answer::deliver(app, claimed, name).await?,
        (Kind::Header, Some(ticket)) => to.header(ticket).await?,
        (Kind::Card, Some(ticket)) => to.card(ticket).await?,
        (Kind::Settle, Some(ticket)) => to.settle(ticket).await?,
        (Kind::Line, Some(ticket)) => to.line(ticket).await?,
        (Kind::Reply | Kind::Escalation | Kind::Bookkeeping | Kind::FollowUp, _) | (_, None) => Tried::Dead {
            why: "it is not for a chat".into(),
        },
    };
    // About one post a second in a channel, for all replicas together.
    if matches!(tried, Tried::Ended) && claimed.kind != Kind::Answer {
        outbox::pace(&app.pool, &claimed.lane, 1.0, app.clock.moved()).await?;
    }
    Ok(tried)
}

struct To<'a> {
    app: &'a App,
    claimed: &'a Claimed,
    chat: Arc<dyn Chat>,
    name: &'a str,
    channel: &'a str,
}

impl To<'_> {
    async fn end(&self, remote_id: &str) -> anyhow::Result<Tried> {
        let mut tx = self.app.pool.begin().await?;
        outbox::end(&mut tx, self.claimed, EffectState::Delivered, remote_id, "").await?;
        tx.commit().await?;
        Ok(Tried::Ended)
    }

    /// Posts once: after an ambiguous failure the post is looked up by its key first.
    async fn post_once(
        &self,
        thread: Option<&str>,
        broadcast: bool,
        key: String,
        content: Content,
    ) -> Result<Place, PortError> {
        if self.claimed.ambiguous
            && let Some(place) = self.chat.find(self.channel, thread, &key).await?
        {
            return Ok(place);
        }
        let thread = thread.map(str::to_owned);
        self.chat
            .post(&Post {
                channel: self.channel.to_owned(),
                thread,
                broadcast,
                key,
                content,
            })
            .await
    }

    /// The ticket's header, drawn anew where it stands and posted where it does not.
    async fn header(&self, ticket: TicketId) -> anyhow::Result<Tried> {
        let Some(header) = show::header(self.app, ticket).await? else {
            return self.end("").await;
        };
        let content = Content::Header(Box::new(header));
        if let Some(place) = places::header(&self.app.pool, ticket, self.name, self.channel).await? {
            match self.chat.update(&place, &content).await {
                Ok(()) => return self.end(&place.message).await,
                Err(PortError::Gone { .. }) => places::forget(&self.app.pool, self.name, &place).await?,
                Err(error) => return Ok(error.into()),
            }
        }
        match self.post_header(ticket, content).await? {
            Ok(place) => self.end(&place.message).await,
            Err(error) => Ok(error.into()),
        }
    }

    async fn post_header(&self, ticket: TicketId, content: Content) -> anyhow::Result<Result<Place, PortError>> {
        let key = format!("header-{}-{}", self.app.config.deployment, self.claimed.id);
        let place = match self.post_once(None, false, key, content).await {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let mut tx = self.app.pool.begin().await?;
        places::remember(&mut tx, ticket, None, self.name, &place).await?;
        tx.commit().await?;
        Ok(Ok(place))
    }

    /// The thread of the ticket in this channel, made if it is not there.
    async fn thread(&self, ticket: TicketId) -> anyhow::Result<Result<Option<Place>, PortError>> {
        if let Some(place) = places::header(&self.app.pool, ticket, self.name, self.channel).await? {
            return Ok(Ok(Some(place)));
        }
        match show::header(self.app, ticket).await? {
            Some(header) => Ok(self
                .post_header(ticket, Content::Header(Box::new(header)))
                .await?
                .map(Some)),
            None => Ok(Ok(None)),
        }
    }

    async fn card(&self, ticket: TicketId) -> anyhow::Result<Tried> {
        let Some(id) = self.claimed.approval else {
            return Ok(Tried::Dead {
                why: "it names no approval".into(),
            });
        };
        let Some((card, row)) = show::card(self.app, id).await? else {
            return self.end("").await;
        };
        if row.state != ApprovalState::Open && !row.recorded {
            // It ended before anybody saw it: there is nothing to ask any more.
            return self.end("").await;
        }
        let thread = match self.thread(ticket).await? {
            Ok(thread) => thread,
            Err(error) => return Ok(error.into()),
        };
        let parent = thread.as_ref().map(|place| place.message.as_str());
        let key = self.claimed.id.to_string();
        let place = match self.post_once(parent, true, key, Content::Card(Box::new(card))).await {
            Ok(place) => place,
            Err(PortError::Gone { why }) => {
                // The thread was deleted: forget it, and the card finds a new home at the next try.
                if let Some(thread) = &thread {
                    places::forget(&self.app.pool, self.name, thread).await?;
                }
                return Ok(Tried::Again {
                    why,
                    after: None,
                    ambiguous: false,
                });
            }
            Err(error) => return Ok(error.into()),
        };
        let mut tx = self.app.pool.begin().await?;
        if outbox::end(&mut tx, self.claimed, EffectState::Delivered, &place.message, "").await? {
            places::remember(&mut tx, ticket, Some(id), self.name, &place).await?;
            let line = Line {
                approval: Some(id),
                digest: &row.digest,
                ..Line::new(EntryKind::Shown, ticket)
            };
            ledger::append(&mut tx, &line).await?;
            // Whoever decided while the card was on its way could not settle it yet.
            outbox::settle_if_ended(&mut tx, id).await?;
            tx.commit().await?;
        }
        Ok(Tried::Ended)
    }

    async fn settle(&self, ticket: TicketId) -> anyhow::Result<Tried> {
        let Some(id) = self.claimed.approval else {
            return Ok(Tried::Dead {
                why: "it names no approval".into(),
            });
        };
        let Some(place) = places::card(&self.app.pool, id, self.name, self.channel).await? else {
            return self.end("").await;
        };
        let Some((card, _)) = show::card(self.app, id).await? else {
            return self.end("").await;
        };
        let line = card.settled.as_ref().map(|settled| format!("{id}: {}", settled.line));
        match self.chat.update(&place, &Content::Card(Box::new(card))).await {
            Ok(()) => {}
            Err(PortError::Gone { .. }) => places::forget(&self.app.pool, self.name, &place).await?,
            Err(error) => return Ok(error.into()),
        }
        let mut tx = self.app.pool.begin().await?;
        if outbox::end(&mut tx, self.claimed, EffectState::Delivered, &place.message, "").await? {
            // The outcome as a line in the thread, with who and when.
            if let Some(text) = line {
                let said = New {
                    payload: serde_json::json!({ "text": text }),
                    ..New::of(Kind::Line, ticket, self.claimed.lane.clone())
                };
                outbox::enqueue(&mut tx, &[said]).await?;
            }
            tx.commit().await?;
        }
        Ok(Tried::Ended)
    }

    async fn line(&self, ticket: TicketId) -> anyhow::Result<Tried> {
        let said: Said = serde_json::from_value(self.claimed.payload.clone())?;
        let thread = match self.thread(ticket).await? {
            Ok(thread) => thread,
            Err(error) => return Ok(error.into()),
        };
        let parent = thread.as_ref().map(|place| place.message.as_str());
        let key = self.claimed.id.to_string();
        match self
            .post_once(parent, said.broadcast, key, Content::Line(said.text))
            .await
        {
            Ok(place) => self.end(&place.message).await,
            Err(error) => Ok(error.into()),
        }
    }
}
