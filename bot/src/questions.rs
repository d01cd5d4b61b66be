//! Which question somebody means who answers in a ticket's thread. Nothing is decided here.

use deskhand_adapters::postgres::approvals;
use deskhand_core::approval::ApprovalState;
use deskhand_core::effect::Effect;
use deskhand_core::id::{ApprovalId, TicketId};

use crate::app::App;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    One {
        question: ApprovalId,
        digest: String,
        text: String,
    },
    /// Several are open: a sentence that says how to name one.
    Unclear(String),
}

/// The open question that these words answer: the one that they begin with (`A-17: …`), else the one of the card under
/// which they stand, else the only one. `None` when none is open.
pub async fn meant(
    app: &App,
    ticket: TicketId,
    card: Option<ApprovalId>,
    words: &str,
) -> anyhow::Result<Option<Meant>> {
    let rows = approvals::read(&app.pool, approvals::Which::OfTicket(ticket)).await?;
    let open: Vec<_> = rows
        .iter()
        .filter(|row| row.state == ApprovalState::Open && !row.recorded)
        .filter(|row| matches!(row.effect, Effect::AskQuestion(_)))
        .collect();
    let words = words.trim();
    let named = named(words);
    let of_card = open.iter().find(|row| Some(row.id) == card);
    let found = match named {
        Some((id, _)) => open.iter().find(|row| row.id == id),
        None => of_card.or(open.first().filter(|_| open.len() == 1)),
    };
    Ok(match (found, open.first()) {
        (Some(row), _) => Some(Meant::One {
            question: row.id,
            digest: row.digest.clone(),
            text: named.map_or(words, |(_, rest)| rest).to_owned(),
        }),
        (None, Some(first)) => Some(Meant::Unclear(format!(
            "Several questions wait here, or none of that number: answer with the buttons, or begin with the number, as in \
             \"{}: yes\".",
            first.id
        ))),
        (None, None) => None,
    })
}

/// The number at the beginning, and what stands after it.
fn named(words: &str) -> Option<(ApprovalId, &str)> {
    let (first, rest) = words.split_once([':', ' ']).unwrap_or((words, ""));
    let is_number = first.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("A-"));
    let id = first.parse().ok().filter(|_| is_number)?;
    Some((id, rest.trim_start_matches([':', ' ']).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_begin_with_the_number_of_its_question() {
        for (words, named_as) in [
            ("A-17: yes", Some((17, "yes"))),
            ("a-17 yes, and more", Some((17, "yes, and more"))),
            ("A-17", Some((17, ""))),
            ("17 days", None),
            ("A-level prices", None),
            ("Yes: A-17", None),
        ] {
            assert_eq!(
                named(words),
                named_as.map(|(id, rest)| (ApprovalId(id), rest)),
                "{words}"
            );
        }
    }
}
