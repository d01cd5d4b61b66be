//! Two lock files, so that any number of processes agree on one server.
//!
//! `start.lock` is held alone while a server is being started, joined or stopped. `users.lock` is held shared by each
//! process for as long as it uses the server; who can have it alone is the only one. The kernel drops both with the
//! process, so a kill leaves nothing behind. `users.lock` is only ever touched under `start.lock`, so its unlocked
//! moments are seen by nobody.

use std::fs::File;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::error::EmbeddedError;
use super::home::Home;

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// The right to start or stop the server.
#[derive(Debug)]
pub(super) struct StartLock(#[expect(dead_code, reason = "held for its drop, which unlocks")] Flock<File>);

impl StartLock {
    /// Waits for whoever is starting or stopping, and says so.
    pub(super) async fn wait(home: &Home, say: &(dyn Fn(&str) + Send + Sync)) -> Result<Self, EmbeddedError> {
        if let Some(lock) = Self::attempt(home)? {
            return Ok(lock);
        }
        say("Another Deskhand is starting or stopping this database; waiting for it.");
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            // A lock with a time limit is not to be had from flock(2); asking is.
            tokio::time::sleep(PAUSE).await;
            if let Some(lock) = Self::attempt(home)? {
                return Ok(lock);
            }
        }
        Err(EmbeddedError::Busy {
            home: home.folder().to_owned(),
        })
    }

    /// The same without a runtime.
    pub(super) fn wait_blocking(home: &Home) -> Result<Self, EmbeddedError> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(lock) = Self::attempt(home)? {
                return Ok(lock);
            }
            if Instant::now() >= end {
                return Err(EmbeddedError::Busy {
                    home: home.folder().to_owned(),
                });
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn attempt(home: &Home) -> Result<Option<Self>, EmbeddedError> {
        Ok(attempt(home, "start.lock", FlockArg::LockExclusiveNonblock)?.map(Self))
    }
}

/// A place among those who use the server.
#[derive(Debug)]
pub(super) struct Seat(Flock<File>);

impl Seat {
    /// Takes a place, and says whether it is the only one taken.
    pub(super) fn take(home: &Home, _starting: &StartLock) -> Result<(Self, bool), EmbeddedError> {
        let alone = attempt(home, USERS, FlockArg::LockExclusiveNonblock)?.is_some();
        match attempt(home, USERS, FlockArg::LockSharedNonblock)? {
            Some(lock) => Ok((Self(lock), alone)),
            None => Err(EmbeddedError::Busy {
                home: home.folder().to_owned(),
            }),
        }
    }

    /// Gives the place up; true when no other is taken.
    pub(super) fn leave(self, home: &Home, _starting: &StartLock) -> Result<bool, EmbeddedError> {
        drop(self.0);
        Ok(attempt(home, USERS, FlockArg::LockExclusiveNonblock)?.is_some())
    }
}

const USERS: &str = "users.lock";

fn attempt(home: &Home, name: &str, how: FlockArg) -> Result<Option<Flock<File>>, EmbeddedError> {
    match Flock::lock(home.open(name)?, how) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, refused)) => Err(EmbeddedError::io("lock", &home.folder().join(name))(refused.into())),
    }
}
