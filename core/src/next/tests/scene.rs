//! A run on a ticket, worked in memory: `next` decides, the scene does it as the runner would, and writes down what
//! happened in lines that people read. What it imitates of the store are only the rules that `next` leans on.

use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::approval::{ApprovalState, Decision};
use crate::article::{Article, ArticleState};
use crate::digest;
use crate::facts::{ApprovalFact, EffectFact, Facts, Limits, Prompt, Standing};
use crate::id::{ApprovalId, ArticleId, CallKey, EffectId, RunId, TicketId};
use crate::model::{Call, ModelReply, ModelRequest, Stop, Usage};
use crate::next::{Ask, Looking, Next, Record, Sending, next};
use crate::port::Bookkeeping;
use crate::run::EffectState;
use crate::step::{Outcome, Step, StepKind};
use crate::ticket::{
    Action, Author, Comment, Mode, OutsideId, Priority, Requester, Source, Ticket, TicketState, Triage,
};
use crate::tool::lookup::Look;
use crate::transcript::Transcript;

/// More than any run does between two yields; a scene that gets there goes in circles.
const CIRCLES: usize = 200;

pub(crate) struct Scene {
    pub(crate) transcript: Transcript,
    pub(crate) facts: Facts,
    /// The latest request to the model.
    pub(crate) request: Option<ModelRequest>,
    /// How often the run yielded with nothing more to do.
    pub(crate) ended: bool,
    comments: i64,
    lines: Vec<String>,
}

/// What a run is after when it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yielded {
    AskedModel,
    Waits,
    Ended,
}

impl Scene {
    /// A ticket by Ada, in mode ask, nothing heard yet.
    pub(crate) fn new() -> Self {
        let ticket = Ticket {
            id: TicketId(1001),
            outside: OutsideId {
                source: Source::Zendesk,
                id: "35436".into(),
            },
            subject: "Refund for order 4711".into(),
            requester: Requester {
                name: "Ada".into(),
                address: "ada@example.com".into(),
            },
            state: TicketState::New,
            version: 0,
            triage: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        };
        let mut scene = Self {
            transcript: Transcript::default(),
            facts: Facts {
                now: DateTime::UNIX_EPOCH,
                run: RunId(Uuid::nil()),
                ticket,
                automatic: false,
                unheard: Vec::new(),
                approvals: Vec::new(),
                effects: Vec::new(),
                grants: Vec::new(),
                mode: Mode::Ask,
                limits: Limits::default(),
                articles: Default::default(),
                known_links: Default::default(),
                prompt: Prompt::default(),
            },
            request: None,
            ended: false,
            comments: 0,
            lines: Vec::new(),
        };
        scene.customer_writes("Where is my refund?");
        scene
    }

    /// A run whose model was asked for the first time.
    pub(crate) fn at_work() -> Self {
        let mut scene = Self::new();
        scene.happens();
        scene
    }

    pub(crate) fn in_mode(mode: Mode) -> Self {
        let mut scene = Self::at_work();
        scene.facts.mode = mode;
        scene
    }

    // What the model does.

    pub(crate) fn model(&mut self, text: &str, calls: &[(&str, Value)], stop: Stop) -> &mut Self {
        let calls = (1..)
            .zip(calls)
            .map(|(n, (name, args)): (u32, _)| Call {
                id: format!("call-{n}"),
                name: (*name).into(),
                args: args.clone(),
            })
            .collect();
        let reply = Box::new(ModelReply {
            text: text.into(),
            calls,
            stop,
            usage: Usage {
                input: 100,
                output: 10,
                ..Usage::default()
            },
            raw: None,
        });
        self.append(StepKind::Replied {
            model: "scripted".into(),
            reply,
        });
        self
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.model(text, &[], Stop::EndOfTurn)
    }

    pub(crate) fn calls(&mut self, calls: &[(&str, Value)]) -> &mut Self {
        self.model("", calls, Stop::Calls)
    }

    // What people do.

    /// As intake does it: the comment is stored, the version goes up, open drafts are withdrawn.
    pub(crate) fn customer_writes(&mut self, body: &str) -> &mut Self {
        self.comment(Author::Requester, true, body);
        self.facts.ticket.version += 1;
        for approval in &mut self.facts.approvals {
            if approval.state == ApprovalState::Open && approval.effect.answers_the_customer() {
                decide(approval, ApprovalState::Withdrawn, "", "the customer wrote again", None);
            }
        }
        self
    }

    pub(crate) fn comment(&mut self, author: Author, public: bool, body: &str) -> &mut Self {
        self.comments += 1;
        self.facts.unheard.push(Comment {
            id: self.comments,
            author,
            author_name: author.to_string(),
            public,
            body: body.into(),
            created_at: DateTime::UNIX_EPOCH,
        });
        self
    }

    pub(crate) fn instructed(&mut self, text: &str) -> &mut Self {
        self.append(StepKind::Instructed {
            text: text.into(),
            by: "slack:U2".into(),
            by_name: "kim".into(),
        });
        self
    }

    pub(crate) fn approves(&mut self, id: i64) -> &mut Self {
        self.decides(id, ApprovalState::Approved, "", None)
    }

    pub(crate) fn edits(&mut self, id: i64, text: &str) -> &mut Self {
        self.decides(id, ApprovalState::Edited, "", Some(text))
    }

    pub(crate) fn rejects(&mut self, id: i64, reason: &str) -> &mut Self {
        self.decides(id, ApprovalState::Rejected, reason, None)
    }

    pub(crate) fn decides(&mut self, id: i64, state: ApprovalState, reason: &str, edited: Option<&str>) -> &mut Self {
        decide(self.approval(id), state, "sam", reason, edited);
        self
    }

    pub(crate) fn approval(&mut self, id: i64) -> &mut ApprovalFact {
        let found = self.facts.approvals.iter_mut().find(|approval| approval.id.0 == id);
        found.expect("the scene opened this approval")
    }

    // What the house and the outside do.

    pub(crate) fn triaged(&mut self, action: Action) -> &mut Self {
        self.facts.ticket.triage = Some(Triage {
            category: "refund".into(),
            priority: Priority::Normal,
            team: "billing".into(),
            language: "en".into(),
            action,
            confidence: 0.9,
            reason: "asks for money back".into(),
        });
        self
    }

    pub(crate) fn article(&mut self, id: &str, revision: i64, body: &str) -> &mut Self {
        let id = ArticleId(id.into());
        let article = Article {
            id: id.clone(),
            title: format!("About {id}"),
            body: body.into(),
            language: "en".into(),
            state: ArticleState::Published,
            revision,
            updated_at: DateTime::UNIX_EPOCH,
        };
        self.facts.articles.insert(id, article);
        self
    }

    /// The latest effect comes to this end.
    pub(crate) fn delivery(&mut self, state: EffectState, why: &str) -> &mut Self {
        let effect = self.facts.effects.last_mut().expect("something was sent");
        effect.state = state;
        effect.why = why.into();
        if state == EffectState::Delivered {
            self.facts.ticket.version += 1;
        }
        self
    }

    // What the run does.

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
            Next::Wait(wait) => {
                self.may_commit(wait.heard);
                for ask in wait.asks {
                    self.asks(ask);
                }
                self.books(wait.bookkeeping);
                let open: Vec<String> = self
                    .facts
                    .approvals
                    .iter()
                    .filter(|approval| approval.state == ApprovalState::Open)
                    .map(|approval| approval.id.to_string())
                    .collect();
                assert!(!open.is_empty(), "nobody would ever wake it");
                self.lines.push(format!("waits for {}", open.join(", ")));
                return Some(Yielded::Waits);
            }
            Next::Finish(finish) => {
                self.may_commit(finish.heard);
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
        for step in record.steps {
            self.tells(step);
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
            (crate::effect::Effect::ProposeKnowledgeEdit(edit), Some(text)) if !sending.recorded => {
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

fn decide(approval: &mut ApprovalFact, state: ApprovalState, by: &str, reason: &str, edited: Option<&str>) {
    assert_eq!(approval.state, ApprovalState::Open, "the first decision stands");
    approval.state = state;
    approval.decision = Some(Decision {
        state,
        by: format!("slack:{by}"),
        by_name: by.into(),
        at: DateTime::UNIX_EPOCH,
        reason: reason.into(),
        edited: edited.map(str::to_owned),
    });
}

pub(crate) fn reply(text: &str) -> (&'static str, Value) {
    ("reply_customer", json!({ "text": text }))
}

pub(crate) fn escalate(level: u8) -> (&'static str, Value) {
    (
        "escalate_ticket",
        json!({ "level": level, "team": "billing", "reason": "A chargeback." }),
    )
}

pub(crate) fn classify(action: &str) -> (&'static str, Value) {
    let args = json!({ "category": "refund", "priority": "high", "language": "en", "action": action,
                       "confidence": 0.8, "reason": "Wants money back." });
    ("classify_ticket", args)
}

pub(crate) fn route(team: &str) -> (&'static str, Value) {
    ("route_ticket", json!({ "team": team }))
}

pub(crate) fn note(text: &str) -> (&'static str, Value) {
    ("add_note", json!({ "text": text }))
}

pub(crate) fn read(article: &str) -> (&'static str, Value) {
    ("read_article", json!({ "article_id": article }))
}

pub(crate) fn change(article: &str, old: &str, new: &str) -> (&'static str, Value) {
    let args = json!({ "article_id": article, "old_text": old, "new_text": new, "rationale": "It is out of date." });
    ("propose_knowledge_edit", args)
}

/// Compares what happened with what should have, line by line; indentation does not count.
#[track_caller]
pub(crate) fn check(happened: &str, expected: &str) {
    let lines = |text: &str| {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (happened, expected): (Vec<String>, Vec<String>) = (lines(happened), lines(expected));
    assert!(
        happened == expected,
        "what happened:\n{}\nwhat should have:\n{}",
        happened.join("\n"),
        expected.join("\n")
    );
}
