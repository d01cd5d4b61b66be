//! The hash chain of what was proposed, decided and done.
//!
//! Each sealed entry's hash covers the one before it, so that a row that was changed, removed or slipped in later is
//! found. What it cannot find is a tail cut off whole: keep the last number and hash elsewhere for that. Entries hold ids
//! and salted digests, never text, so the ledger can be kept when a customer's words must go.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::id::{ApprovalId, EffectId, RunId, TicketId};
use crate::words;

words! {
    pub enum EntryKind {
        /// An approval was opened.
        Proposed = "proposed",
        /// Its card was posted somewhere.
        Shown = "shown",
        /// It ended: by a person, by expiry, by withdrawal.
        Decision = "decision",
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

/// What happened, in ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub kind: EntryKind,
    /// Counts down to microseconds, which is what Postgres keeps.
    pub at: DateTime<Utc>,
    pub ticket: Option<TicketId>,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
    pub effect: Option<EffectId>,
    /// `slack:U…`, as [`Actor::key`](crate::approval::Actor::key); `None` where nobody acted.
    pub actor: Option<String>,
    /// One known word: how a decision ended, why a click was refused. Never what somebody wrote.
    pub word: Option<String>,
    /// The effect's digest, [`salted`].
    pub digest: Option<String>,
}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// 1 for the first, without gaps.
    pub number: i64,
    /// The hash of the entry before it; [`GENESIS`] for the first.
    pub previous: String,
    pub hash: String,
    pub entry: Entry,
}

/// What the first entry names as its previous hash.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The entry's hash behind the one with the hash `previous`: lower-case hex SHA-256, 64 characters.
pub fn hash(previous: &str, entry: &Entry) -> String {
    // A fixed number of digits, so that the time that comes back from the database is the time that went in.
    let at = entry.at.to_rfc3339_opts(SecondsFormat::Micros, true);
    digest::of(&(
        previous,
        entry.kind,
        at,
        (entry.ticket, entry.run, entry.approval, entry.effect),
        &entry.actor,
        &entry.word,
        &entry.digest,
    ))
}

/// A digest that tells nothing to those who can guess the text: without the salt, which is kept apart and can be
/// destroyed, guesses cannot be checked.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// 0 while the ledger is empty.
    pub number: i64,
    pub hash: String,
}

impl Default for Tip {
    fn default() -> Self {
        Self {
            number: 0,
            hash: GENESIS.to_owned(),
        }
    }
}

impl Tip {
    /// Puts an entry behind the tip, which moves on to it.
    pub fn seal(&mut self, entry: Entry) -> Sealed {
        let sealed = Sealed {
            number: self.number + 1,
            hash: hash(&self.hash, &entry),
            previous: std::mem::take(&mut self.hash),
            entry,
        };
        self.number = sealed.number;
        self.hash.clone_from(&sealed.hash);
        sealed
    }

    /// Checks the next entry and moves on to it.
    pub fn check(&mut self, sealed: &Sealed) -> Result<(), Broken> {
        let expected = self.number + 1;
        let broken = |number, why| Err(Broken { number, why });
        if sealed.number > expected {
            return broken(expected, "it is missing");
        }
        if sealed.number < expected {
            return broken(sealed.number, "its number is there twice");
        }
        if sealed.previous != self.hash {
            return broken(expected, "it does not follow the entry before it");
        }
        if sealed.hash != hash(&sealed.previous, &sealed.entry) {
            return broken(expected, "it was changed after it was sealed");
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
            kind,
            at: DateTime::from_timestamp_micros(micros).expect("a small number"),
            ticket: Some(TicketId(1001)),
            run: None,
            approval: Some(ApprovalId(17)),
            effect: None,
            actor: Some("slack:U024BE7LH".into()),
            word: None,
            digest: Some(salted("salt", "ab12")),
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
        assert_eq!(verify(&ledger), Ok(7));
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
        let changed = |change: &dyn Fn(&mut Entry)| {
            let mut ledger = ledger();
            change(&mut ledger[2].entry);
            verify(&ledger)
        };
        let sealed_later = "it was changed after it was sealed";
        assert_eq!(
            changed(&|e| e.actor = Some("slack:U0MALLORY".into())),
            broken(3, sealed_later)
        );
        assert_eq!(changed(&|e| e.approval = None), broken(3, sealed_later));
        assert_eq!(
            changed(&|e| e.at += chrono::TimeDelta::microseconds(1)),
            broken(3, sealed_later)
        );
        assert_eq!(
            changed(&|e| std::mem::swap(&mut e.actor, &mut e.word)),
            broken(3, sealed_later)
        );

        let mut gone = ledger();
        gone.remove(2);
        assert_eq!(verify(&gone), broken(3, "it is missing"));
        for (later, number) in gone[2..].iter_mut().zip(3..) {
            later.number = number;
        }
        assert_eq!(verify(&gone), broken(3, "it does not follow the entry before it"));

        let mut twice = ledger();
        twice.insert(2, twice[1].clone());
        assert_eq!(verify(&twice), broken(2, "its number is there twice"));

        // Changed and sealed again: the next row tells.
        let mut forged = ledger();
        forged[2].entry.actor = None;
        forged[2].hash = hash(&forged[2].previous, &forged[2].entry);
        assert_eq!(verify(&forged), broken(4, "it does not follow the entry before it"));
    }

    #[test]
    fn a_hash_is_the_same_after_a_round_trip_through_the_database() {
        let fine = entry(EntryKind::Receipt, 1);
        let mut finer = fine.clone();
        finer.at += chrono::TimeDelta::nanoseconds(999);
        assert_eq!(hash(GENESIS, &fine), hash(GENESIS, &finer));
    }

    #[test]
    fn a_salted_digest_depends_on_both_and_on_where_they_meet() {
        assert_ne!(salted("a", "bc"), salted("ab", "c"));
        assert_ne!(salted("a", "b"), salted("c", "b"));
        assert_eq!(salted("a", "b").len(), 64);
    }
}
