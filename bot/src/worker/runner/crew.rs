//! The runs at work in this process, each with its slot, its lease and its task; and the seats in which a run that was
//! resumed is handed over without a way through the queue.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskhand_adapters::postgres::runs::Lease;
use deskhand_core::id::RunId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::pursue_and_log;
use crate::app::App;

pub(crate) struct Crew {
    pub(super) owner: String,
    pub(super) held: Arc<Held>,
    pub(super) tasks: TaskTracker,
    slots: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Crew {
    pub(super) fn new(slots: usize, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            owner: uuid::Uuid::now_v7().to_string(),
            held: Arc::default(),
            tasks: TaskTracker::new(),
            slots: Arc::new(Semaphore::new(slots)),
            stop,
        })
    }

    pub(super) fn free_slots(&self) -> Vec<OwnedSemaphorePermit> {
        std::iter::from_fn(|| Arc::clone(&self.slots).try_acquire_owned().ok()).collect()
    }

    /// Works a leased run in a task of its own, which has the slot until it leaves the run.
    pub(super) fn start(&self, app: &App, lease: Lease, slot: OwnedSemaphorePermit) {
        let (app, held, stop) = (app.clone(), Arc::clone(&self.held), self.stop.child_token());
        held.locked().insert(lease.run, (lease.clone(), stop.clone()));
        self.tasks.spawn(async move {
            app.at_work.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                () = pursue_and_log(&app, &lease) => {}
                // The lease is gone or the process ends: what was not appended never happened.
                () = stop.cancelled() => {}
            }
            // A run that a click resumed meanwhile is here under its next attempt.
            held.forget(&lease);
            app.at_work.fetch_sub(1, Ordering::Relaxed);
            drop(slot);
            app.runs_ready.notify_one();
        });
    }
}

/// Leases of this process, renewed together.
#[derive(Default)]
pub(super) struct Held {
    leases: Mutex<HashMap<RunId, (Lease, CancellationToken)>>,
}

impl Held {
    fn locked(&self) -> MutexGuard<'_, HashMap<RunId, (Lease, CancellationToken)>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn leases(&self) -> Vec<Lease> {
        self.locked().values().map(|(lease, _)| lease.clone()).collect()
    }

    /// Stops whoever works under this lease.
    pub(super) fn give_up(&self, lease: &Lease) {
        if let Some((_, stop)) = self.locked().get(&lease.run).filter(|(now, _)| now == lease) {
            stop.cancel();
        }
    }

    fn forget(&self, lease: &Lease) {
        let mut leases = self.locked();
        if leases.get(&lease.run).is_some_and(|(now, _)| now == lease) {
            leases.remove(&lease.run);
        }
    }
}

/// Where a run that was just resumed can sit down, as long as a runner works in this process.
#[derive(Default)]
pub struct Seats {
    crew: Mutex<Option<Arc<Crew>>>,
}

impl Seats {
    pub(super) fn open(&self, crew: Arc<Crew>) {
        *self.crew.lock().unwrap_or_else(PoisonError::into_inner) = Some(crew);
    }

    pub(super) fn close(&self) {
        *self.crew.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A free slot, if there is one: whoever has it may lease one run in its name.
    pub fn take(&self) -> Option<Seat> {
        let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let slot = Arc::clone(&crew.slots).try_acquire_owned().ok()?;
        Some(Seat { crew, slot })
    }
}

pub struct Seat {
    crew: Arc<Crew>,
    slot: OwnedSemaphorePermit,
}

impl Seat {
    /// In whose name the run is leased.
    pub fn owner(&self) -> &str {
        &self.crew.owner
    }

    /// Starts the run, whose lease is committed by now.
    pub fn fill(self, app: &App, lease: Lease) {
        self.crew.start(app, lease, self.slot);
    }
}
