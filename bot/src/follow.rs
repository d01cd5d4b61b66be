//! Those who follow runs: one task for each run that somebody follows, which reads the store into a log for all of them.
//!
//! A reader holds a place in that log and nothing else: however slow it is and however many there are, the run and the
//! store do not notice. The log goes when its last reader does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use deskhand_adapters::postgres::runs::{self, Looked};
use deskhand_core::follow::{Cursor, Log, Look, Standing, Told, UnderWay};
use deskhand_core::id::{RunId, TicketId};
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::app::App;
use crate::live::Written;

/// How often the store is looked at when nothing in this process says that there is news.
const LOOK: Duration = Duration::from_secs(1);
/// How long news are gathered, so that a reply's words come in handfuls: a person's eye takes ten a second for one.
const GATHER: Duration = Duration::from_millis(100);
/// With so many readers in this process it is twice as long, and so on: what they cost stays below a bound.
const CROWD: u32 = 800;
/// But never longer than this.
const GATHER_MOST: Duration = Duration::from_millis(500);
/// How many events a reader takes from the log at once: what a slow one holds of its own.
const HANDFUL: usize = 32;

/// All runs that are followed in this process. Cheap to clone.
#[derive(Clone)]
pub struct Followers {
    runs: Arc<Mutex<HashMap<RunId, Weak<Followed>>>>,
    closed: Arc<watch::Sender<bool>>,
    /// Held by each reader once: its count is theirs and one more.
    readers: Arc<()>,
}

impl Default for Followers {
    fn default() -> Self {
        Self {
            runs: Arc::default(),
            closed: Arc::new(watch::Sender::new(false)),
            readers: Arc::new(()),
        }
    }
}

/// One run with its log. Dropped with its last reader.
struct Followed {
    shared: Arc<Shared>,
    of: Followers,
    _task: AbortOnDropHandle<()>,
}

struct Shared {
    run: RunId,
    log: RwLock<Log>,
    /// Counts what was new.
    news: watch::Sender<u64>,
    /// Held while the store is looked at; what the first look found.
    first: tokio::sync::Mutex<Option<Found>>,
}

/// Whether there is such a run, and on which ticket.
type Found = Option<TicketId>;

/// Somebody who follows a run from a place on.
pub struct Reader {
    followed: Arc<Followed>,
    ticket: TicketId,
    cursor: Cursor,
    news: watch::Receiver<u64>,
    closed: watch::Receiver<bool>,
    _counted: Arc<()>,
}

impl Followers {
    /// Follows a run from a place on. `None` when there is no such run.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn follow(&self, app: &App, run: RunId, from: Cursor) -> sqlx::Result<Option<Reader>> {
        let followed = self.followed(app, run);
        let found = *followed.shared.first.lock().await;
        let found = match found {
            Some(found) => found,
            None => followed.shared.look(app).await?,
        };
        Ok(found.map(|ticket| Reader {
            ticket,
            cursor: from,
            news: followed.shared.news.subscribe(),
            closed: self.closed.subscribe(),
            _counted: Arc::clone(&self.readers),
            followed,
        }))
    }

    /// All streams end: the process is about to.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// How long news are gathered for as many readers as there are.
    fn gather(&self) -> Duration {
        let readers = u32::try_from(Arc::strong_count(&self.readers)).unwrap_or(u32::MAX);
        gather(readers.saturating_sub(1))
    }

    fn followed(&self, app: &App, run: RunId) -> Arc<Followed> {
        let mut runs = self.runs();
        if let Some(followed) = runs.get(&run).and_then(Weak::upgrade) {
            return followed;
        }
        let shared = Arc::new(Shared {
            run,
            log: RwLock::default(),
            news: watch::Sender::new(0),
            first: tokio::sync::Mutex::default(),
        });
        let task = tokio::spawn(keep(app.clone(), Arc::clone(&shared)));
        let followed = Arc::new(Followed {
            shared,
            of: self.clone(),
            _task: AbortOnDropHandle::new(task),
        });
        runs.insert(run, Arc::downgrade(&followed));
        followed
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Weak<Followed>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let mut runs = self.of.runs();
        if runs
            .get(&self.shared.run)
            .is_some_and(|followed| followed.strong_count() == 0)
        {
            runs.remove(&self.shared.run);
        }
    }
}

impl Reader {
    pub fn ticket(&self) -> TicketId {
        self.ticket
    }

    /// What comes next; waits for it. `None` after the end of the run, and when the process is about to end.
    pub async fn next(&mut self) -> Option<Vec<Told>> {
        loop {
            if *self.closed.borrow() {
                return None;
            }
            // Taken as seen before looking, so that nothing that comes in between is missed.
            self.news.borrow_and_update();
            let told = self.ready();
            if !told.is_empty() {
                return Some(told);
            }
            if self.cursor.ended {
                return None;
            }
            tokio::select! {
                news = self.news.changed() => if news.is_err() { return None },
                _ = self.closed.wait_for(|closed| *closed) => return None,
            }
        }
    }

    /// What is there already; empty when there is nothing new.
    pub fn ready(&mut self) -> Vec<Told> {
        self.followed.shared.log().after(&mut self.cursor, HANDFUL)
    }

    /// Whether the reader was told the end, and there is nothing after it.
    pub fn is_done(&mut self) -> bool {
        self.cursor.ended && self.followed.shared.log().after(&mut self.cursor.clone(), 1).is_empty()
    }

    /// Looks at the store now: what is there is [`ready`](Self::ready) after that.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn look(&self, app: &App) -> sqlx::Result<()> {
        self.followed.shared.look(app).await.map(|_| ())
    }

    /// Reads something from what is known of the run here.
    pub fn with_log<T>(&self, read: impl FnOnce(&Log) -> T) -> T {
        read(&self.followed.shared.log())
    }
}

/// Reads the store into the log for as long as there are readers, or until the run is over.
async fn keep(app: App, shared: Arc<Shared>) {
    let stirred = app.live.watch(shared.run);
    let mut failing = false;
    loop {
        match shared.look(&app).await {
            Ok(Some(_)) => failing = false,
            Ok(None) => return,
            Err(error) => {
                if !failing {
                    tracing::warn!(run.id = %shared.run, %error, "a followed run cannot be read; trying again");
                }
                failing = true;
            }
        }
        if shared.log().is_over() {
            return;
        }
        wait_for_news(&app, &shared, &stirred).await;
    }
}

/// Comes back when the store is to be looked at again. Meanwhile the words of a reply that is written in this process
/// come from memory.
async fn wait_for_news(app: &App, shared: &Shared, stirred: &Notify) {
    let due = tokio::time::sleep(LOOK);
    tokio::pin!(due);
    // What was written during the look is told at once.
    let mut length = 0;
    loop {
        tokio::select! {
            () = stirred.notified() => break,
            () = &mut due => return,
            () = app.live.grows(shared.run, length) => {
                tokio::time::sleep(app.followers.gather()).await;
                if let Some(written) = app.live.of(shared.run).map(here) {
                    if !shared.log().goes_on_with(&written) {
                        return;
                    }
                    length = written.text.len();
                    shared.take(|log| log.writing(written));
                }
            }
        }
    }
    tokio::time::sleep(app.followers.gather()).await;
}

fn gather(readers: u32) -> Duration {
    (GATHER + GATHER * readers / CROWD).min(GATHER_MOST)
}

fn here(written: Written) -> UnderWay {
    UnderWay {
        attempt: written.attempt,
        after: written.after,
        text: written.text,
        lags: false,
    }
}

impl Shared {
    /// One look at the store: the run's state, then the steps after those that are known, then what is written.
    async fn look(&self, app: &App) -> sqlx::Result<Found> {
        let mut first = self.first.lock().await;
        let written = app.live.of(self.run);
        let Some(looked) = runs::look(&app.pool, self.run, written.is_none()).await? else {
            *first = Some(None);
            return Ok(None);
        };
        let known = self.log().last();
        let steps = match looked.last {
            Some(last) if last > known => runs::steps(&app.pool, self.run, known).await?,
            Some(_) | None => Vec::new(),
        };
        let found = Some(TicketId(looked.ticket_id));
        let seen = seen(&looked);
        let writing = match written {
            Some(written) => Some(here(written)),
            None => elsewhere(looked),
        };
        // All at once, so that nobody is told the end before the last step.
        self.take(|log| {
            let news = [
                log.append(steps),
                writing.is_some_and(|writing| log.writing(writing)),
                log.look(seen),
            ];
            news.contains(&true)
        });
        *first = Some(found);
        Ok(found)
    }

    fn take(&self, change: impl FnOnce(&mut Log) -> bool) {
        let news = change(&mut self.log_to_change());
        if news {
            self.news.send_modify(|count| *count += 1);
        }
    }

    fn log(&self) -> RwLockReadGuard<'_, Log> {
        self.log.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_to_change(&self) -> RwLockWriteGuard<'_, Log> {
        self.log.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn seen(looked: &Looked) -> Look {
    let ending = looked.ending.as_deref().and_then(|ending| ending.parse().ok());
    let standing = looked.state.parse().ok().map(|state| Standing {
        state,
        paused: looked.paused,
        ending,
    });
    Look {
        attempt: looked.attempt,
        standing,
        settled: looked.quiet && standing.is_some_and(|standing| standing.state.is_final()),
    }
}

/// A reply as another replica put it into the store last.
fn elsewhere(looked: Looked) -> Option<UnderWay> {
    Some(UnderWay {
        attempt: looked.live_attempt?,
        after: looked.live_after?,
        text: looked.live_text?,
        lags: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_told_in_larger_handfuls_and_still_twice_a_second() {
        assert_eq!(gather(0), GATHER);
        assert_eq!(gather(CROWD), GATHER * 2);
        assert_eq!(gather(u32::MAX), GATHER_MOST);
    }
}
