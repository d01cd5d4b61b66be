//! The server process: finding out whether it runs, starting and stopping it.

use std::fs;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, setsid};
use sqlx::{ConnectOptions, PgConnection};

use super::error::EmbeddedError;
use super::home::Home;
use super::owner::Account;
use super::programs::Programs;
use super::{Stopped, connect_options, socket};

/// Recovery after a kill can take its time; a start that takes longer than this is a failed one.
const PATIENCE: Duration = Duration::from_secs(60);
const STOP_PATIENCE: Duration = Duration::from_secs(30);
/// A server without its socket may be about to open it, or about to end; after this it is of no use to anybody.
const DEAF: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_LOG: u64 = 10 << 20;

/// Connects to whatever listens in the socket folder.
pub(super) async fn answers(socket: &Path) -> Result<PgConnection, sqlx::Error> {
    let options = connect_options(socket, "postgres");
    match tokio::time::timeout(Duration::from_secs(5), options.connect()).await {
        Ok(answer) => answer,
        Err(late) => Err(sqlx::Error::Io(late.into())),
    }
}

/// A start about to happen; the caller holds the start lock.
pub(super) struct Launch<'a> {
    pub(super) home: &'a Home,
    pub(super) socket: &'a Path,
    pub(super) account: &'a Account,
    pub(super) programs: &'a Programs,
}

impl Launch<'_> {
    /// Starts the server and returns when it answers. `alone`: no other process uses this home.
    pub(super) async fn run(&self, durable: bool, alone: bool) -> Result<PgConnection, EmbeddedError> {
        let begin = Instant::now();
        self.rotate_log();
        let log_start = fs::metadata(self.home.log()).map_or(0, |log| log.len());
        let mut child: Option<Child> = None;
        loop {
            if let Ok(connection) = answers(self.socket).await {
                if let Some(child) = child {
                    reap(child);
                }
                return Ok(connection);
            }
            match &mut child {
                Some(running) => {
                    let ended = running
                        .try_wait()
                        .map_err(EmbeddedError::io("watch", &self.programs.postgres()))?;
                    if ended.is_some() {
                        child = None;
                        // After a kill -9 its children need a moment to notice. Any other reason stays one.
                        if !self.log_tail(log_start).contains("shared memory block") {
                            return Err(self.not_started(log_start));
                        }
                        tokio::time::sleep(PAUSE * 10).await;
                    }
                }
                None => match running(self.home)? {
                    Some(pid) if alone && begin.elapsed() > DEAF && !socket::file(self.socket).exists() => {
                        // Its socket was swept away (or is elsewhere): nobody can reach it, and nobody uses it.
                        interrupt(pid);
                    }
                    // One that a killed Deskhand left, on its way up or down.
                    Some(_) => {}
                    None => {
                        forget_stale_pids(self.home, self.socket)?;
                        child = Some(self.spawn(durable)?);
                    }
                },
            }
            if begin.elapsed() > PATIENCE {
                return Err(self.not_started(log_start));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn spawn(&self, durable: bool) -> Result<Child, EmbeddedError> {
        let log = self.home.open("server.log")?;
        let copy = log.try_clone().map_err(EmbeddedError::io("open", &self.home.log()))?;
        let mut command = self.account.command(&self.programs.postgres());
        command
            .arg("-D")
            .arg(self.home.cluster())
            .arg("-c")
            .arg(socket::as_setting(self.socket));
        let port = format!("port={}", socket::PORT);
        settings(
            &mut command,
            &[
                "listen_addresses=",
                &port,
                "unix_socket_permissions=0700",
                "logging_collector=off",
            ],
        );
        // Without the details of errors, which quote rows and so customers' words.
        settings(
            &mut command,
            &["log_error_verbosity=terse", "log_parameter_max_length_on_error=0"],
        );
        if durable {
            settings(&mut command, &["max_connections=100"]);
        } else {
            settings(
                &mut command,
                &["max_connections=300", "fsync=off", "synchronous_commit=off"],
            );
            settings(
                &mut command,
                &["full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"],
            );
        }
        command.stdout(copy).stderr(log);
        // SAFETY: setsid(2) is async-signal-safe and touches none of our memory.
        unsafe {
            // A process group of its own, away from our terminal: Ctrl-C is meant for us, and we may have company.
            command.pre_exec(|| setsid().map(drop).map_err(io::Error::from));
        }
        command
            .spawn()
            .map_err(EmbeddedError::io("run", &self.programs.postgres()))
    }

    /// A log that only grows would fill the disk; two files of ten megabytes are plenty.
    fn rotate_log(&self) {
        if fs::metadata(self.home.log()).is_ok_and(|log| log.len() > LONGEST_LOG) {
            // It is a log: if it cannot be moved, it grows on.
            let _ = fs::rename(self.home.log(), self.home.folder().join("server.log.1"));
        }
    }

    fn log_tail(&self, from: u64) -> String {
        let read = || {
            let mut log = self.home.open("server.log").ok()?;
            log.seek(SeekFrom::Start(from)).ok()?;
            io::read_to_string(log).ok()
        };
        let text = read().unwrap_or_default();
        let lines = text.lines().collect::<Vec<_>>();
        lines[lines.len().saturating_sub(6)..].join("; ")
    }

    fn not_started(&self, log_start: u64) -> EmbeddedError {
        EmbeddedError::NotStarted {
            log: self.home.log(),
            said: self.log_tail(log_start),
        }
    }
}

/// Stops the home's server; the caller holds the start lock and nobody uses the server.
pub(super) fn stop(home: &Home) -> Result<Stopped, EmbeddedError> {
    let Some(pid) = running(home)? else {
        return Ok(Stopped::WasDown);
    };
    interrupt(pid);
    let end = Instant::now() + STOP_PATIENCE;
    while running(home)?.is_some() {
        if Instant::now() > end {
            return Err(EmbeddedError::NotStopped { pid: pid.as_raw() });
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Stopped::ServerStopped)
}

fn settings(command: &mut Command, settings: &[&str]) {
    for setting in settings {
        command.args(["-c", setting]);
    }
}

/// Waits for the child in the background: a dead one that nobody has waited for looks alive to Postgres.
fn reap(mut child: Child) {
    // Its own thread rather than the runtime's, which may be gone before the server is.
    std::thread::spawn(move || child.wait());
}

/// A "fast shutdown": ends connections, writes everything down.
fn interrupt(pid: Pid) {
    // It may have ended just now, which is what we want.
    let _ = kill(pid, Signal::SIGINT);
}

fn exists(pid: Pid) -> bool {
    kill(pid, None).is_ok()
}

fn pid_file(home: &Home) -> PathBuf {
    home.cluster().join("postmaster.pid")
}

/// The process named in the pid file, if it is indeed this cluster's server and not another one that has got its number.
fn running(home: &Home) -> Result<Option<Pid>, EmbeddedError> {
    let file = pid_file(home);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(refused) => return Err(EmbeddedError::io("read", &file)(refused)),
    };
    let pid = text
        .lines()
        .next()
        .and_then(|line| line.trim().parse().ok())
        .filter(|pid| *pid > 1)
        .map(Pid::from_raw);
    Ok(pid.filter(|pid| {
        if Path::new("/proc/self").exists() {
            works_in(*pid, &home.cluster())
        } else {
            is_postgres(*pid)
        }
    }))
}

/// A server's working directory is its cluster. What we may not look at is another account's, hence not ours.
fn works_in(pid: Pid, cluster: &Path) -> bool {
    let place = |folder: &Path| fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()));
    let working = place(Path::new(&format!("/proc/{pid}/cwd")));
    working.is_some() && working == place(cluster)
}

/// Where there is no /proc, the name has to do.
fn is_postgres(pid: Pid) -> bool {
    let listed = Command::new("ps")
        .args(["-o", "command=", "-p", &pid.to_string()])
        .output();
    listed.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains("postgres"))
}

/// Postgres takes any living process with the old number for a server, and gives up at an empty file. Where the number
/// is nobody's, it does better without us: it still looks for children of the old server.
fn forget_stale_pids(home: &Home, socket: &Path) -> Result<(), EmbeddedError> {
    let mut beside_socket = socket::file(socket).into_os_string();
    beside_socket.push(".lock");
    for file in [pid_file(home), beside_socket.into()] {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let pid = text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok())
            .map(Pid::from_raw);
        if pid.is_none_or(exists) {
            fs::remove_file(&file).map_err(EmbeddedError::io("remove", &file))?;
        }
    }
    Ok(())
}
