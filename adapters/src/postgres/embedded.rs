//! Embedded Postgres: the database of whoever has set up none.
//!
//! It runs the machine's own server programs on a cluster of Deskhand's under the data folder, reachable through a Unix
//! socket only. Whoever may open that socket's folder (mode 0700) needs no password, and there is no TCP port. Several
//! processes share one server: the first starts it, the last one out stops it, and one that is killed leaves a server
//! that the next start joins.
//!
//! What it is not: it downloads no server of its own, it does not upgrade a cluster to another major version, and it
//! reads no environment but PATH. With a `DATABASE_URL` nothing of this runs.
//!
//! ```text
//! <data>/postgres/          "home": belongs to whoever started first, entered by all
//!   made-by-deskhand        the marker: without it nothing in here is touched
//!   start.lock users.lock   see `locks`
//!   cluster/                the database's own folder (0700)
//!   cluster-unfinished-*/   a half-made one, removed by the next start
//!   socket/                 the socket (0700), or `socket-folder`, which names a shorter place
//!   server.log              what the server says
//! ```

mod cluster;
mod error;
mod home;
mod install;
mod locks;
mod owner;
mod programs;
mod server;
mod socket;

use std::path::{Path, PathBuf};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{AssertSqlSafe, PgConnection};

pub use self::error::EmbeddedError;
use self::home::Home;
use self::locks::{Seat, StartLock};

/// The name of the database and of its only role.
const NAME: &str = "deskhand";

/// How the embedded server is to be started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder; the server's part lies in its `postgres` subfolder. Created if missing.
    pub data: PathBuf,
    /// The folder of `postgres` and `initdb` (the setting `DESKHAND_PG_BIN`); `None` searches PATH and the usual places.
    pub programs: Option<PathBuf>,
    /// `true` keeps Postgres's own promises. `false` is for tests: commits cost nothing, a killed server may
    /// lose the last of them and a power cut everything, and there is room for 300 connections rather than 100.
    pub durable: bool,
}

/// This process's share of a running server. Dropped, it gives up its share but leaves the server running; use
/// [`Embedded::stop`] to leave in good order.
#[derive(Debug)]
pub struct Embedded {
    home: Home,
    socket: PathBuf,
    seat: Seat,
}

/// What leaving did to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// We were the last one out: the server is down.
    ServerStopped,
    /// Other processes use the server; the last of them stops it.
    LeftToOthers,
    /// Somebody else had stopped or killed the server before.
    WasDown,
}

/// Starts the server of `options.data`, or joins it when it runs; returns when it answers.
///
/// `say` gets one sentence for whatever a person would wonder about (a first start, an installation, another folder
/// than the one asked for); an ordinary start is silent.
pub async fn start(options: Options, say: &(dyn Fn(&str) + Send + Sync)) -> Result<Embedded, EmbeddedError> {
    let (home, account) = home::claim(&options.data, say).await?;
    // Held until the server answers: a second start waits here and then finds the server running.
    let starting = StartLock::wait(&home, say).await?;
    let (seat, alone) = Seat::take(&home, &starting)?;
    let socket = socket::folder(&home, &account)?;

    let mut connection = match server::answers(&socket).await {
        Ok(connection) => connection,
        Err(_) => {
            let cluster = home.cluster();
            let wanted = cluster::version(&cluster)?;
            let programs =
                programs::find_or_install(options.programs.as_deref(), wanted.as_deref(), &account, &cluster, say)
                    .await?;
            if wanted.is_none() {
                say(&format!(
                    "Making a database in {} with Postgres {}.",
                    home.folder().display(),
                    programs.version
                ));
                cluster::make(&home, &programs, &account).await?;
            }
            let launch = server::Launch {
                home: &home,
                socket: &socket,
                account: &account,
                programs: &programs,
            };
            let connection = launch.run(options.durable, alone).await?;
            if wanted.is_none() && options.durable {
                cluster::sync_in_background(&home, &programs, &account);
            }
            connection
        }
    };
    create_database(&mut connection).await?;
    drop(starting);
    Ok(Embedded { home, socket, seat })
}

impl Embedded {
    /// How to connect to the database `deskhand`, which exists.
    pub fn connect_options(&self) -> PgConnectOptions {
        connect_options(&self.socket, NAME)
    }

    /// The folder of the server's files; not always under the data folder asked for (see the module's head).
    pub fn data(&self) -> &Path {
        self.home.folder()
    }

    /// The folder of the Unix socket, as `psql -h` takes it.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Leaves the server; the last one out stops it and waits until it is down (at most half a minute).
    pub async fn stop(self) -> Result<Stopped, EmbeddedError> {
        match tokio::task::spawn_blocking(move || self.stop_blocking()).await {
            Ok(stopped) => stopped,
            Err(gone) => Err(EmbeddedError::io("wait for the server's end in", Path::new("/"))(
                gone.into(),
            )),
        }
    }

    /// As [`Embedded::stop`], where there is no runtime (any more): at the end of a process.
    pub fn stop_blocking(self) -> Result<Stopped, EmbeddedError> {
        // Under the start lock nobody can join between our look at the others and the server's end.
        let starting = StartLock::wait_blocking(&self.home)?;
        if self.seat.leave(&self.home, &starting)? {
            server::stop(&self.home)
        } else {
            Ok(Stopped::LeftToOthers)
        }
    }
}

fn connect_options(socket: &Path, database: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket)
        .port(socket::PORT)
        .username(NAME)
        .database(database)
        .ssl_mode(PgSslMode::Disable)
        .application_name(NAME)
}

async fn create_database(connection: &mut PgConnection) -> Result<(), EmbeddedError> {
    let there = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1")
        .bind(NAME)
        .fetch_optional(&mut *connection);
    if there.await.map_err(EmbeddedError::Database)?.is_none() {
        let create = AssertSqlSafe(format!("CREATE DATABASE {NAME}"));
        sqlx::query(create)
            .execute(&mut *connection)
            .await
            .map_err(EmbeddedError::Database)?;
    }
    Ok(())
}
