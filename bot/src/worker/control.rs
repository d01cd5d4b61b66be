//! The runs that this process has in hand: their leases, renewed together, and what people do to them meanwhile.
//!
//! A run that is paused or stopped is told so within a moment, also in the middle of a reply that its model writes; one
//! whose lease is gone is let go of at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskhand_adapters::postgres::runs::{self, Lease, Word};
use deskhand_core::id::RunId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// How long a word of another replica may go unheard; one of this process is heard at once.
const LOOK: Duration = Duration::from_millis(400);

/// What is to become of a run at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pull {
    GoOn,
    Word(Word),
    /// Somebody else has the run, or this process ends.
    LetGo,
}

/// What a pursuit listens to.
pub struct Reins {
    pull: watch::Receiver<Pull>,
}

impl Reins {
    /// What a person did to the run, if anything.
    pub fn word(&self) -> Option<Word> {
        match *self.pull.borrow() {
            Pull::Word(word) => Some(word),
            Pull::GoOn | Pull::LetGo => None,
        }
    }

    /// Comes back when a person pauses or stops the run.
    pub async fn pulled(&mut self) -> Word {
        loop {
            if let Some(word) = self.word() {
                return word;
            }
            if self.pull.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Comes back when the run must be let go of as it is.
    pub async fn let_go(mut self) {
        let gone = self.pull.wait_for(|pull| *pull == Pull::LetGo).await.is_ok();
        if !gone {
            std::future::pending::<()>().await;
        }
    }
}

/// Each run with its lease and the end of the reins that is pulled.
type Runs = HashMap<RunId, (Lease, watch::Sender<Pull>)>;

/// The runs in hand. Cheap to clone; all clones are the same hand.
#[derive(Clone, Default)]
pub struct Hand {
    runs: Arc<Mutex<Runs>>,
}

impl Hand {
    /// Takes a run in hand: reins for its pursuit, and others for whoever waits beside it.
    pub fn take(&self, lease: &Lease) -> (Reins, Reins) {
        let (sender, pull) = watch::channel(Pull::GoOn);
        self.runs().insert(lease.run, (lease.clone(), sender));
        (Reins { pull: pull.clone() }, Reins { pull })
    }

    /// Drops a run, unless it is in hand under another lease by now.
    pub fn forget(&self, lease: &Lease) {
        let mut runs = self.runs();
        if runs.get(&lease.run).is_some_and(|(now, _)| now == lease) {
            runs.remove(&lease.run);
        }
    }

    pub fn let_go_of_all(&self) {
        for (_, pull) in self.runs().values() {
            pull.send_replace(Pull::LetGo);
        }
    }

    fn leases(&self) -> Vec<Lease> {
        self.runs().values().map(|(lease, _)| lease.clone()).collect()
    }

    fn pull(&self, run: RunId, how: Pull) {
        if let Some((_, pull)) = self.runs().get(&run) {
            pull.send_if_modified(|now| std::mem::replace(now, how) != how);
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the leases until it is cancelled.
    pub async fn renew(self, app: App, cancel: CancellationToken) {
        let every = app.config.limits.lease / 3;
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = cancel.cancelled() => return,
            }
            let leases = self.leases();
            if leases.is_empty() {
                continue;
            }
            match runs::renew(&app.pool, &leases, app.config.limits.lease.as_secs_f64()).await {
                Ok(kept) => {
                    let lost = leases.into_iter().filter(|lease| !kept.contains(&lease.run));
                    self.lose(&app, lost.collect()).await;
                }
                Err(error) => tracing::warn!(%error, "leases could not be renewed; trying again"),
            }
        }
    }

    /// Lets go of runs whose leases are gone. One that was stopped has no lease either, but last words to write down.
    async fn lose(&self, app: &App, lost: Vec<Lease>) {
        if lost.is_empty() {
            return;
        }
        let words = match runs::words(&app.pool, &lost).await {
            Ok(words) => words,
            Err(error) => {
                tracing::warn!(%error, "stopped runs could not be looked up; they are let go of");
                Vec::new()
            }
        };
        for lease in lost {
            let word = words.iter().find(|(run, _)| *run == lease.run);
            let same = self.runs().get(&lease.run).is_some_and(|(now, _)| *now == lease);
            if same {
                self.pull(lease.run, word.map_or(Pull::LetGo, |(_, word)| Pull::Word(*word)));
            }
        }
    }

    /// Listens for what people do to the runs in hand, until it is dropped.
    pub async fn listen(self, app: App) {
        loop {
            // Interest is registered before looking.
            let told = app.run_words.notified();
            let leases = self.leases();
            if !leases.is_empty() {
                match runs::words(&app.pool, &leases).await {
                    Ok(words) => words
                        .into_iter()
                        .for_each(|(run, word)| self.pull(run, Pull::Word(word))),
                    Err(error) => tracing::warn!(%error, "paused runs could not be looked up; trying again"),
                }
            }
            tokio::select! {
                () = told => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}
