//! The grammar of `/triage`, shared by every surface: slash command, mention, `!triage`, console, terminal.
//!
//! A surface strips what is its own (the mention, the `/triage`) and hands over the rest. What a command does, and
//! whether this person may give it, is decided elsewhere; here is only what was meant, and which circle it is for.

mod help;
mod reference;
mod table;
mod talk;
mod tidy;

pub use help::{HelpLine, Suggestion, help, suggest};
pub use reference::TicketRef;
pub use talk::parse_line;

use crate::ticket::{Mode, Priority, TicketState};

/// What a person asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    /// Works on a ticket: joins the run at work, continues the last one, or starts the first.
    Triage {
        ticket: TicketRef,
        /// In the person's own words and lines; only the white space around it is gone.
        instruction: Option<String>,
    },
    List(Filter),
    Show(TicketRef),
    Status,
    Approvals(Which),
    /// Searches the knowledge base; never empty.
    Kb(String),
    Runs(TicketRef),
    Resume(TicketRef),
    Pause(TicketRef),
    /// A fresh run that does not continue an earlier one.
    New(TicketRef),
    Stop(TicketRef),
    /// A person takes the ticket over.
    Take(TicketRef),
    Release(TicketRef),
    Compact(TicketRef),
    /// `None` shows the model's name. The name is not checked here.
    Model(Option<String>),
    Skills,
    Mcp,
    Helpers(TicketRef),
    Grants(Grants),
    /// `None` shows the mode.
    Mode(Option<Mode>),
}

/// Which tickets `list` shows. All parts must hold; the default shows every ticket that is not solved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub state: Option<TicketState>,
    pub priority: Option<Priority>,
    /// `all`: solved ones as well.
    pub solved_too: bool,
    /// What is left: a category, a team, words of the subject. Empty when nothing is.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    AllOpen,
    /// Those that the asking person may decide.
    Mine,
    Overdue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grants {
    List,
    /// The number that the list shows.
    Revoke(i64),
}

/// Who may give a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authority {
    Team,
    Admin,
}

impl Command {
    /// The smallest circle that may give it. Admins may give all of them.
    pub fn authority(&self) -> Authority {
        match self {
            Self::Model(_) | Self::Grants(_) | Self::Mode(_) => Authority::Admin,
            Self::Help
            | Self::Triage { .. }
            | Self::List(_)
            | Self::Show(_)
            | Self::Status
            | Self::Approvals(_)
            | Self::Kb(_)
            | Self::Runs(_)
            | Self::Resume(_)
            | Self::Pause(_)
            | Self::New(_)
            | Self::Stop(_)
            | Self::Take(_)
            | Self::Release(_)
            | Self::Compact(_)
            | Self::Skills
            | Self::Mcp
            | Self::Helpers(_) => Authority::Team,
        }
    }
}

/// Why a text is no command: one sentence for the person who typed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("I do not know \"{word}\".{} Type help for all commands.", did_you_mean(nearest))]
    Unknown {
        word: String,
        nearest: Option<&'static str>,
    },
    /// The command is known, its argument is missing.
    #[error("{command} needs {what}: {command} {example}.")]
    Missing {
        command: &'static str,
        what: &'static str,
        example: &'static str,
    },
    /// The command is known, its argument is not what it takes.
    #[error("{command} takes {what}, not \"{word}\".{}", did_you_mean(nearest))]
    Wrong {
        command: &'static str,
        what: &'static str,
        word: String,
        nearest: Option<&'static str>,
    },
    #[error("\"{word}\" is not a ticket: write T-1001, or its number in the source, like zendesk:35436.")]
    NotATicket { word: String },
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!(" Did you mean {name}?"),
        None => String::new(),
    }
}

/// Reads a command. Keywords are understood in any case, ticket numbers as people write them, and an empty text asks
/// for help.
///
/// `T-1001 stop` means `stop T-1001`: whoever writes the number first must not have "stop" handed to the model as an
/// instruction.
pub fn parse(text: &str) -> Result<Command, CommandError> {
    let (mut word, mut rest) = tidy::first_word(text);
    if keyword(&word) == table::TRIAGE {
        (word, rest) = tidy::first_word(rest);
    }
    if word.is_empty() {
        return Ok(Command::Help);
    }
    if let Some(ticket) = TicketRef::read(&word)? {
        return Ok(about_ticket(ticket, rest));
    }
    let keyword = keyword(&word);
    let Some(entry) = table::find(&keyword) else {
        let nearest = table::nearest(&keyword);
        let word = tidy::clip(&word);
        return Err(CommandError::Unknown { word, nearest });
    };
    entry.read(rest)
}

/// The signs with which chats begin a command are no part of it.
fn keyword(word: &str) -> String {
    word.trim_start_matches(['/', '!']).to_lowercase()
}

fn about_ticket(ticket: TicketRef, rest: &str) -> Command {
    let (word, more) = tidy::first_word(rest);
    if more.is_empty()
        && let Some(entry) = table::find(&word.to_lowercase())
        && let Some(command) = entry.about(&ticket)
    {
        return command;
    }
    let instruction = tidy::unquoted(rest);
    Command::Triage {
        ticket,
        instruction: (!instruction.is_empty()).then(|| instruction.to_owned()),
    }
}

#[cfg(test)]
mod tests;
