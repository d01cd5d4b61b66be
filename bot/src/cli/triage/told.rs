//! A run's events as lines: for people with a spinner below them where there is a terminal, for programs as JSON.

use std::time::Duration;

use deskhand_core::follow::{Event, Standing, StepTold, Told};
use deskhand_core::id::TicketId;
use deskhand_core::run::{Ending, RunState};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::cli::table::{clip, styled};
use crate::follow::Reader;

/// Cells of a line.
const WIDE: usize = 110;

pub(super) struct Teller {
    ticket: TicketId,
    json: bool,
    /// Draws nothing where standard error is no terminal.
    bar: ProgressBar,
    /// The last line of a reply, as far as it is written.
    line: String,
    standing: Option<Standing>,
}

impl Teller {
    pub(super) fn new(ticket: TicketId, json: bool) -> Self {
        let bar = if json {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        bar.set_message("at work");
        Self {
            ticket,
            json,
            bar,
            line: String::new(),
            standing: None,
        }
    }

    pub(super) fn tell_all(&mut self, told: &[Told], reader: &Reader) {
        for one in told {
            if self.json {
                println!("{}", json_line(one));
            } else {
                reader.with_log(|log| self.tell(&one.event, log.transcript()));
            }
        }
    }

    fn tell(&mut self, event: &Event, transcript: &Transcript) {
        match event {
            Event::Text(text) => self.words(text),
            Event::Reset => {
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

    fn step(&mut self, told: &StepTold, transcript: &Transcript) {
        let line = std::mem::take(&mut self.line);
        self.say(&line);
        self.bar.set_message("at work");
        match &told.step.kind {
            StepKind::Outcome { call, outcome } => {
                let called = transcript.call(*call);
                let (name, args) = called.map_or(("?", &Value::Null), |call| (call.name.as_str(), &call.args));
                let mark = if outcome.failed { ("●", "31") } else { ("●", "32") };
                let line = told.line.as_deref().unwrap_or_default();
                let what = if outcome.failed {
                    line.to_owned()
                } else {
                    what(name, args, line)
                };
                self.print(mark.0, mark.1, &format!("{name} {} → {what}", self.ticket));
            }
            // Its words were told as they came.
            StepKind::Replied { .. } => {}
            StepKind::Heard { .. }
            | StepKind::Instructed { .. }
            | StepKind::Tasked { .. }
            | StepKind::Noted { .. }
            | StepKind::Nudged
            | StepKind::Started { .. }
            | StepKind::Asked { .. }
            | StepKind::Awaited { .. }
            | StepKind::Booked { .. }
            | StepKind::CompactAsked { .. }
            | StepKind::Compacted { .. }
            | StepKind::Partial { .. }
            | StepKind::Stumbled { .. } => {
                if let Some(line) = &told.line {
                    self.print("·", "2", line);
                }
            }
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

    /// The last word: what the run waits for, or how it ended.
    pub(super) fn rests(&self) {
        self.bar.finish_and_clear();
        if let Some(standing) = self.standing.filter(|_| !self.json) {
            println!("{} {}", styled("■", "36"), rest(standing));
        }
    }
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
