//! One recorded ticket at work again: what core decides is done here, with reads only.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use deskhand_adapters::llm::Offline;
use deskhand_adapters::postgres::{learning, runs};
use deskhand_core::budget::Spent;
use deskhand_core::context;
use deskhand_core::facts::Role;
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::offline::Learned;
use deskhand_core::port::{Model, ModelError};
use deskhand_core::replay::{Change, Conclusion, Replay, Turn, changes};
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::step::StepKind;
use deskhand_core::ticket::Mode;
use deskhand_core::transcript::Transcript;

use crate::app::App;
use crate::outside;
use crate::worker::facts::{self, For};
use crate::worker::perform;

/// How often a model that does not answer is asked again.
const TRIES: u32 = 4;

/// What came of replaying one ticket.
#[derive(Clone, Debug)]
pub(super) struct Replayed {
    pub(super) ticket: TicketId,
    /// Why there is nothing to compare, a sentence.
    pub(super) missing: Option<String>,
    pub(super) changes: Vec<Change>,
    pub(super) remarks: Vec<String>,
    pub(super) model: String,
    pub(super) runs: usize,
    pub(super) requests: usize,
    pub(super) spent: Spent,
    pub(super) took: Duration,
}

pub(super) struct Replayer<'a> {
    app: &'a App,
    model: Arc<dyn Model>,
    /// The artifacts that are kept, oldest first.
    learned: Option<Vec<(i64, DateTime<Utc>)>>,
    /// The offline model as it was by then, with the artifact's number.
    offline: Option<(Option<i64>, Arc<dyn Model>)>,
}

impl<'a> Replayer<'a> {
    pub(super) fn new(app: &'a App, model: Arc<dyn Model>) -> Self {
        Self {
            app,
            model,
            learned: None,
            offline: None,
        }
    }

    /// Every run of the ticket that asked a model, each from where it began.
    pub(super) async fn ticket(&mut self, ticket: TicketId) -> anyhow::Result<Replayed> {
        let started = Instant::now();
        let mut done = Replayed {
            ticket,
            missing: None,
            changes: Vec::new(),
            remarks: Vec::new(),
            model: self.model.name().to_owned(),
            runs: 0,
            requests: 0,
            spent: Spent::default(),
            took: Duration::ZERO,
        };
        let (mut then, mut now) = (Conclusion::default(), Conclusion::default());
        let rows = runs::of_ticket(&self.app.pool, ticket).await?;
        for row in rows.iter().rev() {
            let recorded = runs::transcript(&self.app.pool, RunId(row.id)).await?;
            if recorded.replies() == 0 {
                continue;
            }
            let replay = match self.run(RunId(row.id), ticket, &recorded, &mut done).await? {
                Ok(replay) => replay,
                Err(why) => {
                    done.missing = Some(why);
                    return Ok(done);
                }
            };
            done.runs += 1;
            then = then.and(Conclusion::of(&recorded));
            now = now.and(Conclusion::of(replay.transcript()));
        }
        if done.runs == 0 {
            done.missing = Some("no run of it has asked a model yet".into());
        }
        done.changes = changes(&then, &now);
        done.took = started.elapsed();
        Ok(done)
    }

    /// The inner error is why the model could not be asked to the end.
    async fn run(
        &mut self,
        run: RunId,
        ticket: TicketId,
        recorded: &Transcript,
        done: &mut Replayed,
    ) -> anyhow::Result<Result<Replay, String>> {
        let model = self.model_of(recorded, &mut done.remarks).await?;
        let mut replay = Replay::of(recorded);
        let of = For {
            run,
            ticket,
            mode: Mode::Shadow,
            role: Role::Main,
        };
        loop {
            let read = facts::read(self.app, of, replay.transcript()).await?;
            let facts = replay.dress(read);
            match replay.turn(&facts) {
                Turn::Ask(request) => match ask(model.as_ref(), &request).await {
                    Ok(reply) => {
                        done.requests += 1;
                        done.spent += facts.budget.of(model.name(), reply.usage);
                        replay.replied(model.name(), reply);
                    }
                    Err(error) => return Ok(Err(format!("{} did not answer ({error})", model.name()))),
                },
                Turn::Look(looks) => {
                    let mut steps = perform::looks(self.app, &facts, &looks).await;
                    self.shorten(&mut steps);
                    replay.looked(steps);
                }
                Turn::Again => {}
                Turn::Over => return Ok(Ok(replay)),
            }
        }
    }

    /// As a run would be shown it; the whole is not kept, since nothing is.
    fn shorten(&self, steps: &mut [StepKind]) {
        for step in steps {
            if let StepKind::Outcome { outcome, .. } = step
                && let Some(short) = context::shorten(&outcome.text, self.app.config.limits.max_tool_result, "replay")
            {
                outcome.text = short;
            }
        }
    }

    /// The offline model with what it had learned by then; another one as it is.
    async fn model_of(&mut self, recorded: &Transcript, remarks: &mut Vec<String>) -> anyhow::Result<Arc<dyn Model>> {
        if self.model.name() != "offline" {
            return Ok(Arc::clone(&self.model));
        }
        let first = recorded.steps().iter().find_map(|step| match &step.kind {
            StepKind::Replied { .. } => Some(step.at),
            _ => None,
        });
        let kept = match &self.learned {
            Some(kept) => kept,
            None => self.learned.insert(learning::kept(&self.app.pool).await?),
        };
        let known = |at: DateTime<Utc>| {
            kept.iter()
                .rfind(|(_, built_at)| *built_at <= at)
                .map(|(version, _)| *version)
        };
        let version = first.and_then(known);
        if version.is_none() && kept.first().is_some_and(|(version, _)| *version > 1) {
            remarks.push("What the offline model had learned by then is not kept; it goes by nothing learned.".into());
        }
        if let Some((of, model)) = &self.offline
            && *of == version
        {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = Arc::new(Offline::new(outside::offline_model(&self.app.config)));
        if let Some(version) = version
            && let Some(bytes) = learning::bytes(&self.app.pool, version).await?
        {
            let learned: Learned = tokio::task::spawn_blocking(move || serde_json::from_slice(&bytes)).await??;
            model.takes_up(&Arc::new(learned));
        }
        self.offline = Some((version, Arc::clone(&model)));
        Ok(model)
    }
}

/// Asks, and asks again where that may help.
async fn ask(model: &dyn Model, request: &ModelRequest) -> Result<ModelReply, ModelError> {
    for attempt in 1.. {
        let error = match model.reply(request, &mut ()).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let told = match &error {
            ModelError::Transient { retry_after, .. } if attempt < TRIES => *retry_after,
            ModelError::Transient { .. }
            | ModelError::TooLong { .. }
            | ModelError::Permanent { .. }
            | ModelError::Cancelled => return Err(error),
        };
        let wait = retry::delay(attempt, 0.5, told, &RetryPolicy::MODEL).unwrap_or(RetryPolicy::MODEL.cap);
        tokio::time::sleep(wait).await;
    }
    Err(ModelError::Cancelled)
}
