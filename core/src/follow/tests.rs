use chrono::DateTime;
use proptest::prelude::*;

use super::*;
use crate::id::EffectId;
use crate::model::ModelReply;
use crate::run::{Ending, RunState};
use crate::step::About;

fn step(seq: i32, kind: StepKind) -> Step {
    let at = DateTime::default();
    Step { seq, at, kind }
}

fn note() -> StepKind {
    StepKind::Noted {
        text: "the reply was delivered".into(),
        about: About::Effect(EffectId(uuid::Uuid::nil())),
    }
}

fn replied(text: &str) -> StepKind {
    StepKind::Replied {
        model: "script".into(),
        reply: Box::new(ModelReply {
            text: text.into(),
            ..ModelReply::default()
        }),
    }
}

fn standing(state: RunState) -> Option<Standing> {
    let ending = (state == RunState::Completed).then_some(Ending::Answered);
    Some(Standing {
        state,
        paused: false,
        ending,
    })
}

fn running(attempt: i32) -> Look {
    Look {
        attempt,
        standing: standing(RunState::Running),
        settled: false,
    }
}

fn under_way(attempt: i32, after: i32, text: &str) -> UnderWay {
    UnderWay {
        attempt,
        after,
        text: text.into(),
        lags: false,
    }
}

/// A run after its 7th step, under its third claim.
fn at_seven() -> Log {
    let mut log = Log::default();
    log.look(running(3));
    log.append((1..=7).map(|seq| step(seq, note())).collect());
    log
}

fn read(log: &Log, from: &str) -> Vec<String> {
    let mut cursor: Cursor = from.parse().expect("an id");
    let told = log.after(&mut cursor, usize::MAX);
    let lines = told.iter().map(|told| match &told.event {
        Event::Step(one) => format!("step {}", one.step.seq),
        Event::Text(text) => format!("text {text}"),
        Event::State(state) => format!("state {state}"),
        other @ (Event::Reset | Event::End) => other.name().to_owned(),
    });
    lines.collect()
}

/// The id of a reader who has this much of a reply under a claim.
fn has(step: i32, attempt: i32, text: &str) -> String {
    let reply = Some(Mark::new(attempt, text));
    let state = standing(RunState::Running);
    Cursor {
        step,
        reply,
        state,
        ended: false,
    }
    .to_string()
}

#[test]
fn a_reader_who_has_half_of_a_reply_is_told_the_rest_and_then_the_step() {
    let mut log = at_seven();
    log.append(vec![step(8, replied("Dear Ada, thank you."))]);
    assert_eq!(read(&log, &has(7, 3, "Dear Ada, ")), ["text thank you.", "step 8"]);
    assert_eq!(
        read(&log, &has(7, 2, "Hello")),
        ["reset", "text Dear Ada, thank you.", "step 8"]
    );
    assert_eq!(read(&log, "7~running"), ["text Dear Ada, thank you.", "step 8"]);
    assert_eq!(read(&log, "8~running"), [""; 0]);
}

#[test]
fn another_reply_is_told_of_once_the_step_of_the_one_before_it_is_known() {
    let mut log = Log::default();
    log.writing(under_way(1, 0, "First I "));
    let next = under_way(1, 1, "It is ");
    assert!(log.goes_on_with(&under_way(1, 0, "First I look.")));
    assert!(!log.goes_on_with(&next), "the store must be looked at first");

    let mut cursor = Cursor::default();
    let told = |log: &Log, cursor: &mut Cursor| -> Vec<&str> {
        log.after(cursor, 9).iter().map(|told| told.event.name()).collect()
    };
    assert_eq!(told(&log, &mut cursor), ["text"]);
    log.append(vec![step(1, replied("First I look."))]);
    log.writing(next);
    assert_eq!(
        told(&log, &mut cursor),
        ["text", "step", "text"],
        "nothing is taken back"
    );
}

#[test]
fn a_reply_that_begins_anew_under_another_claim_is_reset() {
    let mut log = at_seven();
    log.writing(under_way(3, 7, "Dear Ada"));
    assert_eq!(read(&log, "7~running"), ["text Dear Ada"]);
    assert_eq!(read(&log, &has(7, 3, "Dear")), ["text  Ada"]);
    log.writing(under_way(4, 7, ""));
    assert_eq!(read(&log, &has(7, 3, "Dear")), ["reset"]);
    log.writing(under_way(4, 7, "Dear Ben"));
    assert_eq!(read(&log, &has(7, 3, "Dear")), ["reset", "text Dear Ben"]);
}

#[test]
fn a_replica_that_knows_less_than_the_reader_tells_nothing() {
    let mut log = at_seven();
    log.writing(UnderWay {
        lags: true,
        ..under_way(3, 7, "Dear")
    });
    assert_eq!(
        read(&log, &has(7, 3, "Dear Ada, ")),
        [""; 0],
        "the same reply, further on"
    );
    assert_eq!(read(&log, &has(7, 4, "Hi")), [""; 0], "a later claim");
    assert_eq!(read(&log, "8~waiting"), [""; 0], "a later step");
    assert_eq!(read(&log, "6~completed:answered"), ["step 7", "text Dear"]);
}

#[test]
fn the_end_comes_once_and_a_reply_that_never_came_is_taken_back() {
    let mut log = at_seven();
    log.writing(under_way(3, 7, "Dear"));
    let mut over = running(3);
    over.standing = standing(RunState::Cancelled);
    log.look(over);
    assert_eq!(
        read(&log, &has(7, 3, "Dear")),
        ["state cancelled"],
        "its last words may come"
    );
    over.settled = true;
    log.look(over);
    assert_eq!(read(&log, &has(7, 3, "Dear")), ["state cancelled", "reset", "end"]);
    assert_eq!(read(&log, "7~cancelled!"), [""; 0]);
    assert_eq!(
        read(&log, "99"),
        ["state cancelled", "end"],
        "nobody waits for what never comes"
    );
}

#[test]
fn an_id_in_the_middle_of_a_character_begins_the_reply_anew() {
    let mut log = at_seven();
    log.append(vec![step(8, replied("退货"))]);
    for id in [
        "7.3.1.00000000~running",
        "7.3.999.00000000~running",
        "7.3.3.00000000~running",
    ] {
        assert_eq!(read(&log, id), ["reset", "text 退货", "step 8"], "{id}");
    }
}

#[test]
fn ids_are_read_as_they_are_written_and_nothing_else_is() {
    for id in [
        "0",
        "7",
        "7.3.120.9f3a11c2",
        "7~paused",
        "8.1.0.84222325~waiting:answered",
        "9~completed:answered!",
    ] {
        let cursor: Cursor = id.parse().expect(id);
        assert_eq!(cursor.to_string(), id);
    }
    for id in [
        "",
        "x",
        "-1",
        "+7",
        "7.",
        "7.3",
        "7.3.120",
        "7.3.120.9f",
        "7.3.120.9f3a11c2.1",
        "7~",
        "7~asleep",
        "7~waiting:late",
        "99999999999",
        "7.3.-1.9f3a11c2",
        "7.3.120.+f3a11c2",
        "7!!",
    ] {
        assert!(id.parse::<Cursor>().is_err(), "{id}");
    }
}

/// A run with a process that works it and a replica that sees only the store.
#[derive(Default)]
struct World {
    steps: Vec<Step>,
    attempt: i32,
    here: Option<UnderWay>,
    table: Option<UnderWay>,
    logs: [Log; 2],
}

#[derive(Default)]
struct Reader {
    id: String,
    text: String,
    seen: Vec<(i32, String)>,
    ends: u32,
}

impl World {
    fn write_down(&mut self, kind: StepKind) {
        let seq = i32::try_from(self.steps.len()).expect("few steps") + 1;
        self.steps.push(step(seq, kind));
    }

    /// One thing happens, drawn by its number.
    fn happens(&mut self, what: u8, n: u8) {
        let last = self.steps.last().map_or(0, |step| step.seq);
        match what {
            0 if self.here.is_none() => self.write_down(note()),
            // A reply begins, maybe after a step that is not written down yet, maybe by a substitute under the same claim.
            1 => {
                self.attempt = (self.attempt + i32::from(n % 2)).max(1);
                self.here = Some(under_way(self.attempt, last + i32::from(n / 2 % 2), ""));
            }
            2 | 3 => {
                let piece = ["Dear ", "Ada, ", "退货", "é", "\0"][usize::from(n) % 5];
                self.here.iter_mut().for_each(|here| here.text.push_str(piece));
            }
            4 => {
                self.table = self
                    .here
                    .clone()
                    .map(|here| UnderWay { lags: true, ..here })
                    .or(self.table.take())
            }
            5 if n.is_multiple_of(3) => self.here = None,
            5 => {
                if let Some(here) = self.here.take() {
                    (last..here.after).for_each(|_| self.write_down(note()));
                    let mut text = here.text.replace('\0', "\u{fffd}");
                    if n.is_multiple_of(7) {
                        text = text.trim().to_owned();
                    }
                    self.write_down(match n % 2 {
                        0 => replied(&text),
                        _ => StepKind::Partial {
                            text,
                            why: "paused".into(),
                        },
                    });
                }
            }
            6 => self.looks(0, running(self.attempt)),
            7 => self.looks(1, running(self.attempt)),
            _ => {}
        }
    }

    fn looks(&mut self, log: usize, look: Look) {
        let here = if log == 0 { self.here.clone() } else { None };
        let log = &mut self.logs[log];
        log.look(look);
        log.append(self.steps.clone());
        here.or_else(|| self.table.clone()).into_iter().for_each(|seen| {
            log.writing(seen);
        });
    }

    /// The reader reads on a replica and is cut off after so many events.
    fn is_read(&self, reader: &mut Reader, log: usize, cut: usize) {
        let mut cursor: Cursor = reader.id.parse().expect("an id of ours");
        for told in self.logs[log].after(&mut cursor, cut).into_iter().take(cut) {
            reader.id = told.id.to_string();
            assert_eq!(reader.ends, 0, "nothing comes after the end");
            match told.event {
                Event::Step(told) => {
                    let text = match reply_of(&told.step.kind) {
                        Some(_) => std::mem::take(&mut reader.text),
                        None => String::new(),
                    };
                    reader.seen.push((told.step.seq, text));
                }
                Event::Text(text) => reader.text.push_str(&text),
                Event::Reset => reader.text.clear(),
                Event::State(_) => {}
                Event::End => reader.ends += 1,
            }
        }
    }
}

proptest! {
    #[test]
    fn wherever_the_stream_is_cut_the_whole_is_the_same(
        script in proptest::collection::vec((0_u8..10, any::<u8>()), 0..120),
        cuts in proptest::collection::vec((0_usize..2, 1_usize..4), 1..20),
    ) {
        let mut world = World::default();
        let mut reader = Reader { id: "0".into(), ..Reader::default() };
        for (what, n) in script {
            match what {
                8 | 9 => world.is_read(&mut reader, usize::from(n) % 2, usize::from(n) / 2 % 4),
                what => world.happens(what, n),
            }
        }
        world.here = None;
        let over = Look { attempt: world.attempt, standing: standing(RunState::Completed), settled: true };
        world.looks(0, over);
        world.looks(1, over);
        for (log, cut) in cuts.iter().cycle().take(1000) {
            world.is_read(&mut reader, *log, *cut);
        }
        let whole: Vec<(i32, String)> = world
            .steps
            .iter()
            .map(|step| (step.seq, reply_of(&step.kind).unwrap_or_default().to_owned()))
            .collect();
        prop_assert_eq!(&reader.seen, &whole);
        prop_assert_eq!((reader.ends, reader.text.as_str()), (1, ""));
    }
}
