//! Following a run: what a reader who stands at a [`Cursor`] is told next, from what is known of the run here.
//!
//! Wherever the stream is cut, and on whichever replica it goes on, a reader who appends each `text` and empties what it
//! has at each `reset` holds, at each step that is a reply, exactly that reply's text; and is told each step once. What is
//! known here may be older than what the reader was told elsewhere: then it is told nothing until it is not. States are
//! told as they are seen: one that passed between two looks is not made up for.

mod cursor;
mod summed;

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::json;

pub use cursor::{Cursor, Mark, NotACursor, Standing};

use crate::step::{Step, StepKind};
use crate::transcript::{self, Transcript};
use summed::Summed;

/// What is known of a run: shared by all who follow it in one process.
#[derive(Debug, Default)]
pub struct Log {
    transcript: Transcript,
    entries: Vec<Entry>,
    writing: Option<Writing>,
    standing: Option<Standing>,
    attempt: i32,
    settled: bool,
}

#[derive(Debug)]
struct Entry {
    seq: i32,
    /// The text of a step that is a reply, whole or stopped.
    text: Option<Summed>,
    told: Arc<StepTold>,
}

/// A step as readers are told of it; made once for all of them.
#[derive(Debug, PartialEq)]
pub struct StepTold {
    pub step: Step,
    /// One line for people; some steps have none.
    pub line: Option<String>,
    /// `{"seq", "at", "kind", "line", "step"}`.
    pub json: String,
}

/// A reply that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    pub attempt: i32,
    /// The step after which it is written. That step and some before it may not be written down yet.
    pub after: i32,
    pub text: String,
    /// Read from the store, where it is put now and then: there may be more of it already.
    pub lags: bool,
}

#[derive(Debug)]
struct Writing {
    attempt: i32,
    after: i32,
    text: Summed,
    lags: bool,
}

/// What the store says of the run beside its steps. It is read before them, so that a final run's steps are all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub attempt: i32,
    /// `None` for a state that this binary does not know.
    pub standing: Option<Standing>,
    /// Nothing is appended any more: the run is final, and has been for long enough that a runner which was stopped in
    /// the middle of a reply has written down what it had of it.
    pub settled: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Step(Arc<StepTold>),
    /// More of the reply.
    Text(String),
    /// The reply so far was broken off; it begins anew, or never comes.
    Reset,
    State(Standing),
    /// The run is over and all was told.
    End,
}

impl Event {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::Text(_) => "text",
            Self::Reset => "reset",
            Self::State(_) => "state",
            Self::End => "end",
        }
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        match self {
            Self::Step(told) => told.json.clone(),
            Self::Text(text) => json!({ "text": text }).to_string(),
            Self::Reset | Self::End => "{}".to_owned(),
            Self::State(standing) => json!({
                "state": standing.word(),
                "ending": standing.ending,
                "sentence": standing.ending.map(crate::run::Ending::sentence),
            })
            .to_string(),
        }
    }
}

/// An event with the place that a reader has reached with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub id: Cursor,
    pub event: Event,
}

impl Log {
    /// The number of the last step that is known here.
    pub fn last(&self) -> i32 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// The run is over, and all of it is known.
    pub fn is_over(&self) -> bool {
        self.settled && self.standing.is_some_and(|standing| standing.state.is_final())
    }

    /// The transcript as far as it is known here.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Takes in what the store says of the run. True when that is news.
    pub fn look(&mut self, look: Look) -> bool {
        let before = (self.standing, self.settled);
        self.attempt = look.attempt;
        self.standing = look.standing.or(self.standing);
        self.settled = look.settled;
        before != (self.standing, self.settled)
    }

    /// Takes in steps after the last one. True when there are any.
    pub fn append(&mut self, steps: Vec<Step>) -> bool {
        let before = self.last();
        for step in steps {
            if step.seq <= self.last() {
                continue;
            }
            self.transcript.push(step.clone());
            let line = transcript::line(&self.transcript, &step);
            let kind = serde_json::to_value(&step.kind).unwrap_or_default();
            let json = json!({ "seq": step.seq, "at": step.at, "kind": kind["kind"], "line": line, "step": kind });
            self.entries.push(Entry {
                seq: step.seq,
                text: reply_of(&step.kind).map(|text| Summed::new(text.to_owned())),
                told: Arc::new(StepTold {
                    step,
                    line,
                    json: json.to_string(),
                }),
            });
        }
        self.last() > before
    }

    /// Takes in what is written of a reply. True when that is news; what is older than what is known is left.
    pub fn writing(&mut self, mut new: UnderWay) -> bool {
        // As its step will have it: the store knows no NUL.
        if new.text.contains('\0') {
            new.text = new.text.replace('\0', "\u{fffd}");
        }
        let UnderWay {
            attempt,
            after,
            text,
            lags,
        } = new;
        let Some(known) = &mut self.writing else {
            let text = Summed::new(text);
            self.writing = Some(Writing {
                attempt,
                after,
                text,
                lags,
            });
            return true;
        };
        let put_earlier = match after.cmp(&known.after) {
            Ordering::Less => true,
            Ordering::Equal => !known.lags || known.text.text().starts_with(&text),
            Ordering::Greater => false,
        };
        if attempt < known.attempt || (attempt == known.attempt && lags && put_earlier) {
            return false;
        }
        let news = (attempt, after, text.as_str()) != (known.attempt, known.after, known.text.text());
        (known.attempt, known.after, known.lags) = (attempt, after, lags);
        known.text.set(text);
        news
    }

    /// Whether this is the reply that is known to be written, or none is. Before another one is told of, the step that the
    /// known one became must be.
    pub fn goes_on_with(&self, new: &UnderWay) -> bool {
        self.writing
            .as_ref()
            .is_none_or(|known| (known.attempt, known.after) == (new.attempt, new.after))
    }

    /// What comes next for a reader, at most so many events; moves the cursor behind them. Empty when there is nothing
    /// new, or when the reader knows more than is known here.
    pub fn after(&self, cursor: &mut Cursor, most: usize) -> Vec<Told> {
        let mut telling = Telling {
            cursor,
            told: Vec::new(),
        };
        let from = self.entries.partition_point(|entry| entry.seq <= telling.cursor.step);
        for entry in &self.entries[from..] {
            if telling.told.len() >= most {
                return telling.told;
            }
            telling.cursor.ended = false;
            if let Some(text) = &entry.text {
                telling.text(self.attempt, text);
                telling.cursor.reply = None;
            }
            telling.cursor.step = entry.seq;
            telling.tell(Event::Step(Arc::clone(&entry.told)));
        }
        if let Some(writing) = &self.writing {
            self.tell_writing(writing, &mut telling);
        }
        // A place beyond the end of a run that is over is a place of no run: its reader is told the end.
        if self.last() >= telling.cursor.step || self.is_over() {
            self.tell_standing(&mut telling);
        }
        telling.told
    }

    fn tell_writing(&self, writing: &Writing, telling: &mut Telling<'_>) {
        let over = writing.after < self.last() || writing.after < telling.cursor.step || self.settled;
        let told = telling.cursor.reply;
        let older = told.is_some_and(|told| writing.attempt < told.attempt);
        // The same reply, of which the reader was told more elsewhere.
        let catches_up = told.is_some_and(|told| {
            writing.lags && writing.attempt == told.attempt && writing.text.text().len() < told.bytes
        });
        if over || older || catches_up {
            return;
        }
        if told.is_some_and(|told| writing.attempt > told.attempt) {
            telling.reset();
        }
        telling.text(writing.attempt, &writing.text);
    }

    fn tell_standing(&self, telling: &mut Telling<'_>) {
        let Some(standing) = self.standing else { return };
        let told = telling.cursor.state;
        // A final state is the last one, whatever an older look says.
        let older = told.is_some_and(|told| told.state.is_final());
        if told != Some(standing) && !older {
            telling.cursor.state = Some(standing);
            telling.tell(Event::State(standing));
        }
        if self.is_over() && !telling.cursor.ended {
            telling.reset();
            telling.cursor.ended = true;
            telling.tell(Event::End);
        }
    }
}

struct Telling<'a> {
    cursor: &'a mut Cursor,
    told: Vec<Told>,
}

impl Telling<'_> {
    fn tell(&mut self, event: Event) {
        let id = self.cursor.clone();
        self.told.push(Told { id, event });
    }

    /// What of a reply's text is not told yet. A reader who has something else of it begins anew.
    fn text(&mut self, attempt: i32, text: &Summed) {
        let told = self.cursor.reply.unwrap_or(Mark::new(attempt, ""));
        let rest = match text.rest(&told) {
            Some(rest) => rest,
            None => {
                self.reset();
                text.text()
            }
        };
        if !rest.is_empty() {
            self.cursor.reply = Some(text.mark(attempt));
            self.tell(Event::Text(rest.to_owned()));
        }
    }

    fn reset(&mut self) {
        if self.cursor.reply.take().is_some_and(|told| told.bytes > 0) {
            self.tell(Event::Reset);
        }
    }
}

fn reply_of(kind: &StepKind) -> Option<&str> {
    match kind {
        StepKind::Replied { reply, .. } => Some(&reply.text),
        StepKind::Partial { text, .. } => Some(text),
        StepKind::Heard { .. }
        | StepKind::Instructed { .. }
        | StepKind::Tasked { .. }
        | StepKind::Noted { .. }
        | StepKind::Nudged
        | StepKind::Started { .. }
        | StepKind::Outcome { .. }
        | StepKind::Asked { .. }
        | StepKind::Awaited { .. }
        | StepKind::Booked { .. }
        | StepKind::CompactAsked { .. }
        | StepKind::Compacted { .. }
        | StepKind::Stumbled { .. } => None,
    }
}

#[cfg(test)]
mod tests;
