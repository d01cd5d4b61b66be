//! The hash chain of what was proposed, decided and done.
//!
//! Each sealed entry's hash covers the one before it, so that a row that was changed, removed or slipped in later is
//! found. What it cannot find is a tail cut off whole: keep the last number and hash elsewhere for that. Entries hold ids
//! and salted digests, never text, so the ledger can be kept when a customer's words must go.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::id::{ApprovalId, EffectId, TicketId};
use crate::words;

words! {
    pub enum EntryKind {
        /// An approval was opened.
        Proposed = "proposed",
        /// Its card was posted somewhere.
        Shown = "shown",
        /// A person or the time ended it.
        Decision = "decision",
        /// It was taken back before anybody decided.
        Withdrawn = "withdrawn",
        /// Somebody tried to decide and might not, or came too late.
        Refused = "refused",
        /// Its effect went into the outbox.
        Executed = "executed",
        /// The outside confirmed an effect.
        Receipt = "receipt",
        /// A rule of the house changed: mode, model, grant, restored article.
        Setting = "setting",
    }
}

/// What happened, in ids. Everything here is covered by the hash; the salt of `digest` is deliberately not, so that it
/// can be destroyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// An [`EntryKind`]; as text, because an older binary must be able to verify a newer one's entries.
    pub kind: String,
    /// Counts down to microseconds, which is what Postgres keeps.
    pub at: DateTime<Utc>,
    pub ticket: TicketId,
    pub approval: Option<ApprovalId>,
    pub effect: Option<EffectId>,
    /// `slack:U…`, as [`Actor::key`](crate::approval::Actor::key); empty where nobody acted.
    pub actor: String,
    /// The effect's digest, [`salted`]; empty where there is none.
    pub digest: String,
    /// A known word or sentence of ours: how a decision ended, why a click was refused. Never what somebody wrote.
    pub detail: String,
}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// 1 for the first, without gaps.
    pub number: i64,
    pub hash: String,
    pub entry: Entry,
}

/// The hash of an entry behind the one whose hash is `previous` (empty for the first): lower-case hex SHA-256, 64
/// characters.
pub fn hash(previous: &str, entry: &Entry) -> String {
    // A fixed number of digits, so that the time that comes back from the database is the time that went in.
    let at = entry.at.to_rfc3339_opts(SecondsFormat::Micros, true);
    digest::of(&(
        previous,
        &entry.kind,
        at,
        (entry.ticket, entry.approval, entry.effect),
        &entry.actor,
        &entry.digest,
        &entry.detail,
    ))
}

/// A digest that tells nothing to those who can guess the text: without the salt guesses cannot be checked.
pub fn salted(salt: &str, digest: &str) -> String {
    digest::of(&(salt, digest))
}

/// The first place where the chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ledger entry {number}: {why}")]
pub struct Broken {
    pub number: i64,
    pub why: &'static str,
}

/// The chain's end, from which it goes on: for sealing, and for verifying a long ledger piece by piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    /// 0 while the ledger is empty.
    pub number: i64,
    /// Empty while the ledger is.
    pub hash: String,
}

impl Tip {
    /// Puts an entry behind the tip, which moves on to it.
    pub fn seal(&mut self, entry: Entry) -> Sealed {
        self.hash = hash(&self.hash, &entry);
        self.number += 1;
        Sealed {
            number: self.number,
            hash: self.hash.clone(),
            entry,
        }
    }

    /// Checks the next entry and moves on to it. Stays where it is when that does not hold.
    pub fn check(&mut self, sealed: &Sealed) -> Result<(), Broken> {
        let expected = self.number + 1;
        let broken = |number, why| Err(Broken { number, why });
        if sealed.number > expected {
            return broken(expected, "it is missing");
        }
        if sealed.number < expected {
            return broken(sealed.number, "its number is there twice");
        }
        if sealed.hash != hash(&self.hash, &sealed.entry) {
            return broken(
                expected,
                "it, or its place behind the entry before it, was changed after it was sealed",
            );
        }
        self.number = expected;
        self.hash.clone_from(&sealed.hash);
        Ok(())
    }
}

/// Checks a whole ledger, in the order of its numbers, and says how many entries hold.
pub fn verify<'a>(entries: impl IntoIterator<Item = &'a Sealed>) -> Result<i64, Broken> {
    let mut tip = Tip::default();
    for sealed in entries {
        tip.check(sealed)?;
    }
    Ok(tip.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: EntryKind, micros: i64) -> Entry {
        Entry {
            kind: kind.to_string(),
            at: DateTime::from_timestamp_micros(micros).expect("a small number"),
            ticket: TicketId(1001),
            approval: Some(ApprovalId(17)),
            effect: None,
            actor: "slack:U024BE7LH".into(),
            digest: salted("salt", "ab12"),
            detail: String::new(),
        }
    }

    fn ledger() -> Vec<Sealed> {
        let mut tip = Tip::default();
        EntryKind::ALL
            .iter()
            .zip(1..)
            .map(|(kind, at)| tip.seal(entry(*kind, at)))
            .collect()
    }

    #[test]
    fn an_untouched_ledger_holds_whole_and_piece_by_piece() {
        let ledger = ledger();
        assert_eq!(verify(&ledger), Ok(8));
        assert_eq!(verify([]), Ok(0));
        let mut tip = Tip {
            number: 3,
            hash: ledger[2].hash.clone(),
        };
        for sealed in &ledger[3..] {
            assert_eq!(tip.check(sealed), Ok(()));
        }
    }

    #[test]
    fn whatever_is_done_to_a_row_is_found_at_that_row() {
        let broken = |number, why| Err(Broken { number, why });
        let touched = "it, or its place behind the entry before it, was changed after it was sealed";
        let changes: [fn(&mut Entry); 7] = [
            |e| e.kind = "receipt".into(),
            |e| e.at += chrono::TimeDelta::microseconds(1),
            |e| e.ticket = TicketId(1002),
            |e| e.approval = None,
            |e| e.actor = "slack:U0MALLORY".into(),
            |e| e.digest.clear(),
            |e| std::mem::swap(&mut e.actor, &mut e.detail),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut ledger = ledger();
            change(&mut ledger[2].entry);
            assert_eq!(verify(&ledger), broken(3, touched), "change {number}");
        }

        let mut gone = ledger();
        gone.remove(2);
        assert_eq!(verify(&gone), broken(3, "it is missing"));
        for (later, number) in gone[2..].iter_mut().zip(3..) {
            later.number = number;
        }
        assert_eq!(verify(&gone), broken(3, touched));

        let mut twice = ledger();
        twice.insert(2, twice[1].clone());
        assert_eq!(verify(&twice), broken(2, "its number is there twice"));

        // Changed and sealed again: the next row tells.
        let mut forged = ledger();
        forged[2].entry.actor = String::new();
        forged[2].hash = hash(&forged[1].hash, &forged[2].entry);
        assert_eq!(verify(&forged), broken(4, touched));
    }

    #[test]
    fn a_hash_is_the_same_after_a_round_trip_through_the_database() {
        let fine = entry(EntryKind::Receipt, 1);
        let mut finer = fine.clone();
        finer.at += chrono::TimeDelta::nanoseconds(999);
        assert_eq!(hash("", &fine), hash("", &finer));
    }

    #[test]
    fn a_salted_digest_depends_on_both_and_on_where_they_meet() {
        assert_ne!(salted("a", "bc"), salted("ab", "c"));
        assert_ne!(salted("a", "b"), salted("c", "b"));
        assert_eq!(salted("a", "b").len(), 64);
    }
}
