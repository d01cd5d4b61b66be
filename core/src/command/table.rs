//! One table of all commands: the grammar reads from it and the help is written from it, so they cannot diverge.

use super::{Command, CommandError, Filter, Grants, TicketRef, Which, tidy};
use crate::near;
use crate::ticket::{Mode, Priority, TicketState};

/// The word that stands for the bot itself: `!triage T-1001`, `deskhand triage T-1001`.
pub(super) const TRIAGE: &str = "triage";

pub(super) struct Entry {
    pub(super) name: &'static str,
    argument: Argument,
    pub(super) sentence: &'static str,
}

/// What follows the keyword, and what becomes of it.
enum Argument {
    Nothing(fn() -> Command),
    Ticket(fn(TicketRef) -> Command),
    /// Free text: how help shows it, what it is in a sentence, an example, and its reader.
    Text {
        shown: &'static str,
        what: &'static str,
        example: &'static str,
        /// The keywords that it may begin with, for completion.
        words: &'static [&'static str],
        read: fn(&str) -> Result<Command, TextError>,
    },
}

/// Why free text was not taken.
enum TextError {
    Missing,
    Wrong(String),
}

pub(super) const TABLE: &[Entry] = &[
    Entry {
        name: "help",
        argument: Argument::Nothing(|| Command::Help),
        sentence: "Shows this list.",
    },
    Entry {
        name: "list",
        argument: Argument::Text {
            shown: "[filter]",
            what: "a state, a priority, a category, a team or words",
            example: "urgent",
            words: &[
                "all",
                "new",
                "triaged",
                "waiting_on_customer",
                "escalated",
                "with_human",
                "solved",
                "low",
                "normal",
                "high",
                "urgent",
            ],
            read: |text| Ok(Command::List(filter(text))),
        },
        sentence: "Lists open tickets: all of them, or those of a state, priority, category or team.",
    },
    Entry {
        name: "show",
        argument: Argument::Ticket(Command::Show),
        sentence: "Shows a ticket: its triage, its comments and what waits.",
    },
    Entry {
        name: "status",
        argument: Argument::Nothing(|| Command::Status),
        sentence: "Shows what is queued, at work and waiting, and how the services are.",
    },
    Entry {
        name: "approvals",
        argument: Argument::Text {
            shown: "[mine|overdue]",
            what: "mine, overdue or nothing",
            example: "mine",
            words: &["mine", "overdue"],
            read: |text| match text.to_lowercase().as_str() {
                "" => Ok(Command::Approvals(Which::AllOpen)),
                "mine" => Ok(Command::Approvals(Which::Mine)),
                "overdue" => Ok(Command::Approvals(Which::Overdue)),
                _ => Err(TextError::Wrong(text.to_owned())),
            },
        },
        sentence: "Lists the approvals that wait for a decision.",
    },
    Entry {
        name: "kb",
        argument: Argument::Text {
            shown: "<query>",
            what: "words to search for",
            example: "return a parcel",
            words: &[],
            read: |text| match text {
                "" => Err(TextError::Missing),
                query => Ok(Command::Kb(query.to_owned())),
            },
        },
        sentence: "Searches the knowledge base.",
    },
    Entry {
        name: "runs",
        argument: Argument::Ticket(Command::Runs),
        sentence: "Lists the runs of a ticket and how they ended.",
    },
    Entry {
        name: "resume",
        argument: Argument::Ticket(Command::Resume),
        sentence: "Lets a paused or failed run go on.",
    },
    Entry {
        name: "pause",
        argument: Argument::Ticket(Command::Pause),
        sentence: "Holds the run until it is resumed; open approvals stay open.",
    },
    Entry {
        name: "new",
        argument: Argument::Ticket(Command::New),
        sentence: "Cancels the run at work, if there is one, and starts afresh.",
    },
    Entry {
        name: "stop",
        argument: Argument::Ticket(Command::Stop),
        sentence: "Cancels the run and withdraws what it asked for.",
    },
    Entry {
        name: "take",
        argument: Argument::Ticket(Command::Take),
        sentence: "Takes the ticket over: no run works on it until release.",
    },
    Entry {
        name: "release",
        argument: Argument::Ticket(Command::Release),
        sentence: "Gives a ticket that was taken back to the bot.",
    },
    Entry {
        name: "compact",
        argument: Argument::Ticket(Command::Compact),
        sentence: "Summarises the older steps of a long run.",
    },
    Entry {
        name: "model",
        argument: Argument::Text {
            shown: "[name]",
            what: "one model's name",
            example: "offline",
            words: &["offline", "anthropic:", "openai:"],
            read: |text| match text {
                "" => Ok(Command::Model(None)),
                name if name.contains(char::is_whitespace) => Err(TextError::Wrong(name.to_owned())),
                name => Ok(Command::Model(Some(name.to_owned()))),
            },
        },
        sentence: "Shows or sets the model for new runs.",
    },
    Entry {
        name: "skills",
        argument: Argument::Nothing(|| Command::Skills),
        sentence: "Lists the playbooks.",
    },
    Entry {
        name: "mcp",
        argument: Argument::Nothing(|| Command::Mcp),
        sentence: "Lists the MCP servers and how they are.",
    },
    Entry {
        name: "helpers",
        argument: Argument::Ticket(Command::Helpers),
        sentence: "Lists the helpers of a ticket's run.",
    },
    Entry {
        name: "grants",
        argument: Argument::Text {
            shown: "[revoke N]",
            what: "nothing, or revoke and a number",
            example: "revoke 3",
            words: &["revoke"],
            read: grants,
        },
        sentence: "Lists what is allowed unasked, or takes one of them back.",
    },
    Entry {
        name: "mode",
        argument: Argument::Text {
            shown: "[shadow|ask|auto]",
            what: "shadow, ask or auto",
            example: "ask",
            words: &["shadow", "ask", "auto"],
            read: |text| match text.to_lowercase().as_str() {
                "" => Ok(Command::Mode(None)),
                word => match word.parse::<Mode>() {
                    Ok(mode) => Ok(Command::Mode(Some(mode))),
                    Err(_) => Err(TextError::Wrong(text.to_owned())),
                },
            },
        },
        sentence: "Shows or sets how far the bot goes by itself.",
    },
];

pub(super) fn find(keyword: &str) -> Option<&'static Entry> {
    let keyword = if keyword == "?" { "help" } else { keyword };
    TABLE.iter().find(|entry| entry.name == keyword)
}

pub(super) fn nearest(keyword: &str) -> Option<&'static str> {
    let names: Vec<&'static str> = TABLE.iter().map(|entry| entry.name).collect();
    near::nearest(keyword, &names)
}

impl Entry {
    pub(super) fn read(&self, rest: &str) -> Result<Command, CommandError> {
        match &self.argument {
            Argument::Nothing(build) if rest.is_empty() => Ok(build()),
            Argument::Nothing(_) => Err(self.wrong("no argument", rest, None)),
            Argument::Ticket(build) => self.ticket(rest).map(build),
            Argument::Text {
                what,
                example,
                words,
                read,
                ..
            } => {
                let text = tidy::unquoted(rest);
                read(text).map_err(|error| match error {
                    TextError::Missing => CommandError::Missing {
                        command: self.name,
                        what,
                        example,
                    },
                    TextError::Wrong(word) => {
                        let one_word = !word.contains(char::is_whitespace);
                        let nearest = if one_word { near::nearest(&word, words) } else { None };
                        self.wrong(what, &word, nearest)
                    }
                })
            }
        }
    }

    /// The command for a ticket that was named before the keyword; `None` for commands that are not about one ticket.
    pub(super) fn about(&self, ticket: &TicketRef) -> Option<Command> {
        match &self.argument {
            Argument::Ticket(build) => Some(build(ticket.clone())),
            Argument::Nothing(_) | Argument::Text { .. } => None,
        }
    }

    fn ticket(&self, rest: &str) -> Result<TicketRef, CommandError> {
        let (word, more) = tidy::first_word(rest);
        if word.is_empty() {
            return Err(CommandError::Missing {
                command: self.name,
                what: "a ticket",
                example: "T-1001",
            });
        }
        let not_a_ticket = || CommandError::NotATicket {
            word: tidy::clip(&word),
        };
        let ticket = TicketRef::read(&word)?.ok_or_else(not_a_ticket)?;
        if more.is_empty() {
            Ok(ticket)
        } else {
            Err(self.wrong("one ticket", rest, None))
        }
    }

    fn wrong(&self, what: &'static str, word: &str, nearest: Option<&'static str>) -> CommandError {
        CommandError::Wrong {
            command: self.name,
            what,
            word: tidy::clip(word),
            nearest,
        }
    }

    /// The argument as help shows it.
    pub(super) fn shown(&self) -> &'static str {
        match &self.argument {
            Argument::Nothing(_) => "",
            Argument::Ticket(_) => "<ticket>",
            Argument::Text { shown, .. } => shown,
        }
    }

    /// The keywords that its argument may begin with.
    pub(super) fn words(&self) -> &'static [&'static str] {
        match &self.argument {
            Argument::Nothing(_) | Argument::Ticket(_) => &[],
            Argument::Text { words, .. } => words,
        }
    }
}

/// Words that name a state or a priority narrow the list; the others are kept in their order.
fn filter(text: &str) -> Filter {
    let mut filter = Filter::default();
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let key = word.to_lowercase().replace('-', "_");
        if key == "all" {
            filter.solved_too = true;
        } else if key == "open" {
            filter.solved_too = false;
        } else if let Ok(state) = key.parse::<TicketState>() {
            filter.state = Some(state);
            filter.solved_too |= state == TicketState::Solved;
        } else if let Ok(priority) = key.parse::<Priority>() {
            filter.priority = Some(priority);
        } else {
            words.push(word);
        }
    }
    filter.words = words.join(" ");
    filter
}

fn grants(text: &str) -> Result<Command, TextError> {
    let wrong = || TextError::Wrong(text.to_owned());
    let (word, number) = tidy::first_word(text);
    if word.is_empty() {
        return Ok(Command::Grants(Grants::List));
    }
    if word.to_lowercase() != "revoke" {
        return Err(wrong());
    }
    let (number, more) = tidy::first_word(number);
    match number.parse() {
        Ok(number) if number > 0 && more.is_empty() => Ok(Command::Grants(Grants::Revoke(number))),
        _ => Err(wrong()),
    }
}
