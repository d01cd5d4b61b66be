//! Writing down what `next` decided: one transaction each, under the locks' order (ticket, run, approval, outbox).
//!
//! `Wait`, `Send` and `Finish` lock the ticket first: if somebody said something public that the model has not heard,
//! they commit nothing, and the run goes on with those words. So a customer who writes while a run is at work is never
//! lost, and nothing stale is asked or sent.

mod end;
mod help;
mod send;

pub use end::{end_without_ticket, failed, finish, gave_up, hand_to_person, tried_again};
pub use help::report;
pub(super) use send::put_out;
pub use send::{send, start};

use deskhand_adapters::postgres::outbox::{self, Kind, New, desk_lane};
use deskhand_adapters::postgres::runs::{self, Held, Lease, LeaseLost};
use deskhand_adapters::postgres::{approvals, helpers, learning, spend, tickets};
use deskhand_core::approval::ApprovalState;
use deskhand_core::facts::Facts;
use deskhand_core::id::{ApprovalId, TicketId};
use deskhand_core::next::{Ask, Await, Record, Wait};
use deskhand_core::port::Bookkeeping;
use deskhand_core::run::Ending;
use deskhand_core::step::{Step, StepKind};
use deskhand_core::ticket::{Mode, Source};
use deskhand_core::transcript::Transcript;
use serde_json::json;
use sqlx::{PgConnection, PgExecutor, Postgres, Transaction};

use crate::app::App;

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Yes,
    /// The ground moved before it could be written: nothing was; read transcript and facts again.
    Moved,
    /// Somebody else has the run.
    Lost,
}

/// Appends what is held and steps after it, and takes them into the transcript.
pub async fn append(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    steps: Vec<StepKind>,
) -> anyhow::Result<Done> {
    match write_down(app, &app.pool, lease, transcript, steps).await? {
        Ok(appended) => {
            transcript.written(appended);
            app.live.stir(lease.run);
            Ok(Done::Yes)
        }
        Err(LeaseLost) => lost_or_moved(app, lease).await,
    }
}

/// What a model's answers cost. Written down at once: the money is spent, whatever becomes of the run.
pub async fn spent(app: &App, lease: &Lease, facts: &Facts, steps: &[StepKind]) -> sqlx::Result<()> {
    for step in steps {
        let (model, usage) = match step {
            StepKind::Replied { model, reply } => (model, reply.usage),
            StepKind::Compacted { model, usage, .. } => (model, *usage),
            _ => continue,
        };
        let line = spend::Line {
            ticket: lease.ticket,
            run: lease.run,
            model,
            usage,
            micros: facts.budget.of(model, usage).micros,
        };
        spend::add(&app.pool, &line, app.clock.moved()).await?;
    }
    Ok(())
}

/// Lets go of a run that a person paused, with what its model had written by then. `Moved` when it was resumed meanwhile.
pub async fn rest(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
    partial: Option<StepKind>,
) -> anyhow::Result<Done> {
    let mut tx = app.pool.begin().await?;
    if runs::hold(&mut tx, lease).await?.is_err() {
        return Ok(Done::Lost);
    }
    let steps = partial.into_iter().collect();
    if write_down(app, &mut *tx, lease, transcript, steps).await?.is_err() {
        drop(tx);
        return lost_or_moved(app, lease).await;
    }
    if runs::rest(&mut tx, lease).await?.is_err() {
        // Resumed already: the queue has it again.
        runs::requeue(&mut tx, lease).await?;
        tx.commit().await?;
        return Ok(Done::Moved);
    }
    outbox::enqueue_and_refresh(&mut tx, lease.ticket, &header(app, lease.ticket)).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// The run is left waiting, with what is held and its last steps.
async fn leave(
    app: &App,
    tx: &mut PgConnection,
    lease: &Lease,
    transcript: &Transcript,
    steps: Vec<StepKind>,
    ending: Option<Ending>,
) -> sqlx::Result<Result<(), LeaseLost>> {
    let (first, all) = with_held(transcript, steps);
    runs::wait(tx, lease, first, &all, ending, app.clock.moved()).await
}

fn with_held(transcript: &Transcript, steps: Vec<StepKind>) -> (i32, Vec<StepKind>) {
    let held = transcript.held();
    let first = held.first().map_or(transcript.next_seq(), |step| step.seq);
    let all = held.iter().map(|step| step.kind.clone()).chain(steps).collect();
    (first, all)
}

/// What is held and steps after it, written down but not taken into the transcript yet: the commit may still fail.
async fn write_down(
    app: &App,
    db: impl PgExecutor<'_>,
    lease: &Lease,
    transcript: &Transcript,
    steps: Vec<StepKind>,
) -> sqlx::Result<Result<Vec<Step>, LeaseLost>> {
    let (first, all) = with_held(transcript, steps);
    if all.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    runs::append(db, lease, first, all, app.clock.moved()).await
}

/// Why steps could not be appended: somebody else has the run, or an instruction took their place in it.
/// Asked when the transaction that failed is over: it holds the ticket and a connection.
async fn lost_or_moved(app: &App, lease: &Lease) -> anyhow::Result<Done> {
    Ok(match runs::holds(&app.pool, lease).await? {
        true => Done::Moved,
        false => Done::Lost,
    })
}

/// A local change with its outcomes.
pub async fn record(app: &App, lease: &Lease, transcript: &mut Transcript, record: Record) -> anyhow::Result<Done> {
    if record.only_tells() {
        return append(app, lease, transcript, record.steps).await;
    }
    let mut tx = app.pool.begin().await?;
    if runs::hold(&mut tx, lease).await?.is_err() {
        return Ok(Done::Lost);
    }
    if let Some(plan) = &record.plan {
        runs::set_plan(&mut tx, lease.run, plan).await?;
    }
    if let Some(triage) = &record.triage {
        tickets::set_triage(&mut tx, lease.ticket, triage).await?;
        if let Some(by) = transcript.named_category(&triage.category) {
            learning::correct(&mut tx, lease.ticket, &triage.category, by, app.clock.moved()).await?;
        }
    }
    let first = transcript.next_seq();
    for (n, note) in record.notes.iter().enumerate() {
        let id = format!("note-{}-{first}-{n}", lease.run);
        tickets::add_own_comment(&mut tx, lease.ticket, &id, false, note).await?;
    }
    for (id, why) in &record.superseded {
        approvals::supersede(&mut tx, *id, why).await?;
    }
    for spawn in &record.spawned {
        helpers::spawn(&mut tx, lease, spawn, app.clock.moved()).await?;
    }
    if !record.closed.is_empty() {
        let why = "closed by the run that it helped";
        helpers::close(&mut tx, lease.run, Some(&record.closed), why).await?;
    }
    if record.plan.is_some() {
        outbox::enqueue(&mut tx, &header(app, lease.ticket)).await?;
    }
    let done = seal(app, lease, transcript, tx, record.steps).await?;
    if !record.closed.is_empty() {
        app.pass_word();
    }
    if !record.spawned.is_empty() {
        app.announce();
    }
    Ok(done)
}

/// The last part of a commit after which the run goes on: its steps, and whoever looks on or sends is told.
async fn seal(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    mut tx: Transaction<'_, Postgres>,
    steps: Vec<StepKind>,
) -> anyhow::Result<Done> {
    let Ok(appended) = write_down(app, &mut *tx, lease, transcript, steps).await? else {
        drop(tx);
        return lost_or_moved(app, lease).await;
    };
    tx.commit().await?;
    transcript.written(appended);
    app.live.stir(lease.run);
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// Opens the ticket's transaction, unless the ground moved or the lease is gone.
async fn begin<'a>(app: &App, lease: &Lease, facts: &Facts, heard: i64) -> anyhow::Result<Result<Begun<'a>, Done>> {
    let mut tx = app.pool.begin().await?;
    let Ok(held) = runs::hold(&mut tx, lease).await? else {
        return Ok(Err(Done::Lost));
    };
    // The version tells without a look at the comments that nothing was said since the facts were read.
    let quiet = held.version == facts.ticket.version && facts.unheard.iter().all(|comment| comment.id <= heard);
    if !quiet && tickets::has_unheard(&mut tx, lease.ticket, heard).await? {
        return Ok(Err(Done::Moved));
    }
    Ok(Ok((tx, held)))
}

type Begun<'a> = (Transaction<'a, Postgres>, Held);

/// Opens approvals with their cards and lets go of the run. Nothing waits in memory.
pub async fn wait(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    wait: Wait,
) -> anyhow::Result<Done> {
    let (mut tx, _) = match begin(app, lease, facts, wait.heard).await? {
        Ok(begun) => begun,
        Err(done) => return Ok(done),
    };
    // One that ended since the facts were read is not waited for: whoever ended it found the run at work.
    let known = facts
        .approvals
        .iter()
        .filter(|approval| approval.state == ApprovalState::Open)
        .count();
    if known > 0 && approvals::count_open(&mut tx, lease.run).await? < i64::try_from(known)? {
        return Ok(Done::Moved);
    }
    let awaited: Vec<i32> = wait.awaits.iter().flat_map(|awaited| awaited.helpers.clone()).collect();
    if transcript.has_helpers() {
        let at_work = helpers::set_awaited(&mut tx, lease.run, &awaited).await?;
        if !awaited.is_empty() && !at_work {
            return Ok(Done::Moved);
        }
    }
    let mut steps = Vec::new();
    let mut effects = header(app, lease.ticket);
    for Await { call, helpers } in wait.awaits {
        if !transcript.awaited(call) {
            steps.push(StepKind::Awaited { call, helpers });
        }
    }
    for ask in &wait.asks {
        let id = open(app, &mut tx, lease, transcript, ask, false).await?;
        steps.push(StepKind::Asked {
            call: ask.call,
            approval: id,
        });
        effects.extend(cards(app, lease.ticket, id, ask.effect.tool()));
    }
    if let Some(books) = &wait.bookkeeping {
        let (effect, step) = book(lease, facts, books);
        effects.extend(effect);
        steps.push(step);
    }
    if leave(app, &mut tx, lease, transcript, steps, None).await?.is_err() {
        drop(tx);
        return lost_or_moved(app, lease).await;
    }
    outbox::enqueue_and_refresh(&mut tx, lease.ticket, &effects).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

async fn open(
    app: &App,
    tx: &mut PgConnection,
    lease: &Lease,
    transcript: &Transcript,
    ask: &Ask,
    recorded: bool,
) -> anyhow::Result<ApprovalId> {
    let expires_in = app
        .config
        .route(ask.effect.tool())
        .expires
        .map(|expires| expires.as_secs_f64());
    let opening = approvals::Opening {
        ticket: lease.ticket,
        run: lease.run,
        call: ask.call,
        effect: &ask.effect,
        digest: &ask.digest,
        why: &ask.why,
        marks: &ask.marks,
        expires_in,
        recorded,
        instructed_by: transcript.instructed_by().unwrap_or_default(),
        replaces: ask.replaces,
    };
    Ok(approvals::open(tx, &opening, app.clock.moved()).await?)
}

/// The ticket's headers, where there are channels for them.
pub(super) fn header(app: &App, ticket: TicketId) -> Vec<New> {
    let lanes = app.home_lanes().into_iter();
    lanes.map(|lane| New::of(Kind::Header, ticket, lane)).collect()
}

/// The approval's cards: one in each channel of its route.
fn cards(app: &App, ticket: TicketId, id: ApprovalId, tool: &str) -> Vec<New> {
    let lanes = app.card_lanes(tool).into_iter();
    lanes
        .map(|lane| New {
            approval: Some(id),
            ..New::of(Kind::Card, ticket, lane)
        })
        .collect()
}

/// The desk's bookkeeping as one effect, for desks that keep books.
fn book(lease: &Lease, facts: &Facts, books: &Bookkeeping) -> (Option<New>, StepKind) {
    let effect = New {
        run: Some(lease.run),
        payload: json!({ "outside": facts.ticket.outside, "books": books }),
        recorded: facts.mode == Mode::Shadow,
        ..New::of(Kind::Bookkeeping, lease.ticket, desk_lane(lease.ticket))
    };
    let step = StepKind::Booked { effect: effect.id };
    (keeps_books(facts.ticket.outside.source).then_some(effect), step)
}

fn keeps_books(source: Source) -> bool {
    match source {
        Source::Zendesk => true,
        Source::Email | Source::Slack | Source::Discord | Source::Api => false,
    }
}
