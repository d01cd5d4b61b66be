//! Looking on at a ticket's run: what happens is told as it happens, until the run waits for a person or is over.

use std::time::{Duration, Instant};

use deskhand_adapters::postgres::runs::Shown;
use deskhand_core::approval::Actor;
use deskhand_core::command::{Command, TicketRef};
use deskhand_core::id::{RunId, TicketId};
use tokio::signal::unix::Signal;
use uuid::Uuid;

use crate::app::App;
use crate::cli::seen::{Seen, is_helped, newest};
use crate::cli::told::{Manner, Teller};
use crate::commands;
use crate::follow::Reader;

/// How often the run's row is looked at beside its events.
const LOOK: Duration = Duration::from_millis(200);
/// How long deliveries are waited for: they go on without anybody who looks.
const DELIVERIES: Duration = Duration::from_secs(10);

/// How the looking on ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) seen: Seen,
    /// The person wanted out.
    pub(super) interrupted: bool,
    pub(super) failed: bool,
}

/// Somebody who looks on at a ticket.
pub(super) struct Watch<'a> {
    pub(super) app: &'a App,
    pub(super) actor: &'a Actor,
    pub(super) ticket: TicketId,
    /// Ctrl-C: the first one pauses the run, a second one leaves it alone.
    pub(super) interrupts: &'a mut Signal,
}

impl Watch<'_> {
    /// Tells what is new.
    pub(super) async fn look_on(self, from: Seen) -> anyhow::Result<Rest> {
        let mut teller = Teller::new(self.ticket, Manner::Talk);
        let watched = watch(self, from, &mut teller).await;
        teller.rests();
        watched
    }
}

async fn watch(watch: Watch<'_>, from: Seen, teller: &mut Teller) -> anyhow::Result<Rest> {
    let Watch {
        app,
        actor,
        ticket,
        interrupts,
    } = watch;
    let mut rest = Rest {
        seen: from,
        ..Rest::default()
    };
    let mut reading: Option<(Uuid, Reader)> = None;
    let mut trouble = String::new();
    let started = Instant::now();
    while let Some(run) = newest(app, ticket).await? {
        if reading.as_ref().is_none_or(|(of, _)| *of != run.id) {
            let reader = app.followers.follow(app, RunId(run.id), from.cursor(run.id)).await?;
            reading = reader.map(|reader| (run.id, reader));
        }
        let Some((_, reader)) = &mut reading else { break };
        if run.state == "queued" && !run.error.is_empty() && run.error != trouble {
            trouble.clone_from(&run.error);
            teller.remark(&format!("{trouble}; it is tried again"));
        }
        if rests(&run, started.elapsed()) && !is_helped(app, &run).await? {
            reader.look(app).await?;
            teller.tell_ready(reader);
            rest.seen = Seen::up_to(run.id, reader);
            rest.failed = run.state == "failed";
            // A comment may have begun another run meanwhile.
            if newest(app, ticket).await?.is_none_or(|now| now.id == run.id) {
                break;
            }
            continue;
        }
        tokio::select! {
            told = reader.next() => match told {
                Some(told) => teller.tell_all(&told, reader),
                None => tokio::time::sleep(LOOK).await,
            },
            () = tokio::time::sleep(LOOK) => {}
            _ = interrupts.recv() => {
                if rest.interrupted {
                    rest.seen = Seen::up_to(run.id, reader);
                    break;
                }
                rest.interrupted = true;
                let pause = Command::Pause(TicketRef::Number(ticket));
                let answer = commands::execute(app, actor, &pause).await?;
                teller.remark(&answer);
            }
        }
    }
    Ok(rest)
}

/// Whether nothing more comes by itself.
fn rests(run: &Shown, looked_for: Duration) -> bool {
    match run.state.as_str() {
        "queued" | "running" => false,
        "waiting" if run.paused || run.ending.is_none() => true,
        "waiting" => looked_for > DELIVERIES,
        _ => true,
    }
}
