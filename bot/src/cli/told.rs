//! A run's events as lines: for people with a spinner below them where there is a terminal, for programs as JSON.

use std::io::Write;
use std::time::Duration;

use deskhand_core::follow::{Event, Standing, StepTold, Told};
use deskhand_core::id::TicketId;
use deskhand_core::run::{Ending, RunState};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::table::{clip, styled};
use crate::follow::Reader;

/// Cells of a line.
const WIDE: usize = 110;

/// How a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// For programs: an event a line.
    Json,
    /// Whole lines, a reply's words among them.
    Lines,
    /// A conversation: a reply's words as they come.
    Talk,
}

pub(super) struct Teller {
    ticket: TicketId,
    manner: Manner,
    /// Draws nothing where standard error is no terminal.
    bar: ProgressBar,
    /// The last line of a reply, as far as it is written.
    line: String,
    /// In a conversation, that line is on the screen already.
    open: bool,
    standing: Option<Standing>,
}

impl Teller {
    pub(super) fn new(ticket: TicketId, manner: Manner) -> Self {
        Self {
            ticket,
            manner,
            bar: spinner(manner),
            line: String::new(),
            open: false,
            standing: None,
        }
    }

    pub(super) fn tell_all(&mut self, told: &[Told], reader: &Reader) {
        for one in told {
            match self.manner {
                Manner::Json => println!("{}", json_line(one)),
                Manner::Lines | Manner::Talk => reader.with_log(|log| self.tell(&one.event, log.transcript())),
            }
        }
    }

    /// Tells what can be told without waiting.
    pub(super) fn tell_ready(&mut self, reader: &mut Reader) {
        loop {
            let told = reader.ready();
            if told.is_empty() {
                return;
            }
            self.tell_all(&told, reader);
        }
    }

    fn tell(&mut self, event: &Event, transcript: &Transcript) {
        match event {
            Event::Text(text) if self.manner == Manner::Talk => self.say_at_once(text),
            Event::Text(text) => self.words(text),
            Event::Reset => {
                self.close();
                self.line.clear();
                self.print("↺", "33", "the reply was broken off and begins anew");
            }
            Event::Step(told) => self.step(told, transcript),
            Event::State(standing) => {
                self.standing = Some(*standing);
                self.bar.set_message(standing.word());
            }
            Event::End => {}
        }
    }

    /// Whole lines of a reply are printed; the one that is being written is shown beside the spinner.
    fn words(&mut self, text: &str) {
        self.line.push_str(text);
        while let Some((line, rest)) = self.line.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            self.line = rest;
            self.say(&line);
        }
        self.bar.set_message(plain(&self.line));
    }

    /// The words stand where they will stay, and the spinner is away until their line is closed.
    fn say_at_once(&mut self, text: &str) {
        let text = if self.open { text } else { text.trim_start() };
        if text.is_empty() {
            return;
        }
        if !self.open {
            self.bar.finish_and_clear();
            self.open = true;
        }
        let lines: Vec<String> = text.split('\n').map(plain).collect();
        print!("{}", lines.join("\n"));
        flush();
    }

    /// Ends what was said at once.
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            println!();
            self.bar = spinner(self.manner);
        }
    }

    fn step(&mut self, told: &StepTold, transcript: &Transcript) {
        self.close();
        let line = std::mem::take(&mut self.line);
        self.say(&line);
        self.bar.set_message("at work");
        let kind = &told.step.kind;
        if let StepKind::Outcome { call, outcome } = kind {
            let called = transcript.call(*call);
            let (name, args) = called.map_or(("?", &Value::Null), |call| (call.name.as_str(), &call.args));
            let line = told.line.as_deref().unwrap_or_default();
            let (colour, what) = if outcome.failed {
                ("31", line.to_owned())
            } else {
                ("32", what(name, args, line))
            };
            self.print("●", colour, &format!("{name} {} → {what}", self.ticket));
        } else if !matches!(kind, StepKind::Replied { .. })
            && let Some(line) = &told.line
        {
            // The words of a reply were told as they came.
            self.print("·", "2", line);
        }
    }

    fn say(&self, line: &str) {
        if !line.trim().is_empty() {
            self.bar.suspend(|| println!("  {}", styled(&plain(line), "2")));
        }
    }

    fn print(&self, mark: &str, colour: &str, line: &str) {
        let line = clip(&plain(line), WIDE);
        self.bar.suspend(|| println!("{} {line}", styled(mark, colour)));
    }

    /// A line of ours between those of the run.
    pub(super) fn remark(&mut self, line: &str) {
        self.close();
        self.print("·", "33", line);
    }

    /// The last word: what the run waits for, or how it ended.
    pub(super) fn rests(&mut self) {
        self.close();
        self.bar.finish_and_clear();
        let Some(standing) = self.standing else { return };
        let sentence = match self.manner {
            Manner::Json => return,
            Manner::Lines => rest(standing),
            Manner::Talk => talked(standing),
        };
        println!("{} {sentence}", styled("■", "36"));
    }
}

/// Draws nothing where standard error is no terminal.
fn spinner(manner: Manner) -> ProgressBar {
    let bar = match manner {
        Manner::Json => return ProgressBar::hidden(),
        Manner::Lines | Manner::Talk => ProgressBar::new_spinner(),
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.set_message("at work");
    bar
}

/// What is said at once is seen at once. A reader that is gone shows with the next line.
fn flush() {
    let _ = std::io::stdout().flush();
}

/// `{"event", "id", "told"}`.
fn json_line(told: &Told) -> String {
    // An event's name and id are plain words.
    let (name, id, body) = (told.event.name(), &told.id, told.event.json());
    format!(r#"{{"event":"{name}","id":"{id}","told":{body}}}"#)
}

/// Control characters of a customer must not steer a terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\t').collect()
}

/// What came of a call: for a classification what it says, else what was done.
fn what(name: &str, args: &Value, line: &str) -> String {
    let level = match args["priority"].as_str() {
        Some("urgent") => "P1",
        Some("high") => "P2",
        Some("normal") => "P3",
        Some("low") => "P4",
        Some(_) | None => return line.to_owned(),
    };
    match args["category"].as_str() {
        Some(category) if name == deskhand_core::tool::classify::CLASSIFY_TICKET.name => {
            format!("{category} · {level}")
        }
        Some(_) | None => line.to_owned(),
    }
}

/// In a conversation what waits is shown next.
fn talked(standing: Standing) -> String {
    match (standing.state, standing.ending) {
        (RunState::Waiting, None) if standing.paused => {
            "Paused. Say what to do, or /resume lets it go on; /stop ends it.".to_owned()
        }
        (RunState::Waiting, None) => "Waits for a person.".to_owned(),
        _ => rest(standing),
    }
}

fn rest(standing: Standing) -> String {
    match (standing.state, standing.ending) {
        (RunState::Waiting, _) if standing.paused => "Paused by a person; resume lets it go on.".to_owned(),
        (RunState::Waiting, Some(_)) => "Waits for what it sent to arrive.".to_owned(),
        (RunState::Waiting, None) => "Waits for a decision: deskhand approvals shows it.".to_owned(),
        (RunState::Completed, ending) => ending.map_or("Completed.", Ending::sentence).to_owned(),
        (RunState::Failed, _) => "Failed; a person must look at it.".to_owned(),
        (RunState::Cancelled, _) => "Stopped.".to_owned(),
        (RunState::Queued | RunState::Running, _) => "At work.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_classification_is_told_as_category_and_level() {
        let args = json!({ "category": "refund", "priority": "urgent" });
        assert_eq!(what("classify_ticket", &args, "Classifying"), "refund · P1");
        assert_eq!(
            what("escalate_ticket", &args, "Escalating to level 2"),
            "Escalating to level 2"
        );
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\r\u{7}c"), "a[2Jbc");
    }
}
