//! Where lines come from: a line editor at a terminal, plain lines through a pipe; and what is kept of them.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use deskhand_core::id::TicketId;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Editor, Helper};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use super::complete::complete;
use crate::cli::ask::Lines;
use crate::cli::table::styled;

/// Lines of history.
const MOST: usize = 1000;

/// What somebody typed.
pub(super) enum Heard {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

pub(super) enum Typed {
    Terminal(Box<Terminal>),
    Pipe(mpsc::Receiver<std::io::Result<String>>),
}

pub(super) struct Terminal {
    editor: Editor<Offers, DefaultHistory>,
    history: PathBuf,
}

/// What can be completed just now.
#[derive(Default)]
struct Offers {
    tickets: Vec<(String, String)>,
    at_hand: bool,
}

impl Typed {
    pub(super) fn terminal(kept: &Kept) -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(MOST)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .behavior(Behavior::Stdio)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Offers::default()));
        let history = kept.folder.join("chat-history");
        // There is none at first.
        let _ = editor.load_history(&history);
        Ok(Self::Terminal(Box::new(Terminal { editor, history })))
    }

    /// A thread of its own reads: nothing else can be told to stop waiting for a pipe.
    pub(super) fn pipe() -> Self {
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self::Pipe(lines)
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next line of the conversation.
    pub(super) async fn next(&mut self, name: &str, interrupts: &mut Signal) -> anyhow::Result<Heard> {
        match self {
            Self::Terminal(terminal) => terminal.next(name),
            Self::Pipe(lines) => tokio::select! {
                line = lines.recv() => match line {
                    None => Ok(Heard::End),
                    Some(Ok(line)) => Ok(Heard::Line(line)),
                    Some(Err(error)) => anyhow::bail!("standard input cannot be read: {error}"),
                },
                _ = interrupts.recv() => Ok(Heard::Interrupted),
            },
        }
    }

    pub(super) fn offer(&mut self, tickets: Vec<(String, String)>, at_hand: bool) {
        match self {
            Self::Terminal(terminal) => terminal.editor.set_helper(Some(Offers { tickets, at_hand })),
            Self::Pipe(_) => {}
        }
    }
}

impl Terminal {
    fn next(&mut self, name: &str) -> anyhow::Result<Heard> {
        let prompt = (format!("{name}> "), format!("{}> ", styled(name, "1;36")));
        // The workers go on in other threads.
        let line = tokio::task::block_in_place(|| self.editor.readline(&prompt));
        match line {
            Ok(line) => {
                if self.editor.add_history_entry(&line).unwrap_or(false) {
                    // A history that cannot be kept is no reason to stop talking.
                    let _ = self.editor.append_history(&self.history);
                }
                Ok(Heard::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Heard::Interrupted),
            Err(ReadlineError::Eof) => Ok(Heard::End),
            Err(error) => anyhow::bail!("the terminal cannot be read: {error}"),
        }
    }
}

impl Lines for Terminal {
    fn line(&mut self, prompt: &str) -> anyhow::Result<Option<String>> {
        let offers = self.editor.helper_mut().map(std::mem::take);
        let line = tokio::task::block_in_place(|| self.editor.readline(prompt));
        self.editor.set_helper(offers);
        match line {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(None),
            Err(error) => anyhow::bail!("the terminal cannot be read: {error}"),
        }
    }
}

impl Completer for Offers {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _context: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let found = complete(&line[..at], &self.tickets, self.at_hand);
        let pairs = found.into_iter().map(|completion| Pair {
            display: completion.shown,
            replacement: completion.line,
        });
        Ok((0, pairs.collect()))
    }
}

impl Hinter for Offers {
    type Hint = String;
}

impl Highlighter for Offers {}

impl Validator for Offers {}

impl Helper for Offers {}

/// What stays from one conversation to the next, in the folder of the embedded database, for its owner alone.
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    pub(super) fn under(data: &Path) -> Self {
        Self {
            folder: data.to_owned(),
        }
    }

    pub(super) fn last_ticket(&self) -> Option<TicketId> {
        let text = fs::read_to_string(self.folder.join("chat-ticket")).ok()?;
        text.trim().parse().ok()
    }

    /// A folder that cannot be written costs `--continue`, and nothing else.
    pub(super) fn remember(&self, id: TicketId) {
        let kept = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(self.folder.join("chat-ticket"), format!("{id}\n")));
        if let Err(error) = kept {
            tracing::debug!(%error, "the ticket at hand could not be kept");
        }
    }
}
