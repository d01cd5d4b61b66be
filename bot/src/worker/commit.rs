//! Writing down what `next` decided: one transaction each, under the locks' order (ticket, run, approval, outbox).
//!
//! `Wait`, `Send` and `Finish` lock the ticket first: if somebody said something public that the model has not heard,
//! they commit nothing, and the run goes on with those words. So a customer who writes while a run is at work is never
//! lost, and nothing stale is asked or sent.

use deskhand_adapters::postgres::articles::{self, Publish};
use deskhand_adapters::postgres::outbox::{self, Kind, New, desk_lane};
use deskhand_adapters::postgres::runs::{self, Lease, LeaseLost};
use deskhand_adapters::postgres::{approvals, learning, tickets};
use deskhand_core::article::ArticleState;
use deskhand_core::delivery::Ground;
use deskhand_core::effect::Effect;
use deskhand_core::facts::Facts;
use deskhand_core::id::{ApprovalId, TicketId};
use deskhand_core::next::{Ask, Finish, NewText, Record, Sending, Wait};
use deskhand_core::port::Bookkeeping;
use deskhand_core::run::{EffectState, Ending};
use deskhand_core::step::StepKind;
use deskhand_core::ticket::{Action, Mode, Source};
use deskhand_core::transcript::Transcript;
use serde_json::json;
use sqlx::{PgConnection, Postgres, Transaction};

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

/// Appends steps and takes them into the transcript.
pub async fn append(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    steps: Vec<StepKind>,
) -> anyhow::Result<Done> {
    let first = transcript.next_seq();
    match runs::append(&app.pool, lease, first, &steps, app.clock.moved()).await? {
        Ok(appended) => {
            appended.into_iter().for_each(|step| transcript.push(step));
            Ok(Done::Yes)
        }
        Err(LeaseLost) => lost_or_moved(app, lease).await,
    }
}

/// Why steps could not be appended: somebody else has the run, or an instruction took their place in it.
async fn lost_or_moved(app: &App, lease: &Lease) -> anyhow::Result<Done> {
    Ok(match runs::holds(&app.pool, lease).await? {
        true => Done::Moved,
        false => Done::Lost,
    })
}

/// A local change with its outcomes.
pub async fn record(app: &App, lease: &Lease, transcript: &mut Transcript, record: Record) -> anyhow::Result<Done> {
    if record.triage.is_none() && record.notes.is_empty() && record.superseded.is_empty() {
        return append(app, lease, transcript, record.steps).await;
    }
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, lease.ticket).await?;
    if runs::hold(&mut tx, lease).await?.is_err() {
        return Ok(Done::Lost);
    }
    if let Some(triage) = &record.triage {
        tickets::set_triage(&mut tx, lease.ticket, triage).await?;
        if let Some(by) = transcript.named_category(&triage.category) {
            learning::correct(&mut tx, lease.ticket, &triage.category, by).await?;
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
    let Ok(appended) = runs::append(&mut *tx, lease, first, &record.steps, app.clock.moved()).await? else {
        return lost_or_moved(app, lease).await;
    };
    tx.commit().await?;
    appended.into_iter().for_each(|step| transcript.push(step));
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// Opens the ticket's transaction, unless the ground moved or the lease is gone.
async fn begin<'a>(app: &App, lease: &Lease, heard: i64) -> anyhow::Result<Result<Transaction<'a, Postgres>, Done>> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, lease.ticket).await?;
    if runs::hold(&mut tx, lease).await?.is_err() {
        return Ok(Err(Done::Lost));
    }
    if tickets::has_unheard(&mut tx, lease.ticket, heard).await? {
        return Ok(Err(Done::Moved));
    }
    Ok(Ok(tx))
}

/// Opens approvals with their cards and lets go of the run. Nothing waits in memory.
pub async fn wait(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    wait: Wait,
) -> anyhow::Result<Done> {
    let mut tx = match begin(app, lease, wait.heard).await? {
        Ok(tx) => tx,
        Err(done) => return Ok(done),
    };
    // An approval that was decided since the facts were read is not waited for.
    if approvals::decided_unexecuted(&mut tx, lease.run).await? > facts.approvals.iter().filter(|a| a.is_due()).count()
    {
        return Ok(Done::Moved);
    }
    let mut steps = Vec::new();
    let mut effects = header(app, lease.ticket);
    for ask in &wait.asks {
        let id = open(app, &mut tx, lease, transcript, ask, false).await?;
        steps.push(StepKind::Asked {
            call: ask.call,
            approval: id,
        });
        effects.extend(card(app, lease.ticket, id, ask.effect.tool()));
    }
    if let Some(books) = &wait.bookkeeping {
        let (effect, step) = book(lease, facts, books);
        effects.extend(effect);
        steps.push(step);
    }
    if runs::append(&mut *tx, lease, transcript.next_seq(), &steps, app.clock.moved())
        .await?
        .is_err()
    {
        return lost_or_moved(app, lease).await;
    }
    outbox::enqueue(&mut tx, &effects).await?;
    outbox::refresh_header(&mut tx, lease.ticket).await?;
    if runs::wait(&mut tx, lease, None).await?.is_err() {
        return Ok(Done::Lost);
    }
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

/// The ticket's header, where there is a channel for it.
pub(super) fn header(app: &App, ticket: TicketId) -> Vec<New> {
    app.home_lane()
        .map(|lane| New::of(Kind::Header, ticket, lane))
        .into_iter()
        .collect()
}

fn card(app: &App, ticket: TicketId, id: ApprovalId, tool: &str) -> Option<New> {
    let lane = app.card_lane(tool)?;
    Some(New {
        approval: Some(id),
        ..New::of(Kind::Card, ticket, lane)
    })
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

/// Puts an effect into the outbox with its outcome, or applies an edit of the knowledge base.
pub async fn send(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    facts: &Facts,
    sending: Sending,
) -> anyhow::Result<Done> {
    let mut tx = match begin(app, lease, sending.heard).await? {
        Ok(tx) => tx,
        Err(done) => return Ok(done),
    };
    if !put_out(app, &mut tx, lease, transcript, facts, &sending).await? {
        return Ok(Done::Moved);
    }
    let steps = [sending.told];
    let Ok(appended) = runs::append(&mut *tx, lease, transcript.next_seq(), &steps, app.clock.moved()).await? else {
        return lost_or_moved(app, lease).await;
    };
    tx.commit().await?;
    appended.into_iter().for_each(|step| transcript.push(step));
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// The part of a sending that has nothing to do with a lease: also used for approvals whose run has moved on or ended.
/// False when the approval was executed already, or the article is no longer at its base.
pub(super) async fn put_out(
    app: &App,
    tx: &mut PgConnection,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    sending: &Sending,
) -> anyhow::Result<bool> {
    if let Some(id) = sending.approval
        && !approvals::execute_once(tx, id).await?
    {
        return Ok(false);
    }
    if let (Some(text), Effect::ProposeKnowledgeEdit(edit)) = (&sending.article, &sending.effect)
        && !sending.recorded
    {
        let author = facts
            .approvals
            .iter()
            .find(|approval| Some(approval.id) == sending.approval)
            .and_then(|approval| approval.decision.as_ref())
            .map_or_else(|| "deskhand".to_owned(), |decision| decision.by.clone());
        return publish(tx, edit, text, &author, lease, sending.approval).await;
    }
    let mut effects = Vec::new();
    let ground = Ground {
        heard: sending.heard,
        assignee: tickets::assignee(tx, lease.ticket).await?,
    };
    let kind = match &sending.effect {
        Effect::ReplyCustomer(_) => Some(Kind::Reply),
        Effect::EscalateTicket(_) => Some(Kind::Escalation),
        Effect::ProposeKnowledgeEdit(_) => None,
    };
    if let Some(kind) = kind {
        effects.push(New {
            run: Some(lease.run),
            approval: sending.approval,
            call: Some(sending.call),
            payload: json!({ "effect": sending.effect, "ground": ground }),
            recorded: sending.recorded,
            ..New::of(kind, lease.ticket, desk_lane(lease.ticket))
        });
    }
    if sending.recorded && sending.approval.is_none() {
        // Shadow mode shows what it would have asked, without buttons.
        let ask = Ask {
            call: sending.call,
            effect: sending.effect.clone(),
            digest: deskhand_core::digest::of(&sending.effect),
            why: "shadow mode".into(),
            marks: deskhand_core::policy::inspect(&sending.effect, transcript, facts),
            replaces: None,
        };
        let id = open(app, tx, lease, transcript, &ask, true).await?;
        effects.extend(header(app, lease.ticket));
        effects.extend(card(app, lease.ticket, id, sending.effect.tool()));
    }
    outbox::enqueue(tx, &effects).await?;
    outbox::refresh_header(tx, lease.ticket).await?;
    Ok(true)
}

async fn publish(
    tx: &mut PgConnection,
    edit: &deskhand_core::effect::Edit,
    text: &NewText,
    author: &str,
    lease: &Lease,
    approval: Option<ApprovalId>,
) -> anyhow::Result<bool> {
    let publish = Publish {
        id: &edit.article,
        title: &text.title,
        section: "",
        body: &text.body,
        language: &text.language,
        state: if text.retired {
            ArticleState::Retired
        } else {
            ArticleState::Published
        },
        base: text.base_revision,
        author,
        rationale: &edit.rationale,
        run: Some(lease.run),
        approval,
    };
    Ok(articles::publish(tx, &publish).await?.is_some())
}

/// The end of the run, once its receipts are there.
pub async fn finish(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    finish: Finish,
) -> anyhow::Result<Done> {
    let mut tx = match begin(app, lease, finish.heard).await? {
        Ok(tx) => tx,
        Err(done) => return Ok(done),
    };
    let mut steps = Vec::new();
    let ignored = facts
        .ticket
        .triage
        .as_ref()
        .is_some_and(|triage| triage.action == Action::Ignore);
    let mut effects = if ignored { Vec::new() } else { header(app, lease.ticket) };
    if let Some(books) = &finish.bookkeeping {
        let (effect, step) = book(lease, facts, books);
        effects.extend(effect);
        steps.push(step);
    }
    if runs::append(&mut *tx, lease, transcript.next_seq(), &steps, app.clock.moved())
        .await?
        .is_err()
    {
        return lost_or_moved(app, lease).await;
    }
    let trouble = match finish.ending {
        Ending::EmptyReply | Ending::MaxSteps | Ending::Budget => finish.ending.sentence(),
        Ending::Answered | Ending::Triaged | Ending::HandedOver | Ending::Recorded => "",
    };
    // What could not be delivered stays on the ticket until a person has seen to it.
    let undelivered = facts
        .effects
        .iter()
        .any(|effect| matches!(effect.state, EffectState::Dead | EffectState::Unknown));
    if !undelivered || !trouble.is_empty() {
        tickets::set_trouble(&mut tx, lease.ticket, trouble).await?;
    }
    outbox::enqueue(&mut tx, &effects).await?;
    outbox::refresh_header(&mut tx, lease.ticket).await?;
    if runs::wait(&mut tx, lease, Some(finish.ending)).await?.is_err() {
        return Ok(Done::Lost);
    }
    runs::complete_if_delivered(&mut tx, lease.run).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// A run that was queued only to look, and saw nothing new.
pub async fn finish_idle(app: &App, lease: &Lease) -> anyhow::Result<Done> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, lease.ticket).await?;
    if runs::finish_idle(&mut tx, lease).await?.is_err() {
        return Ok(Done::Lost);
    }
    tx.commit().await?;
    Ok(Done::Yes)
}

/// The desk does not know the ticket (any more): the run ends, and a person is told.
pub async fn end_without_ticket(app: &App, lease: &Lease, why: &str) -> anyhow::Result<()> {
    hand_to_person(app, lease, &format!("the desk does not know the ticket: {why}")).await
}

/// The run cannot go on by itself: it ends as handed over, and the ticket says why.
pub async fn hand_to_person(app: &App, lease: &Lease, why: &str) -> anyhow::Result<()> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, lease.ticket).await?;
    tickets::set_trouble(&mut tx, lease.ticket, why).await?;
    if runs::wait(&mut tx, lease, Some(Ending::HandedOver)).await?.is_err() {
        return Ok(());
    }
    runs::complete_if_delivered(&mut tx, lease.run).await?;
    outbox::enqueue(&mut tx, &header(app, lease.ticket)).await?;
    outbox::refresh_header(&mut tx, lease.ticket).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(())
}

/// A run failed for good: the ticket says so. A failure to say it is logged; the run's row says it as well.
pub async fn failed(app: &App, ticket: TicketId, why: &str) {
    let said = async {
        let mut tx = app.pool.begin().await?;
        tickets::set_trouble(&mut tx, ticket, &format!("The run failed: {why}")).await?;
        outbox::enqueue(&mut tx, &header(app, ticket)).await?;
        outbox::refresh_header(&mut tx, ticket).await?;
        tx.commit().await
    };
    if let Err(error) = said.await {
        tracing::warn!(%ticket, %error, "a failed run could not be shown on its ticket");
    }
}
