//! A click becomes a decision.

use chrono::{DateTime, Utc};

use super::{Actor, Answer, ApprovalState, Decision, Wish};
use crate::id::ApprovalId;
use crate::tool::question::{LONGEST_ANSWER, Question};

/// What the row under its lock says of an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing<'a> {
    pub id: ApprovalId,
    pub tool: &'a str,
    pub state: ApprovalState,
    pub decision: Option<&'a Decision>,
    /// Shadow mode: shown, never asked.
    pub recorded: bool,
    pub digest: &'a str,
    pub expires_at: Option<DateTime<Utc>>,
    pub instructed_by: Option<&'a str>,
    /// What is asked, where it is a question.
    pub question: Option<&'a Question>,
}

/// A click, with what was found out about the person who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Click<'a> {
    pub actor: &'a Actor,
    pub wish: &'a Wish,
    /// The digest or its first characters, as the card carried it; `None` from surfaces that show the row itself.
    pub digest: Option<&'a str>,
    /// Whether the person is on the list of those who may decide this.
    pub listed: bool,
    pub now: DateTime<Utc>,
}

/// The one place where a click becomes a decision; called under the approval's lock. The first click wins.
pub fn decide(standing: &Standing<'_>, click: &Click<'_>) -> Answer {
    if !click.listed {
        return Answer::NotAllowed {
            why: format!(
                "You are not on the list of those who may decide {}. Nothing was changed.",
                standing.id
            ),
        };
    }
    if standing.recorded {
        return Answer::NotAllowed {
            why: format!("{} is only shown: the bot is in shadow mode.", standing.id),
        };
    }
    match (standing.state, standing.decision) {
        (ApprovalState::Open, _) => {}
        (ApprovalState::Expired, _) => return Answer::Expired,
        (ApprovalState::Withdrawn | ApprovalState::Superseded, decision) => {
            return Answer::Withdrawn {
                reason: decision.map(|d| d.reason.clone()).unwrap_or_default(),
            };
        }
        (
            ApprovalState::Approved | ApprovalState::Edited | ApprovalState::Answered | ApprovalState::Rejected,
            Some(decision),
        ) => return Answer::AlreadyDecided(decision.clone()),
        (ApprovalState::Approved | ApprovalState::Edited | ApprovalState::Answered | ApprovalState::Rejected, None) => {
            return Answer::Unknown;
        }
    }
    if standing.expires_at.is_some_and(|at| at <= click.now) {
        return Answer::Expired;
    }
    if click
        .digest
        .is_some_and(|digest| digest.is_empty() || !standing.digest.starts_with(digest))
    {
        return Answer::Stale;
    }
    let (state, reason, edited) = match wished(standing, click) {
        Ok(wished) => wished,
        Err(why) => return Answer::NotAllowed { why },
    };
    Answer::Decided(Decision {
        state,
        by: click.actor.key(),
        by_name: click.actor.name.clone(),
        at: click.now,
        reason,
        edited,
    })
}

type Wished = (ApprovalState, String, Option<String>);

/// What the wish makes of an open approval: state, reason and words; or why it may not be.
fn wished(standing: &Standing<'_>, click: &Click<'_>) -> Result<Wished, String> {
    if let Some(question) = standing.question {
        return answered(standing.id, question, click.wish);
    }
    let own = standing.instructed_by.is_some_and(|by| by == click.actor.key());
    if own && !matches!(click.wish, Wish::Reject { .. }) {
        return Err(format!(
            "{} came from your own instruction, so somebody else must decide it.",
            standing.id
        ));
    }
    match click.wish {
        Wish::Approve => Ok((ApprovalState::Approved, String::new(), None)),
        Wish::Edit { text } if text.trim().is_empty() => Err("An empty text cannot be sent; reject it instead.".into()),
        Wish::Edit { text } if text.chars().count() > crate::tool::reply::LONGEST_REPLY => {
            Err("The text is longer than a reply may be (16,000 characters).".into())
        }
        Wish::Edit { text } => Ok((ApprovalState::Edited, String::new(), Some(text.trim().to_owned()))),
        Wish::Reject { reason } => Ok((ApprovalState::Rejected, reason.trim().to_owned(), None)),
        Wish::Answer { .. } | Wish::Choose { .. } => {
            Err(format!("{} is no question; approve or reject it.", standing.id))
        }
    }
}

/// A question is answered or turned down. Whoever gave the instruction that led to it may well be who knows.
fn answered(id: ApprovalId, question: &Question, wish: &Wish) -> Result<Wished, String> {
    let answer = |text: &str| Ok((ApprovalState::Answered, String::new(), Some(text.to_owned())));
    match wish {
        Wish::Answer { text } if text.trim().is_empty() => Err("An answer needs words.".into()),
        Wish::Answer { text } if text.chars().count() > LONGEST_ANSWER => {
            Err("The answer is too long (3,000 characters at most).".into())
        }
        Wish::Answer { text } => answer(text.trim()),
        Wish::Choose { option } => match question.options.get(*option) {
            Some(text) => answer(text),
            None => Err(format!("{id} has no such option.")),
        },
        Wish::Reject { reason } => Ok((ApprovalState::Rejected, reason.trim().to_owned(), None)),
        Wish::Approve | Wish::Edit { .. } => Err(format!("{id} is a question: answer it.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::Surface;
    use crate::id::TicketId;

    const DIGEST: &str = "0123456789abcdef";

    fn sam() -> Actor {
        Actor {
            surface: Surface::Slack,
            id: "U1".into(),
            name: "sam".into(),
            workspace: None,
            roles: Vec::new(),
        }
    }

    fn open() -> Standing<'static> {
        Standing {
            id: ApprovalId(17),
            tool: "reply_customer",
            state: ApprovalState::Open,
            decision: None,
            recorded: false,
            digest: DIGEST,
            expires_at: Some(DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(1)),
            instructed_by: None,
            question: None,
        }
    }

    fn click(standing: &Standing<'_>, wish: Wish, change: impl FnOnce(&mut Click<'_>)) -> Answer {
        let actor = sam();
        let mut click = Click {
            actor: &actor,
            wish: &wish,
            digest: Some("0123456789ab"),
            listed: true,
            now: DateTime::UNIX_EPOCH,
        };
        change(&mut click);
        decide(standing, &click)
    }

    #[test]
    fn the_first_click_decides_and_a_later_one_names_it() {
        let Answer::Decided(first) = click(&open(), Wish::Approve, |_| {}) else {
            panic!("it is open")
        };
        assert_eq!((first.state, first.by.as_str()), (ApprovalState::Approved, "slack:U1"));
        let decided = Standing {
            state: ApprovalState::Approved,
            decision: Some(&first),
            ..open()
        };
        let second = click(&decided, Wish::Reject { reason: "no".into() }, |_| {});
        assert_eq!(second, Answer::AlreadyDecided(first.clone()));
        assert!(second.sentence(ApprovalId(17)).contains("already approved by sam"));
    }

    #[test]
    fn strangers_are_told_nothing_but_that_they_may_not() {
        for state in ApprovalState::ALL {
            let answer = click(
                &Standing {
                    state: *state,
                    ..open()
                },
                Wish::Approve,
                |click| click.listed = false,
            );
            assert!(matches!(answer, Answer::NotAllowed { .. }), "{state}");
        }
    }

    #[test]
    fn a_click_at_the_moment_of_expiry_is_too_late() {
        let at = DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(1);
        assert_eq!(click(&open(), Wish::Approve, |click| click.now = at), Answer::Expired);
        let before = at - chrono::TimeDelta::milliseconds(1);
        assert!(matches!(
            click(&open(), Wish::Approve, |click| click.now = before),
            Answer::Decided(_)
        ));
    }

    #[test]
    fn a_card_of_another_effect_decides_nothing() {
        assert_eq!(
            click(&open(), Wish::Approve, |click| click.digest = Some("ffffffffffff")),
            Answer::Stale
        );
        assert_eq!(
            click(&open(), Wish::Approve, |click| click.digest = Some("")),
            Answer::Stale
        );
    }

    #[test]
    fn nobody_approves_what_they_asked_for_but_they_may_reject_it() {
        let own = Standing {
            instructed_by: Some("slack:U1"),
            ..open()
        };
        assert!(matches!(click(&own, Wish::Approve, |_| {}), Answer::NotAllowed { .. }));
        assert!(matches!(
            click(&own, Wish::Edit { text: "x".into() }, |_| {}),
            Answer::NotAllowed { .. }
        ));
        assert!(matches!(
            click(&own, Wish::Reject { reason: String::new() }, |_| {}),
            Answer::Decided(_)
        ));
    }

    #[test]
    fn an_edit_needs_words() {
        assert!(matches!(
            click(&open(), Wish::Edit { text: " \n".into() }, |_| {}),
            Answer::NotAllowed { .. }
        ));
        let Answer::Decided(decision) = click(&open(), Wish::Edit { text: " Hello ".into() }, |_| {}) else {
            panic!("it is open")
        };
        assert_eq!(decision.edited.as_deref(), Some("Hello"));
    }

    #[test]
    fn a_question_is_answered_once_by_an_option_or_in_words() {
        let question = Question {
            ticket: TicketId(1001),
            question: "May she have it for free?".into(),
            options: vec!["Yes".into(), "No".into()],
        };
        let asked = Standing {
            tool: "ask_question",
            question: Some(&question),
            // Who gave the instruction may answer.
            instructed_by: Some("slack:U1"),
            ..open()
        };
        for (wish, comes_to) in [
            (Wish::Choose { option: 1 }, Some("No")),
            (
                Wish::Answer {
                    text: " Half of it. ".into(),
                },
                Some("Half of it."),
            ),
            (Wish::Choose { option: 2 }, None),
            (Wish::Answer { text: " ".into() }, None),
            (
                Wish::Answer {
                    text: "x".repeat(LONGEST_ANSWER + 1),
                },
                None,
            ),
            (Wish::Approve, None),
            (Wish::Edit { text: "Yes".into() }, None),
        ] {
            match (click(&asked, wish.clone(), |_| {}), comes_to) {
                (Answer::Decided(decision), Some(text)) => {
                    assert_eq!(decision.state, ApprovalState::Answered);
                    assert_eq!(decision.edited.as_deref(), Some(text));
                }
                (Answer::NotAllowed { .. }, None) => {}
                (answer, _) => panic!("{wish:?} came to {answer:?}"),
            }
        }
        let Answer::Decided(first) = click(&asked, Wish::Choose { option: 0 }, |_| {}) else {
            panic!("it is open")
        };
        let over = Standing {
            state: first.state,
            decision: Some(&first),
            ..asked
        };
        let second = click(&over, Wish::Choose { option: 1 }, |_| {});
        assert!(
            second.sentence(ApprovalId(17)).contains("already answered by sam"),
            "{second:?}"
        );
        assert!(matches!(
            click(&open(), Wish::Answer { text: "Yes".into() }, |_| {}),
            Answer::NotAllowed { .. }
        ));
    }

    #[test]
    fn what_shadow_mode_shows_cannot_be_decided() {
        let shadow = Standing {
            recorded: true,
            ..open()
        };
        assert!(matches!(
            click(&shadow, Wish::Approve, |_| {}),
            Answer::NotAllowed { .. }
        ));
    }
}
