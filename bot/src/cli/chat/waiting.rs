//! What waits for a person on the ticket at hand, shown and decided in place.

use deskhand_adapters::postgres::approvals::{self, Row, Which};
use deskhand_core::approval::{Answer, ApprovalState, Wish};
use deskhand_core::diff;
use deskhand_core::effect::Effect;
use deskhand_core::id::{ApprovalId, TicketId};

use super::Talk;
use super::own::Said;
use super::typed::Typed;
use crate::cli::ask::{self, Asked};
use crate::cli::table::{coloured_diff, styled};
use crate::worker;

impl Talk<'_> {
    /// Shows what waits, and asks about it where somebody sits at a terminal. True when something was decided.
    pub(super) async fn ask_what_waits(&mut self, id: TicketId) -> anyhow::Result<bool> {
        let rows = approvals::read(&self.app.pool, Which::OfTicket(id)).await?;
        let mut decided = false;
        for row in rows.iter().filter(|row| row.state == ApprovalState::Open) {
            if self.left.contains(&row.id) {
                continue;
            }
            let Some(card) = worker::card(self.app, row.id).await? else {
                continue;
            };
            println!("\n{}", ask::draw(&card, "", false));
            if let Some(changed) = changed(row, &rows) {
                println!("{changed}");
            }
            if row.recorded {
                println!("{}", styled("Shadow mode: shown, not asked; nothing is sent.", "33"));
                self.left.insert(row.id);
                continue;
            }
            let asked = match &mut self.typed {
                Typed::Terminal(terminal) => ask::one(self.app, row, &card, &mut **terminal).await?,
                Typed::Pipe(_) => {
                    let id = row.id;
                    if let Effect::AskQuestion(_) = &row.effect {
                        println!("Answer with /answer {id} <text>.");
                    } else {
                        println!("Decide with /approve {id}, /edit {id} <text> or /reject {id} <reason>.");
                    }
                    Asked::Skipped
                }
            };
            match asked {
                Asked::Decided => decided = true,
                Asked::NotDecided => {}
                Asked::Skipped => {
                    self.left.insert(row.id);
                }
                Asked::Quit => {
                    self.left.extend(rows.iter().map(|row| row.id));
                    return Ok(decided);
                }
            }
        }
        Ok(decided)
    }

    /// Decides by a line. Gives the ticket that it was about, when it was decided.
    pub(super) async fn decide(&mut self, named: Option<ApprovalId>, said: Said) -> anyhow::Result<Option<TicketId>> {
        let row = match named {
            Some(id) => approvals::read(&self.app.pool, Which::One(id))
                .await?
                .into_iter()
                .next(),
            None => match self.only_one().await? {
                Some(row) => Some(row),
                None => return Ok(None),
            },
        };
        let Some(row) = row else {
            self.complain("There is no such approval: /approvals shows what waits.");
            return Ok(None);
        };
        let wish = match said {
            Said::Wish(wish) => wish,
            Said::Edit => match self.new_text(&row).await? {
                Some(text) => Wish::Edit { text },
                None => return Ok(None),
            },
        };
        let answer = ask::decide(self.app, row.id, wish, Some(row.digest.clone())).await?;
        match &answer {
            Answer::Decided(_) => println!("{}", styled(&answer.sentence(row.id), "1")),
            Answer::AlreadyDecided(_)
            | Answer::Expired
            | Answer::Withdrawn { .. }
            | Answer::NotAllowed { .. }
            | Answer::Stale
            | Answer::Checking
            | Answer::Unknown => {
                self.complain(&answer.sentence(row.id));
                return Ok(None);
            }
        }
        Ok(Some(row.ticket))
    }

    /// The only approval that waits on the ticket at hand; else why there is no such one was told.
    async fn only_one(&mut self) -> anyhow::Result<Option<Row>> {
        let Some(id) = self.ticket else {
            self.complain("No ticket is at hand: name the approval, like A-17; /approvals shows what waits.");
            return Ok(None);
        };
        let mut open = approvals::read(&self.app.pool, Which::OfTicket(id)).await?;
        open.retain(|row| row.state == ApprovalState::Open && !row.recorded);
        match open.len() {
            0 => self.complain(&format!("Nothing waits for a decision on {id}.")),
            1 => return Ok(open.pop()),
            _ => {
                let ids: Vec<String> = open.iter().map(|row| row.id.to_string()).collect();
                self.complain(&format!("Which one? {} wait on {id}.", ids.join(", ")));
            }
        }
        Ok(None)
    }

    async fn new_text(&mut self, row: &Row) -> anyhow::Result<Option<String>> {
        let Some(card) = worker::card(self.app, row.id).await? else {
            return Ok(None);
        };
        let text = match &mut self.typed {
            Typed::Terminal(terminal) => ask::edit(&card, &mut **terminal)?,
            Typed::Pipe(_) => {
                self.complain(&format!("edit needs the new text: /edit {} <text>", row.id));
                return Ok(None);
            }
        };
        if text.is_none() {
            println!("Nothing was changed.");
        }
        Ok(text)
    }
}

/// A draft that comes again, beside the last one: what is different.
fn changed(row: &Row, all: &[Row]) -> Option<String> {
    let Effect::ReplyCustomer(now) = &row.effect else {
        return None;
    };
    let drafts = all.iter().filter(|other| other.id < row.id);
    let drafts = drafts.filter_map(|other| {
        let Effect::ReplyCustomer(before) = &other.effect else {
            return None;
        };
        Some((other, before))
    });
    let (earlier, before) = drafts.max_by_key(|(other, _)| other.id)?;
    if matches!(earlier.state, ApprovalState::Approved | ApprovalState::Edited) {
        // That one went out, and this is another answer.
        return None;
    }
    let diff = diff::of_drafts(&before.text, &now.text);
    if diff.is_empty() {
        return None;
    }
    let diff = coloured_diff(&ask::clean_lines(diff.trim_end()));
    Some(format!("\nChanged since {}:\n{diff}", earlier.id))
}
