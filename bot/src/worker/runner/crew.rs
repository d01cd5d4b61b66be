//! The runs at work in this process, each with its slot, its lease and its task; and the seats in which a run that was
//! resumed is handed over without a way through the queue.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use deskhand_adapters::postgres::runs::Lease;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use super::pursue_and_log;
use crate::app::App;
use crate::worker::control::Hand;

pub(crate) struct Crew {
    pub(super) owner: String,
    pub(super) hand: Hand,
    pub(super) tasks: TaskTracker,
    slots: Arc<Semaphore>,
}

impl Crew {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            owner: uuid::Uuid::now_v7().to_string(),
            hand: Hand::default(),
            tasks: TaskTracker::new(),
            slots: Arc::new(Semaphore::new(slots)),
        })
    }

    pub(super) fn free_slots(&self) -> Vec<OwnedSemaphorePermit> {
        std::iter::from_fn(|| Arc::clone(&self.slots).try_acquire_owned().ok()).collect()
    }

    /// Works a leased run in a task of its own, which has the slot until it leaves the run.
    pub(super) fn start(&self, app: &App, lease: Lease, slot: OwnedSemaphorePermit) {
        let (app, hand, slots) = (app.clone(), self.hand.clone(), Arc::clone(&self.slots));
        let (reins, lost) = hand.take(&lease);
        self.tasks.spawn(async move {
            app.at_work.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                () = pursue_and_log(&app, &lease, reins) => {}
                // The lease is gone or the process ends: what was not appended never happened.
                () = lost.let_go() => {}
            }
            // A run that a click resumed meanwhile is here under its next attempt.
            hand.forget(&lease);
            app.at_work.fetch_sub(1, Ordering::Relaxed);
            // Only a full crew leaves runs in the queue that it saw there.
            let was_full = slots.available_permits() == 0;
            drop(slot);
            if was_full {
                app.runs_ready.notify_one();
            }
        });
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
