//! What can be in the way of an embedded server, each in a sentence that says what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no embedded server. None of these goes away by trying again unchanged, except [`EmbeddedError::Busy`].
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Neither PATH nor the usual places have a server.
    #[error(
        "No Postgres server was found on PATH or in the usual places. Install one: `{command}`; or set DATABASE_URL to a server that runs already"
    )]
    NoServer { command: String },
    /// The setting names a folder without the programs.
    #[error(
        "DESKHAND_PG_BIN is {}, but there are no programs `postgres` and `initdb` there that the account {account} may run",
        folder.display()
    )]
    NoProgramsThere { folder: PathBuf, account: String },
    /// There are servers, all of them too old.
    #[error("Deskhand needs Postgres {minimum} or newer, but found only {found}; install a newer one: `{command}`")]
    TooOld {
        minimum: u32,
        found: String,
        command: String,
    },
    /// The cluster was made by another major version than any that is installed.
    #[error(
        "The database in {} was made by Postgres {wanted}, but only {found} is installed: install Postgres {wanted}, or name its programs in DESKHAND_PG_BIN, or move that folder away to begin with an empty database",
        cluster.display()
    )]
    OtherVersion {
        cluster: PathBuf,
        wanted: String,
        found: String,
    },
    /// The package could not be installed.
    #[error("Installing Postgres failed; run `{command}` yourself and try again. It said: {said}")]
    Install { command: String, said: String },
    /// The folder has files in it that are not ours.
    #[error(
        "{} is not empty and was not made by Deskhand, so it is left alone: choose another data folder (DESKHAND_DATA) or move it away",
        folder.display()
    )]
    Foreign { folder: PathBuf },
    /// A folder belongs to somebody who could play tricks with it, or whom we cannot be.
    #[error(
        "{} belongs to the account {owner}, not to {wanted}: start Deskhand as {owner}, or choose another data folder (DESKHAND_DATA)",
        folder.display()
    )]
    OtherAccount {
        folder: PathBuf,
        owner: String,
        wanted: String,
    },
    /// Postgres refuses to run as root, hence to use root's files.
    #[error(
        "The database in {0} belongs to root, which Postgres refuses: give it to an account of its own, `chown -R postgres {0}`",
        cluster.display()
    )]
    BelongsToRoot { cluster: PathBuf },
    /// Others may enter a folder that protects the database.
    #[error("{0} must be a folder of the account {account} that nobody else may enter: `chmod 700 {0}`", folder.display())]
    Open { folder: PathBuf, account: String },
    /// Others may write where only we should.
    #[error("{0} can be changed by other accounts: `chmod go-w {0}`", folder.display())]
    Writable { folder: PathBuf },
    /// An existing cluster lies where its account cannot go (any more).
    #[error(
        "The account {account} cannot enter {}, where its database lies: let it pass (`chmod o+x` on the folders above)",
        folder.display()
    )]
    Barred { folder: PathBuf, account: String },
    /// Root without any account to hand the server to.
    #[error(
        "Postgres refuses to run as root, and there is neither an account `postgres` nor `nobody` to run it as: make one with `useradd --system postgres`"
    )]
    NoAccount,
    /// Somebody else has been starting or stopping this server for a minute.
    #[error("Another Deskhand has been starting or stopping the database in {} for a minute; try again", home.display())]
    Busy { home: PathBuf },
    /// `initdb` failed.
    #[error("Postgres could not make a database in {}: {said}", home.display())]
    NotMade { home: PathBuf, said: String },
    /// The server exited or did not answer in time.
    #[error("Postgres did not start; its log is {}, the end of it: {said}", log.display())]
    NotStarted { log: PathBuf, said: String },
    /// The server was asked to stop and is still there.
    #[error("Postgres (process {pid}) did not stop within half a minute")]
    NotStopped { pid: i32 },
    /// The operating system refused.
    #[error("Deskhand cannot {act} {}: {source}", path.display())]
    Io {
        act: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The server answered, but not as expected.
    #[error("The embedded Postgres refused: {0}")]
    Database(#[source] sqlx::Error),
}

impl EmbeddedError {
    /// For `map_err`: what was tried, on what.
    pub(super) fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { act, path, source }
    }
}
