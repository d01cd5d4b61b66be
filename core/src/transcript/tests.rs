//! Checks of the fold: what a transcript says of its steps, and what it shows the model.

use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::{Transcript, line};
use crate::id::{ApprovalId, ArticleId, CallKey, EffectId};
use crate::model::{Call, ModelReply, Part, Stop, TicketBrief, Turn, Usage};
use crate::step::{About, Outcome, Step, StepKind};
use crate::ticket::{Author, Comment};

fn of(kinds: Vec<StepKind>) -> Transcript {
    let steps = (1..).zip(kinds).map(|(seq, kind)| Step {
        seq,
        at: DateTime::UNIX_EPOCH,
        kind,
    });
    Transcript::new(steps.collect())
}

fn heard(version: i64, comments: &[(i64, Author, &str)]) -> StepKind {
    let comments = comments
        .iter()
        .map(|(id, author, body)| Comment {
            id: *id,
            author: *author,
            author_name: String::new(),
            public: true,
            body: (*body).into(),
            created_at: DateTime::UNIX_EPOCH,
        })
        .collect();
    let brief = Box::new(TicketBrief {
        number: "T-1001".into(),
        source: "zendesk".into(),
        subject: "Refund".into(),
        requester: "Ada".into(),
        state: "new".into(),
        triage: None,
        automatic: false,
    });
    StepKind::Heard {
        brief,
        comments,
        version,
    }
}

fn replied(text: &str, calls: &[&str]) -> StepKind {
    let calls = calls
        .iter()
        .map(|name| Call {
            id: "same".into(),
            name: (*name).into(),
            args: json!({}),
        })
        .collect();
    StepKind::Replied {
        model: "scripted".into(),
        reply: Box::new(ModelReply {
            text: text.into(),
            calls,
            stop: Stop::Calls,
            usage: Usage {
                input: 10,
                output: 1,
                cache_read: 5,
                cache_write: 0,
            },
            raw: None,
        }),
    }
}

fn outcome(step: i32, index: i32, text: &str) -> StepKind {
    StepKind::Outcome {
        call: CallKey { step, index },
        outcome: Outcome::ok(text),
    }
}

#[test]
fn an_empty_transcript_has_heard_and_said_nothing() {
    let transcript = Transcript::default();
    assert_eq!(
        (transcript.next_seq(), transcript.last_heard(), transcript.version()),
        (1, 0, None)
    );
    assert!(transcript.open_calls().is_empty() && transcript.turns().is_empty());
    assert!(transcript.has_news() && !transcript.nudged());
}

#[test]
fn what_was_heard_adds_up() {
    let transcript = of(vec![
        heard(1, &[(4, Author::Requester, "a")]),
        replied("Well.", &[]),
        heard(3, &[(7, Author::Agent, "b"), (9, Author::Other, "c")]),
    ]);
    assert_eq!((transcript.last_heard(), transcript.version()), (9, Some(3)));
    assert_eq!(transcript.customers_words().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(transcript.words().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((transcript.replies(), transcript.usage().total()), (1, 16));
}

#[test]
fn only_the_latest_reply_has_open_calls_and_two_calls_with_one_id_are_two() {
    let transcript = of(vec![
        heard(1, &[]),
        replied("", &["add_note", "add_note"]),
        outcome(2, 1, "second"),
    ]);
    let open: Vec<CallKey> = transcript.open_calls().into_iter().map(|(key, _)| key).collect();
    assert_eq!(open, [CallKey { step: 2, index: 0 }]);
    assert_eq!(
        transcript
            .call(CallKey { step: 2, index: 1 })
            .map(|call| call.name.as_str()),
        Some("add_note")
    );
    for (step, index) in [(2, 2), (2, -1), (1, 0), (9, 0)] {
        assert_eq!(transcript.call(CallKey { step, index }), None);
    }
}

#[test]
fn news_is_whatever_the_model_was_told_after_its_reply() {
    let note = StepKind::Noted {
        text: "sent".into(),
        about: About::Approval(ApprovalId(1)),
    };
    let instruction = StepKind::Instructed {
        text: "be kind".into(),
        by: "slack:U1".into(),
        by_name: "kim".into(),
    };
    let booked = StepKind::Booked {
        effect: EffectId(Uuid::nil()),
    };
    let asked = StepKind::Asked {
        call: CallKey { step: 1, index: 0 },
        approval: ApprovalId(1),
    };
    let stumbled = StepKind::Stumbled { what: "x".into() };
    let started = StepKind::Started {
        call: CallKey { step: 1, index: 0 },
    };
    for (step, news) in [
        (heard(2, &[]), true),
        (note, true),
        (instruction, true),
        (StepKind::Nudged, true),
        (outcome(1, 0, "done"), true),
        (booked, false),
        (asked, false),
        (stumbled, false),
        (started, false),
    ] {
        let transcript = of(vec![replied("Well.", &[]), step.clone()]);
        assert_eq!(transcript.has_news(), news, "{step:?}");
        assert_eq!(
            transcript.instructed_since_reply(),
            matches!(step, StepKind::Instructed { .. }),
            "{step:?}"
        );
    }
}

#[test]
fn a_nudge_counts_for_the_reply_that_follows_it() {
    let empty = || replied("", &[]);
    assert!(!of(vec![empty()]).nudged());
    assert!(of(vec![empty(), StepKind::Nudged, empty()]).nudged());
    assert!(!of(vec![empty(), StepKind::Nudged, replied("Well.", &[]), empty()]).nudged());
}

#[test]
fn outcomes_stand_behind_their_reply_whatever_came_in_between() {
    let transcript = of(vec![
        heard(1, &[(1, Author::Requester, "a")]),
        replied("", &["add_note", "route_ticket"]),
        outcome(2, 1, "second"),
        heard(2, &[(2, Author::Requester, "b")]),
        outcome(2, 0, "first"),
    ]);
    let turns = transcript.turns();
    let [
        Turn::Told(first),
        Turn::Said(_),
        Turn::Outcomes(outcomes),
        Turn::Told(second),
    ] = &turns[..]
    else {
        panic!("{turns:?}")
    };
    assert!(
        matches!(first[..], [Part::Ticket(_), Part::Comment { .. }]),
        "the ticket is introduced once"
    );
    assert!(matches!(second[..], [Part::Comment { .. }]));
    let texts: Vec<&str> = outcomes.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(texts, ["first", "second"]);
}

#[test]
fn a_longer_transcript_begins_with_the_same_turns() {
    let mut steps = vec![
        heard(1, &[(1, Author::Requester, "a")]),
        replied("", &["add_note"]),
        outcome(2, 0, "noted"),
    ];
    let before = of(steps.clone()).turns();
    steps.push(replied("Done.", &[]));
    steps.push(heard(2, &[(2, Author::Requester, "b")]));
    assert_eq!(
        of(steps).turns()[..before.len()],
        before,
        "or providers' caches would miss"
    );
}

#[test]
fn bookkeeping_begins_anew_after_it_was_booked() {
    let booked = StepKind::Booked {
        effect: EffectId(Uuid::nil()),
    };
    let transcript = of(vec![heard(1, &[]), booked, replied("Well.", &[])]);
    assert_eq!(transcript.unbooked().len(), 1);
    assert!(of(vec![heard(1, &[])]).unbooked().len() == 1);
}

#[test]
fn the_newest_reading_of_an_article_counts() {
    let reading = |revision: i64| StepKind::Outcome {
        call: CallKey { step: 1, index: 0 },
        outcome: Outcome::ok("…").with(json!({ "article": "refunds", "revision": revision })),
    };
    let read = of(vec![reading(3), outcome(1, 1, "found"), reading(4)]).articles_read();
    assert_eq!(read.into_iter().collect::<Vec<_>>(), [(ArticleId("refunds".into()), 4)]);
}

#[test]
fn notes_are_known_by_what_they_are_about() {
    let about = About::Effect(EffectId(Uuid::nil()));
    let text = "sent".into();
    let transcript = of(vec![StepKind::Noted { text, about }]);
    assert!(transcript.noted(about));
    assert!(!transcript.noted(About::Approval(ApprovalId(1))));
}

#[test]
fn people_see_one_line_a_step() {
    let transcript = of(vec![
        heard(1, &[(1, Author::Requester, "a"), (2, Author::Requester, "b")]),
        replied("Looking.", &["search_knowledge"]),
        StepKind::Outcome {
            call: CallKey { step: 2, index: 0 },
            outcome: Outcome::failed("It failed.\nDetails."),
        },
        replied("It is a refund.\nMore.", &[]),
    ]);
    let lines: Vec<String> = transcript
        .steps()
        .iter()
        .filter_map(|step| line(&transcript, step))
        .collect();
    assert_eq!(
        lines,
        [
            "read 2 comments",
            "Searching the knowledge base for : It failed.",
            "It is a refund."
        ]
    );
}
