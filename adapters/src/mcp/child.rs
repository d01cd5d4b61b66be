//! A tool server as a child process: started with little of our environment, watched for what it says besides MCP, and
//! ended with its process group. What outlives its own leader in that group is not followed.

use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// What a program needs to run at all; everything else has to be named in the settings.
const PASSED_ON: &[&str] = &["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/// How long a server may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// Characters kept of a line that it wrote.
const LINE: usize = 160;

/// A running server. Dropping it asks it to end, and what it started.
pub(super) struct Process {
    child: Child,
    heard: Arc<Heard>,
    /// Ends with the process's standard error.
    listening: AbortOnDropHandle<()>,
    secrets: Vec<SecretString>,
}

/// What it wrote that is not MCP.
#[derive(Default)]
struct Heard {
    /// The first line on its output that cannot be MCP.
    stray: Mutex<Option<String>>,
    /// The last line on its standard error.
    last_error: Mutex<Option<String>>,
}

/// Starts the program. The error is a clause.
pub(super) fn start(
    command: &str,
    args: &[String],
    env: &[(String, SecretString)],
) -> Result<(Process, Output, ChildStdin), String> {
    let mut program = Command::new(command);
    program.args(args).env_clear().process_group(0);
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            program.env(name, value);
        }
    }
    program.envs(env.iter().map(|(name, value)| (name, value.expose_secret())));
    program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = program
        .spawn()
        .map_err(|error| format!("the program {command} cannot be started: {error}"))?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(format!("the program {command} has no pipes"));
    };
    let heard = Arc::<Heard>::default();
    let listening = AbortOnDropHandle::new(tokio::spawn(listen(stderr, Arc::clone(&heard))));
    let output = Output {
        inner: stdout,
        heard: Arc::clone(&heard),
        line: Vec::new(),
    };
    let secrets = env.iter().map(|(_, value)| value.clone()).collect();
    let process = Process {
        child,
        heard,
        listening,
        secrets,
    };
    Ok((process, output, stdin))
}

impl Process {
    /// The line on its output that no MCP server would write, if there was one.
    pub(super) fn stray(&self) -> Option<String> {
        self.shown(&self.heard.stray)
    }

    /// Waits for its end, and hastens it where it does not come; a clause on how it ended.
    pub(super) async fn ended(mut self) -> String {
        let status = match timeout(GRACE / 2, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => {
                self.signal(Signal::SIGTERM);
                match timeout(GRACE, self.child.wait()).await {
                    Ok(_) => None,
                    Err(_) => {
                        self.signal(Signal::SIGKILL);
                        None
                    }
                }
            }
        };
        // Its last words may still be on their way; whatever it started may hold the other end open for long.
        let _ = timeout(GRACE / 4, &mut self.listening).await;
        let how = match status.as_ref().and_then(ExitStatus::code) {
            Some(code) => format!("it ended with exit code {code}"),
            None => "it ended".into(),
        };
        match self.shown(&self.heard.last_error) {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }

    /// A line for people: printable, short, and without the secrets that the process was given.
    fn shown(&self, line: &Mutex<Option<String>>) -> Option<String> {
        let line = line.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let mut text = line;
        for secret in self
            .secrets
            .iter()
            .map(ExposeSecret::expose_secret)
            .filter(|secret| secret.len() > 3)
        {
            text = text.replace(secret, "…");
        }
        Some(text.chars().filter(|c| !c.is_control()).take(LINE).collect())
    }

    /// Its group as well: `npx` and the like start the server as a child of their own.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = killpg(Pid::from_raw(group), signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its standard input closes at the same time, which alone ends a well-made server.
        self.signal(Signal::SIGTERM);
    }
}

async fn listen(stderr: ChildStderr, heard: Arc<Heard>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        // Longer than what is shown, so that a secret at the cut is still known as one.
        let line = String::from_utf8_lossy(&line[..line.len().min(8 * LINE)])
            .trim()
            .to_owned();
        if !line.is_empty() {
            *heard.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
        }
    }
}

/// The server's standard output on its way to the protocol.
pub(super) struct Output {
    inner: ChildStdout,
    heard: Arc<Heard>,
    line: Vec<u8>,
}

impl AsyncRead for Output {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if polled.is_ready() {
            self.look(&buf.filled()[before..]);
        }
        polled
    }
}

impl Output {
    fn look(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = String::from_utf8_lossy(&self.line).trim().to_owned();
                    self.line.clear();
                    if !line.is_empty() && !line.starts_with(['{', '[']) {
                        let mut stray = self.heard.stray.lock().unwrap_or_else(PoisonError::into_inner);
                        stray.get_or_insert(line);
                    }
                }
                byte if self.line.len() < 8 * LINE => self.line.push(*byte),
                _ => {}
            }
        }
    }
}
