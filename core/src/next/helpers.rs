//! The helpers of a run: started, looked at, waited for and closed. Also the report with which a helper ends.

use std::fmt::Write;

use serde_json::json;

use super::Record;
use crate::facts::{Facts, HelperFact};
use crate::fence;
use crate::id::CallKey;
use crate::run::{Ending, RunState};
use crate::step::Outcome;
use crate::tool::helper::{AT_ONCE, CloseHelper, SpawnHelper, WaitHelper};
use crate::transcript::Transcript;

/// Characters of a report that a run is shown.
const REPORT: usize = 8_000;

/// A helper to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    pub call: CallKey,
    /// From 1, within the run.
    pub number: i32,
    pub task: String,
}

/// What a run waits for until helpers have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Await {
    pub call: CallKey,
    /// Those that were at work when it was called.
    pub helpers: Vec<i32>,
}

impl Record {
    pub(super) fn spawn(&mut self, call: CallKey, args: &SpawnHelper, facts: &Facts) {
        let open = |helper: &&HelperFact| helper.is_at_work() && !self.closed.contains(&helper.number);
        if facts.helpers.iter().filter(open).count() + self.spawned.len() >= AT_ONCE {
            let text = format!("{AT_ONCE} helpers are at work already: wait for one, or close one.");
            return self.outcome(call, Outcome::failed(text));
        }
        let task = args.task.trim();
        if task.is_empty() {
            return self.outcome(call, Outcome::failed("Say what the helper is to find out."));
        }
        let last = facts.helpers.iter().map(|helper| helper.number).max().unwrap_or(0);
        let number = last + 1 + i32::try_from(self.spawned.len()).unwrap_or(0);
        self.spawned.push(Spawn {
            call,
            number,
            task: task.to_owned(),
        });
        let text = format!("Helper {number} is at work. wait_helper gives its report.");
        self.outcome(call, Outcome::ok(text).with(json!({ "helper": number })));
    }

    pub(super) fn list_helpers(&mut self, call: CallKey, facts: &Facts) {
        let mut text = String::new();
        for helper in &facts.helpers {
            let _ = writeln!(text, "Helper {}: {}: {}", helper.number, standing(helper), helper.task);
        }
        if text.is_empty() {
            text.push_str("There are no helpers.");
        }
        self.outcome(call, Outcome::ok(text.trim_end()));
    }

    pub(super) fn close_helper(&mut self, call: CallKey, args: &CloseHelper, facts: &Facts) {
        let number = args.helper;
        let outcome = match facts.helpers.iter().find(|helper| helper.number == number) {
            None => Outcome::failed(format!("There is no helper {number}.")),
            Some(helper) if !helper.is_at_work() || self.closed.contains(&number) => {
                Outcome::ok(format!("Helper {number} is not at work any more."))
            }
            Some(_) => {
                self.closed.push(number);
                Outcome::ok(format!("Helper {number} is closed."))
            }
        };
        self.outcome(call, outcome);
    }
}

/// What waiting comes to: an outcome when all of them have ended, else whom the run waits for.
pub(super) fn wait(call: CallKey, args: &WaitHelper, facts: &Facts) -> Result<Outcome, Await> {
    if facts.helpers.is_empty() {
        return Ok(Outcome::failed("There are no helpers to wait for."));
    }
    let named = |helper: &&HelperFact| args.helpers.is_empty() || args.helpers.contains(&helper.number);
    let wanted: Vec<&HelperFact> = facts.helpers.iter().filter(named).collect();
    let is_known = |number: &&i32| wanted.iter().any(|helper| helper.number == **number);
    if let Some(number) = args.helpers.iter().find(|number| !is_known(number)) {
        return Ok(Outcome::failed(format!("There is no helper {number}.")));
    }
    let at_work = wanted.iter().filter(|helper| helper.is_at_work());
    let helpers: Vec<i32> = at_work.map(|helper| helper.number).collect();
    if !helpers.is_empty() {
        return Err(Await { call, helpers });
    }
    Ok(Outcome::ok(reports(&wanted)))
}

/// What the model hears when it must go on before the helpers have ended.
pub(super) fn not_yet(awaited: &Await, what: &str) -> Outcome {
    let numbers: Vec<String> = awaited.helpers.iter().map(ToString::to_string).collect();
    Outcome::ok(format!(
        "Still at work: helper {}. You need not wait just now: {what}. Call wait_helper again for the reports.",
        numbers.join(", ")
    ))
}

fn standing(helper: &HelperFact) -> &'static str {
    match helper.state {
        RunState::Queued | RunState::Running | RunState::Waiting => "is at work",
        RunState::Completed => "has reported",
        RunState::Failed => "failed",
        RunState::Cancelled => "was closed",
    }
}

/// What helpers found, fenced: they read what customers wrote, and their words are no instruction either.
fn reports(helpers: &[&HelperFact]) -> String {
    let mut text = String::new();
    for helper in helpers {
        let report = match helper.report.char_indices().nth(REPORT) {
            Some((at, _)) => format!("{}…", &helper.report[..at]),
            None => helper.report.clone(),
        };
        let report = match (report.trim(), helper.state) {
            ("", RunState::Cancelled) => String::new(),
            ("", _) => "It reported nothing.".to_owned(),
            (report, _) => fence::fenced(report),
        };
        let _ = writeln!(text, "Helper {} {}.\n{report}", helper.number, standing(helper));
    }
    text.trim_end().to_owned()
}

/// What a helper reports when it ends.
pub fn report(transcript: &Transcript, ending: Ending) -> String {
    let said = transcript.last_reply().map_or("", |(_, reply)| reply.text.trim());
    let stopped = match ending {
        Ending::Reported => return said.to_owned(),
        Ending::EmptyReply => "The helper came to nothing.",
        Ending::MaxSteps => "The helper reached its limit of steps.",
        Ending::Budget => "The budget was used up.",
        Ending::Answered | Ending::Triaged | Ending::HandedOver | Ending::Recorded => "The helper has ended.",
    };
    match said {
        "" => stopped.to_owned(),
        said => format!("{stopped} So far: {said}"),
    }
}
