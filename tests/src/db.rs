//! A throw-away Postgres, and a fresh database for every test.
//!
//! All test processes of a checkout share one embedded server in the temporary folder: the first starts it, the last
//! one out stops it, and one that was left by a kill is joined by the next run. Migrations run once, into a template
//! named after their hash; each test gets a copy of it, dropped when the test is over. No `DATABASE_URL` is needed, and
//! none is read.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deskhand_adapters::postgres::MIGRATOR;
use deskhand_adapters::postgres::embedded::{self, Embedded, EmbeddedError, Options};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::kill;
use nix::unistd::{Pid, Uid};
use sha2::{Digest, Sha256};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// One test's own database, migrated and empty. Dropping this drops the database, whoever is still connected.
#[derive(Debug)]
pub struct Database {
    /// How to connect to it.
    pub options: PgConnectOptions,
    name: String,
    server: PgConnectOptions,
}

/// A migrated, empty database of the caller's own.
///
/// # Panics
///
/// When there is no Postgres to be had: the sentence says what to do.
pub async fn fresh() -> Database {
    let server = SERVER.get_or_init(join).await.clone();
    match clone_template(&server).await {
        Ok(name) => Database {
            options: server.clone().database(&name),
            name,
            server,
        },
        Err(refused) => panic!("The throw-away Postgres makes no database: {refused}"),
    }
}

impl Database {
    /// A pool of at most `max` connections. The server has room for 300, shared by all tests that run at a time.
    pub async fn pool(&self, max: u32) -> PgPool {
        let pool = deskhand_adapters::postgres::pool(max)
            .connect_with(self.options.clone())
            .await;
        pool.expect("the database was made a moment ago")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A thread with a runtime of its own: the test's is busy with this very drop, or gone. What cannot be dropped
        // now is swept by a later process.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .ok()?;
            runtime.block_on(async { drop_database(&mut server.connect().await.ok()?, &name).await.ok() })
        });
        let _ = dropped.join();
    }
}

static SERVER: OnceCell<PgConnectOptions> = OnceCell::const_new();

/// This process's share, given up at its end.
static SHARE: Mutex<Option<Embedded>> = Mutex::new(None);

/// Held, in the server, while leftovers are swept and the template is made and copied: Postgres refuses a copy while
/// anybody is connected to the original.
const HOUSEKEEPING: i64 = 0x6465_736b;

async fn join() -> PgConnectOptions {
    let data = data_folder();
    let share = match start_or_start_over(&data).await {
        Ok(share) => share,
        Err(refused) => panic!("Tests need a Postgres to throw away. {refused}."),
    };
    let server = share.connect_options();
    if let Err(refused) = sweep(&server).await {
        panic!(
            "The throw-away Postgres in {} cannot be swept, remove that folder: {refused}",
            data.display()
        );
    }
    *SHARE.lock().expect("nobody panics with it") = Some(share);
    // SAFETY: the callback has C's calling convention, never unwinds, and lives as long as the program.
    unsafe { atexit(leave) };
    server
}

unsafe extern "C" {
    /// Rust runs no destructors of statics; C's own way is the only one that sees the end of a test process.
    fn atexit(callback: extern "C" fn()) -> std::ffi::c_int;
}

extern "C" fn leave() {
    if let Ok(mut share) = SHARE.lock()
        && let Some(share) = share.take()
    {
        // A server that does not stop is joined by the next run.
        let _ = share.stop_blocking();
    }
}

/// One folder per checkout and account.
fn data_folder() -> PathBuf {
    let me = Uid::effective();
    let checkout = hex::encode(&Sha256::digest(env!("CARGO_MANIFEST_DIR"))[..6]);
    let folder = std::env::temp_dir().join(format!("deskhand-tests-{me}-{checkout}"));
    let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(&folder);
    made.expect("the temporary folder can be written to");
    let owner = fs::symlink_metadata(&folder).expect("it was made a moment ago").uid();
    assert_eq!(owner, me.as_raw(), "{} belongs to somebody else", folder.display());
    folder
}

/// What is thrown away anyway needs no repair: a cluster that does not start is removed and made anew.
async fn start_or_start_over(data: &Path) -> Result<Embedded, EmbeddedError> {
    let options = Options {
        data: data.to_owned(),
        programs: None,
        durable: false,
    };
    let gate = tokio::task::spawn_blocking({
        let path = data.join("gate.lock");
        move || Flock::lock(File::create(path)?, FlockArg::LockExclusive).map_err(|(_, refused)| refused.into())
    });
    let gate: Result<Flock<File>, std::io::Error> = gate.await.expect("waiting for a lock does not panic");
    let _gate = gate.expect("the folder is ours");
    match embedded::start(options.clone(), &|words| eprintln!("{words}")).await {
        Err(EmbeddedError::NotStarted { .. } | EmbeddedError::OtherVersion { .. } | EmbeddedError::Foreign { .. }) => {
            fs::remove_dir_all(data.join("postgres")).expect("the folder is ours");
            embedded::start(options, &|words| eprintln!("{words}")).await
        }
        answer => answer,
    }
}

/// Copies the template, made first if it is missing, and returns the copy's name.
async fn clone_template(server: &PgConnectOptions) -> Result<String, sqlx::Error> {
    let mut connection = server.connect().await?;
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(HOUSEKEEPING)
        .execute(&mut connection)
        .await?;
    let template = format!("migrated_{}", migrations_hash());
    if !exists(&mut connection, &template).await? {
        make_template(server, &mut connection, &template).await?;
    }
    // The number of our process tells a later one whether this is a leftover.
    let name = format!("test_{}_{}", std::process::id(), Uuid::new_v4().simple());
    run(&mut connection, format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
    connection.close().await?;
    Ok(name)
}

async fn make_template(
    server: &PgConnectOptions,
    connection: &mut PgConnection,
    template: &str,
) -> Result<(), sqlx::Error> {
    // Templates of older migrations, and one that was killed halfway: only a whole one bears its name.
    for old in named_like(connection, "migrat%").await? {
        drop_database(connection, &old).await?;
    }
    run(connection, "CREATE DATABASE migrating".into()).await?;
    let mut inside = server.clone().database("migrating").connect().await?;
    if let Err(refused) = MIGRATOR.run(&mut inside).await {
        panic!("The migrations do not run: {refused}");
    }
    inside.close().await?;
    run(connection, format!("ALTER DATABASE migrating RENAME TO {template}")).await
}

fn migrations_hash() -> String {
    let mut hash = Sha256::new();
    for migration in MIGRATOR.iter() {
        hash.update(migration.version.to_be_bytes());
        hash.update(&migration.checksum);
    }
    hex::encode(&hash.finalize()[..8])
}

/// Drops what killed tests have left.
async fn sweep(server: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let mut connection = server.connect().await?;
    lock(&mut connection).await?;
    for name in named_like(&mut connection, "test_%").await? {
        let process = name
            .split('_')
            .nth(1)
            .and_then(|number| number.parse().ok())
            .map(Pid::from_raw);
        if process.is_none_or(|process| kill(process, None).is_err()) {
            drop_database(&mut connection, &name).await?;
        }
    }
    connection.close().await
}

/// Until the connection ends.
async fn lock(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(HOUSEKEEPING)
        .execute(connection)
        .await
        .map(drop)
}

async fn exists(connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    let there = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1").bind(name);
    Ok(there.fetch_optional(connection).await?.is_some())
}

async fn named_like(connection: &mut PgConnection, pattern: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT datname::text FROM pg_database WHERE datname LIKE $1")
        .bind(pattern)
        .fetch_all(connection)
        .await
}

async fn drop_database(connection: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    run(connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
}

/// For statements that take no parameters; the names in them are our own.
async fn run(connection: &mut PgConnection, statement: String) -> Result<(), sqlx::Error> {
    sqlx::query(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_there(database: &Database, name: &str) -> bool {
        let mut connection = database.server.connect().await.expect("the server runs");
        exists(&mut connection, name).await.expect("an answer")
    }

    #[tokio::test]
    async fn each_caller_gets_a_database_of_its_own() {
        let (one, two) = tokio::join!(fresh(), fresh());
        let (one, two) = (one.pool(2).await, two.pool(2).await);
        sqlx::query("CREATE TABLE mine AS SELECT 1")
            .execute(&one)
            .await
            .expect("written");
        assert!(sqlx::query("SELECT * FROM mine").execute(&two).await.is_err());
    }

    #[tokio::test]
    async fn the_migrations_have_run() {
        let database = fresh().await;
        let pool = database.pool(1).await;
        let applied = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM _sqlx_migrations")
            .fetch_one(&pool)
            .await;
        assert_eq!(applied.ok(), i64::try_from(MIGRATOR.iter().count()).ok());
    }

    #[tokio::test]
    async fn a_database_is_dropped_with_its_handle_though_a_pool_is_open() {
        let (kept, dropped) = (fresh().await, fresh().await);
        let _pool = dropped.pool(1).await;
        let name = dropped.name.clone();
        assert!(is_there(&kept, &name).await);
        drop(dropped);
        assert!(!is_there(&kept, &name).await);
    }

    #[tokio::test]
    async fn what_a_killed_test_has_left_is_swept_and_nothing_else() {
        let kept = fresh().await;
        // Process numbers end at 2^22 on Linux and earlier elsewhere.
        let leftover = format!("test_2000000000_{}", Uuid::new_v4().simple());
        let mut connection = kept.server.connect().await.expect("the server runs");
        run(&mut connection, format!("CREATE DATABASE {leftover}"))
            .await
            .expect("made");
        sweep(&kept.server).await.expect("swept");
        assert!(!is_there(&kept, &leftover).await);
        assert!(is_there(&kept, &kept.name).await);
    }
}
