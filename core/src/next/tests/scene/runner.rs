//! What a scene's run does: `next` decides, and each decision is done as the runner and the store would.

use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::{Scene, Yielded};
use crate::approval::ApprovalState;
use crate::article::ArticleState;
use crate::context::Compacting;
use crate::digest;
use crate::effect::Effect;
use crate::facts::{ApprovalFact, EffectFact, HelperFact, Role, Standing};
use crate::id::{ApprovalId, ArticleId, CallKey, EffectId};
use crate::model::Usage;
use crate::next::{Ask, Await, Looking, Next, Record, Sending, Starting, next};
use crate::port::Bookkeeping;
use crate::run::{EffectState, RunState};
use crate::step::{Outcome, Step, StepKind};
use crate::ticket::{Comment, Priority};
use crate::tool::helper::AT_ONCE;
use crate::tool::lookup::Look;

/// More than any run does between two yields; a scene that gets there goes in circles.
const CIRCLES: usize = 200;

/// How a call of a tool outside goes.
#[derive(PartialEq, Eq)]
enum Call {
    Answers,
    /// The process dies before the answer is written down.
    Dies,
}

impl Scene {
    pub(crate) fn append(&mut self, kind: StepKind) {
        let seq = self.transcript.next_seq();
        let at = DateTime::UNIX_EPOCH;
        self.transcript.push(Step { seq, at, kind });
    }

    /// Works until the run yields, and gives what happened, a line each.
    pub(crate) fn happens(&mut self) -> String {
        self.works();
        std::mem::take(&mut self.lines).join("\n")
    }

    pub(crate) fn works(&mut self) -> Yielded {
        for _ in 0..CIRCLES {
            let now = next(&self.transcript, &self.facts);
            assert_eq!(now, next(&self.transcript, &self.facts), "the same again is the same");
            if let Some(yielded) = self.does(now) {
                return yielded;
            }
        }
        panic!("the run goes in circles:\n{}", self.lines[CIRCLES - 20..].join("\n"));
    }

    fn does(&mut self, now: Next) -> Option<Yielded> {
        match now {
            Next::AskModel(request) => {
                self.lines.push("asks the model".into());
                self.request = Some(request);
                return Some(Yielded::AskedModel);
            }
            Next::Look(looks) => {
                let names: Vec<&str> = looks.iter().map(|looking| self.name_of(looking.call)).collect();
                self.lines.push(format!("looks: {}", names.join(", ")));
                for looking in looks {
                    let outcome = self.look(&looking);
                    let call = looking.call;
                    self.append(StepKind::Outcome { call, outcome });
                }
            }
            Next::Record(record) => self.records(record),
            Next::Send(sending) => self.sends(sending),
            Next::Compact(compacting) => self.summarises(*compacting),
            Next::Start(starting) => {
                if self.starts(&starting) == Call::Dies {
                    return Some(Yielded::Died);
                }
            }
            Next::Wait(wait) => {
                self.awaited.clear();
                self.may_commit(wait.heard);
                for ask in wait.asks {
                    self.asks(ask);
                }
                self.books(wait.bookkeeping);
                for awaited in wait.awaits {
                    self.awaits(awaited);
                }
                let open = self
                    .facts
                    .approvals
                    .iter()
                    .filter(|approval| approval.state == ApprovalState::Open)
                    .map(|approval| approval.id.to_string());
                let helpers = self.awaited.iter().map(|number| format!("helper {number}"));
                let open: Vec<String> = open.chain(helpers).collect();
                assert!(!open.is_empty(), "nobody would ever wake it");
                self.lines.push(format!("waits for {}", open.join(", ")));
                return Some(Yielded::Waits);
            }
            Next::Finish(finish) => {
                // A helper's report is true whatever was said meanwhile: its parent hears of that.
                if self.facts.role == Role::Main {
                    self.may_commit(finish.heard);
                }
                self.books(finish.bookkeeping);
                self.lines.push(format!("ends: {}", finish.ending));
                self.ended = true;
                return Some(Yielded::Ended);
            }
        }
        None
    }

    /// The runner commits none of these while a public comment is unheard, and asks `next` again: for ever, if `next`
    /// gave the same again.
    fn may_commit(&self, heard: i64) {
        let newer = |comment: &Comment| comment.public && comment.id > heard;
        assert!(!self.facts.unheard.iter().any(newer), "a public comment is unheard");
    }

    fn records(&mut self, record: Record) {
        assert!(!record.steps.is_empty(), "a record without steps would come again");
        if let Some(triage) = record.triage {
            self.facts.ticket.triage = Some(triage);
        }
        for (id, why) in record.superseded {
            self.lines.push(format!("takes back {id}: {why}"));
            let approval = self.approval(id.0);
            assert!(!approval.executed, "{id} was executed");
            approval.state = ApprovalState::Superseded;
        }
        for number in record.closed {
            self.helper_ends(number, RunState::Cancelled, "");
        }
        for spawn in record.spawned {
            let at_work = self.facts.helpers.iter().filter(|helper| helper.is_at_work());
            assert!(at_work.count() < AT_ONCE, "too many helpers");
            assert!(
                self.facts.helpers.iter().all(|helper| helper.number < spawn.number),
                "a second helper {}",
                spawn.number
            );
            self.facts.helpers.push(HelperFact {
                number: spawn.number,
                call: spawn.call,
                task: spawn.task,
                state: RunState::Queued,
                report: String::new(),
            });
        }
        for step in record.steps {
            self.tells(step);
        }
    }

    fn awaits(&mut self, awaited: Await) {
        for number in &awaited.helpers {
            let helper = self.facts.helpers.iter().find(|helper| helper.number == *number);
            assert!(
                helper.is_some_and(HelperFact::is_at_work),
                "helper {number} would never wake it"
            );
        }
        self.awaited.extend(&awaited.helpers);
        if !self.transcript.awaited(awaited.call) {
            self.append(StepKind::Awaited {
                call: awaited.call,
                helpers: awaited.helpers,
            });
        }
    }

    fn tells(&mut self, step: StepKind) {
        let line = match &step {
            StepKind::Heard { comments, .. } => format!("hears {}", comments.len()),
            StepKind::Noted { text, .. } => format!("notes: {text}"),
            StepKind::Nudged => "nudges".into(),
            StepKind::Outcome { call, outcome } => {
                assert!(self.transcript.outcome(*call).is_none(), "a second outcome of {call:?}");
                let verb = if outcome.failed { "fails" } else { "tells" };
                format!("{verb} {}: {}", self.name_of(*call), outcome.text)
            }
            other => panic!("next does not record {other:?}"),
        };
        if matches!(step, StepKind::Heard { .. }) {
            self.facts.unheard.clear();
        }
        self.lines.push(line);
        self.append(step);
    }

    fn sends(&mut self, sending: Sending) {
        self.may_commit(sending.heard);
        let how = match (sending.recorded, sending.approval) {
            (true, _) => "records".into(),
            (false, Some(id)) => format!("sends {id}:"),
            (false, None) => "sends unasked:".to_owned(),
        };
        self.lines.push(format!("{how} {}", sending.effect.tool()));
        if let Some(id) = sending.approval {
            let approval = self.approval(id.0);
            assert!(approval.is_due(), "{id} may be executed once");
            approval.executed = true;
        }
        match (&sending.effect, sending.article) {
            (Effect::ProposeKnowledgeEdit(edit), Some(text)) if !sending.recorded => {
                let base = self.facts.articles.get(&edit.article).map(|article| article.revision);
                assert_eq!(base, text.base_revision, "the store takes no other base");
                self.article(&edit.article.0, base.unwrap_or(0) + 1, &text.body);
                if text.retired {
                    let article = self.facts.articles.get_mut(&edit.article);
                    article.expect("it was just put there").state = ArticleState::Retired;
                }
            }
            _ => {
                let id = EffectId(Uuid::from_u128(self.facts.effects.len() as u128 + 1));
                let state = match sending.recorded {
                    true => EffectState::Recorded,
                    false => EffectState::Pending,
                };
                self.facts.effects.push(EffectFact {
                    id,
                    call: Some(sending.call),
                    state,
                    what: sending.effect.tool().into(),
                    why: String::new(),
                });
            }
        }
        self.tells(sending.told);
    }

    fn summarises(&mut self, compacting: Compacting) {
        let cut = compacting.cut;
        assert!(compacting.request.tools.is_empty(), "a summary calls nothing");
        assert!(
            self.transcript.compacted().is_none_or(|(last, _)| cut > last),
            "the same cut again"
        );
        self.lines
            .push(format!("summarises up to {}/{}", cut.step, cut.comments));
        self.append(StepKind::Compacted {
            cut,
            brief: Box::new(compacting.brief),
            summary: compacting.digest,
            model: String::new(),
            usage: Usage::default(),
        });
    }

    /// The started step, the call, the outcome; or the process dies in between.
    fn starts(&mut self, starting: &Starting) -> Call {
        let call = starting.call;
        if starting.again {
            assert!(self.transcript.started(call), "it was not started");
        } else {
            self.may_commit(starting.heard);
            assert!(!self.transcript.started(call), "a second start of {call:?}");
            if let Some(id) = starting.approval {
                let approval = self.approval(id.0);
                assert!(approval.is_due(), "{id} may be executed once");
                approval.executed = true;
            }
            self.append(StepKind::Started { call });
        }
        let by = starting.approval.map_or_else(String::new, |id| format!(" by {id}"));
        let verb = if starting.again { "calls again" } else { "calls" };
        self.lines
            .push(format!("{verb}{by}: {} {}", starting.used.tool, starting.used.args));
        if std::mem::take(&mut self.dies) {
            return Call::Dies;
        }
        self.append(StepKind::Outcome {
            call,
            outcome: Outcome::ok("done outside"),
        });
        Call::Answers
    }

    fn asks(&mut self, ask: Ask) {
        let id = ApprovalId(self.facts.approvals.len() as i64 + 1);
        let mut line = format!("asks {id}: {}, {}", ask.effect.tool(), ask.why);
        for mark in &ask.marks {
            line.push_str(&format!(" [{}]", mark.text));
        }
        if let Some(replaced) = ask.replaces {
            line.push_str(&format!(" (instead of {replaced})"));
            self.approval(replaced.0).state = ApprovalState::Superseded;
        }
        self.lines.push(line);
        assert_eq!(ask.digest, digest::of(&ask.effect));
        self.facts.approvals.push(ApprovalFact {
            id,
            call: ask.call,
            effect: ask.effect,
            digest: ask.digest,
            state: ApprovalState::Open,
            decision: None,
            executed: false,
            standing: Standing::Holds,
        });
        self.append(StepKind::Asked {
            call: ask.call,
            approval: id,
        });
    }

    fn books(&mut self, books: Option<Bookkeeping>) {
        let Some(books) = books else { return };
        let note = books.note.unwrap_or_default().replace("\n\n", " / ");
        let priority = books.priority.map_or("no priority", Priority::as_str);
        let group = books.group.unwrap_or_else(|| "no group".into());
        self.lines.push(format!("books: {priority}, {group}: {note}"));
        let effect = EffectId(Uuid::from_u128(1000 + self.transcript.steps().len() as u128));
        self.append(StepKind::Booked { effect });
    }

    fn look(&self, looking: &Looking) -> Outcome {
        let Look::ReadArticle(args) = &looking.look else {
            return Outcome::ok("found");
        };
        match self.facts.articles.get(&ArticleId(args.article_id.clone())) {
            Some(article) => {
                Outcome::ok(article.body.clone()).with(json!({ "article": article.id, "revision": article.revision }))
            }
            None => Outcome::failed("no such article"),
        }
    }

    fn name_of(&self, call: CallKey) -> &str {
        self.transcript.call(call).map_or("?", |call| call.name.as_str())
    }
}
