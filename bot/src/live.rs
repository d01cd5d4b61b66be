//! Replies while they are written: what a model has said so far, for whoever looks on.
//!
//! A view, never the truth: the reply itself becomes a step. In this process a reader sees each word as it comes; other
//! replicas see it from the table `live`, where it is put about once a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use deskhand_core::id::RunId;
use deskhand_core::port::Sink;
use tokio::sync::{Notify, watch};

/// The text of one reply so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Which claim of the run writes it: one that was broken off begins anew under the next.
    pub attempt: i32,
    /// The step after which it is written.
    pub after: i32,
    pub text: String,
}

/// All replies that this process has under way. Cheap to clone.
#[derive(Clone, Default)]
pub struct Live {
    runs: Arc<Mutex<HashMap<RunId, Arc<Reply>>>>,
    /// Whoever follows a run is woken when something of it changes here.
    followed: Arc<Mutex<HashMap<RunId, Weak<Notify>>>>,
}

struct Reply {
    attempt: i32,
    after: i32,
    text: Mutex<String>,
    length: watch::Sender<usize>,
}

impl Live {
    /// A reply begins; what it is written to is its model's sink.
    pub fn begin(&self, run: RunId, attempt: i32, after: i32) -> Writing {
        let reply = Arc::new(Reply {
            attempt,
            after,
            text: Mutex::default(),
            length: watch::Sender::new(0),
        });
        self.runs().insert(run, Arc::clone(&reply));
        self.stir(run);
        Writing {
            live: self.clone(),
            run,
            reply,
        }
    }

    /// What is written of a run's reply in this process.
    pub fn of(&self, run: RunId) -> Option<Written> {
        let reply = self.runs().get(&run).cloned()?;
        Some(reply.written())
    }

    /// Comes back when a run's reply has grown beyond a length; never, where none is written here.
    pub async fn grows(&self, run: RunId, beyond: usize) {
        let reply = self.runs().get(&run).cloned();
        if let Some(reply) = reply {
            let mut length = reply.length.subscribe();
            drop(reply);
            if length.wait_for(|length| *length > beyond).await.is_ok() {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// What [`stir`](Self::stir) wakes, for as long as it is kept. One follower for each run.
    pub fn watch(&self, run: RunId) -> Arc<Notify> {
        let wake = Arc::new(Notify::new());
        let mut followed = self.followed();
        followed.retain(|_, wake| wake.strong_count() > 0);
        followed.insert(run, Arc::downgrade(&wake));
        wake
    }

    /// There is news of a run in the store: a step, or another state.
    pub fn stir(&self, run: RunId) {
        let wake = self.followed().get(&run).and_then(Weak::upgrade);
        if let Some(wake) = wake {
            wake.notify_one();
        }
    }

    fn followed(&self) -> MutexGuard<'_, HashMap<RunId, Weak<Notify>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Reply>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reply {
    fn written(&self) -> Written {
        Written {
            attempt: self.attempt,
            after: self.after,
            text: self.text.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// The pen of one reply. Dropping it ends the view.
pub struct Writing {
    live: Live,
    run: RunId,
    reply: Arc<Reply>,
}

/// Reads along with a [`Writing`].
#[derive(Clone)]
pub struct Reading {
    reply: Arc<Reply>,
}

impl Writing {
    pub fn reading(&self) -> Reading {
        Reading {
            reply: Arc::clone(&self.reply),
        }
    }
}

impl Reading {
    pub fn written(&self) -> Written {
        self.reply.written()
    }
}

impl Sink for Writing {
    fn text(&mut self, delta: &str) {
        let length = {
            let mut text = self.reply.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(delta);
            text.len()
        };
        self.reply.length.send_replace(length);
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut runs = self.live.runs();
        if runs.get(&self.run).is_some_and(|reply| Arc::ptr_eq(reply, &self.reply)) {
            runs.remove(&self.run);
        }
    }
}
