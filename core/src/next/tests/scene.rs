//! A run on a ticket, worked in memory: `next` decides, the scene does it as the runner would, and writes down what
//! happened in lines that people read. What it imitates of the store are only the rules that `next` leans on.

use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::approval::{ApprovalState, Decision};
use crate::article::{Article, ArticleState};
use crate::facts::{ApprovalFact, Facts, Limits, Prompt, Role};
use crate::id::{ArticleId, RunId, TicketId};
use crate::model::{Call, ModelReply, ModelRequest, Stop, Usage};
use crate::run::{EffectState, RunState};
use crate::step::StepKind;
use crate::ticket::{
    Action, Author, Comment, Mode, OutsideId, Priority, Requester, Source, Ticket, TicketState, Triage,
};
use crate::tool::outside::{OutsideTool, Rule};
use crate::transcript::Transcript;

mod runner;
mod words;

pub(crate) use words::{ask, change, check, classify, escalate, note, read, reply, route, spawn, waits};

pub(crate) struct Scene {
    pub(crate) transcript: Transcript,
    pub(crate) facts: Facts,
    /// The latest request to the model.
    pub(crate) request: Option<ModelRequest>,
    /// Whether the run once yielded with nothing more to do.
    pub(crate) ended: bool,
    /// Helpers that the run waits for.
    awaited: Vec<i32>,
    /// The process dies in the next call of a tool outside.
    dies: bool,
    input: u64,
    comments: i64,
    lines: Vec<String>,
}

/// What a run is after when it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yielded {
    AskedModel,
    Waits,
    Ended,
    /// The process was killed in a call.
    Died,
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
                role: Role::Main,
                ticket,
                automatic: false,
                doubts: Vec::new(),
                unheard: Vec::new(),
                approvals: Vec::new(),
                effects: Vec::new(),
                helpers: Vec::new(),
                grants: Vec::new(),
                mode: Mode::Ask,
                limits: Limits::default(),
                budget: Default::default(),
                articles: Default::default(),
                known_links: Default::default(),
                prompt: Prompt::default(),
                outside: [].into(),
            },
            request: None,
            ended: false,
            awaited: Vec::new(),
            dies: false,
            input: 100,
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
                input: self.input,
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

    /// What the provider will count for the next request.
    pub(crate) fn uses(&mut self, input: u64) -> &mut Self {
        self.input = input;
        self
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

    /// A server outside offers a tool.
    pub(crate) fn offered(&mut self, name: &str, rule: Rule, reads: bool, repeatable: bool) -> &mut Self {
        let tool = OutsideTool {
            name: name.into(),
            description: format!("What {name} does"),
            schema: json!({ "type": "object", "properties": { "amount": { "type": "integer" } } }),
            rule,
            reads,
            repeatable,
        };
        let mut all = self.facts.outside.to_vec();
        all.push(tool);
        all.sort_by(|a, b| a.name.cmp(&b.name));
        self.facts.outside = all.into();
        self
    }

    /// The process will be killed in the next call of a tool outside.
    pub(crate) fn dies_in_the_next_call(&mut self) -> &mut Self {
        self.dies = true;
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

    /// A helper ends, whoever ended it.
    pub(crate) fn helper_ends(&mut self, number: i32, state: RunState, report: &str) -> &mut Self {
        let found = self.facts.helpers.iter_mut().find(|helper| helper.number == number);
        let helper = found.expect("the scene started this helper");
        assert!(helper.is_at_work(), "helper {number} ends once");
        helper.state = state;
        helper.report = report.into();
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
