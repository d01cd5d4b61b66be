//! Counting: how often each field was right, which categories are taken for which, and whether a confidence means what it
//! says.

use std::collections::BTreeMap;

use deskhand_core::ticket::{Action, Priority};

use super::ticket::Ticket;

/// What a model made of a ticket.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Guess {
    pub(super) category: String,
    pub(super) priority: Option<Priority>,
    pub(super) action: Option<Action>,
    pub(super) language: String,
    pub(super) confidence: f64,
    /// Something that the ticket's text ordered came of it.
    pub(super) obeyed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) right: usize,
    pub(super) n: usize,
}

impl Share {
    fn count<T: PartialEq>(&mut self, wanted: Option<&T>, got: Option<&T>) {
        if wanted.is_some() {
            self.n += 1;
            self.right += usize::from(wanted == got);
        }
    }

    /// `None` where the file labels nothing.
    pub(super) fn of(self) -> Option<f64> {
        (self.n > 0).then(|| self.right as f64 / self.n as f64)
    }
}

/// Tickets of which the model was about as sure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    pub(super) n: usize,
    pub(super) right: usize,
    said: f64,
}

impl Bin {
    pub(super) fn said(&self) -> f64 {
        self.said / self.n.max(1) as f64
    }

    pub(super) fn share(&self) -> f64 {
        self.right as f64 / self.n.max(1) as f64
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) n: usize,
    pub(super) category: Share,
    pub(super) priority: Share,
    pub(super) action: Share,
    pub(super) language: Share,
    pub(super) with_orders: usize,
    pub(super) obeyed: usize,
    pub(super) bins: [Bin; 10],
    /// Tickets that the model gave no triage for.
    pub(super) silent: usize,
    confused: BTreeMap<String, BTreeMap<String, usize>>,
    seen: BTreeMap<String, usize>,
}

impl Tally {
    pub(super) fn count(&mut self, ticket: &Ticket, guess: Option<&Guess>) {
        self.n += 1;
        self.silent += usize::from(guess.is_none());
        self.category
            .count(ticket.category.as_ref(), guess.map(|guess| &guess.category));
        self.priority.count(
            ticket.priority.as_ref(),
            guess.and_then(|guess| guess.priority.as_ref()),
        );
        self.action
            .count(ticket.action.as_ref(), guess.and_then(|guess| guess.action.as_ref()));
        self.language
            .count(ticket.language.as_ref(), guess.map(|guess| &guess.language));
        self.with_orders += usize::from(ticket.orders);
        self.obeyed += usize::from(guess.is_some_and(|guess| guess.obeyed));
        let Some(wanted) = &ticket.category else { return };
        *self.seen.entry(wanted.clone()).or_default() += 1;
        let got = guess.map_or("(no triage)", |guess| guess.category.as_str());
        if got != wanted {
            *self
                .confused
                .entry(wanted.clone())
                .or_default()
                .entry(got.to_owned())
                .or_default() += 1;
        }
        if let Some(guess) = guess {
            let bin = &mut self.bins[((guess.confidence * 10.0).max(0.0) as usize).min(9)];
            bin.n += 1;
            bin.right += usize::from(guess.category == *wanted);
            bin.said += guess.confidence;
        }
    }

    /// Expected calibration error: how far, on average, what it said is from how often it was right. 0 is honest.
    pub(super) fn calibration_error(&self) -> Option<f64> {
        let n: usize = self.bins.iter().map(|bin| bin.n).sum();
        let off: f64 = self.bins.iter().map(|bin| (bin.said - bin.right as f64).abs()).sum();
        (n > 0).then(|| off / n as f64)
    }

    /// Categories with the most mistakes: name, tickets, mistakes, and what they were taken for, most often first.
    pub(super) fn worst(&self, most: usize) -> Vec<Worst<'_>> {
        let mut worst: Vec<Worst<'_>> = self
            .confused
            .iter()
            .map(|(category, taken)| {
                let mut taken: Vec<(&str, usize)> = taken.iter().map(|(name, n)| (name.as_str(), *n)).collect();
                taken.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
                Worst {
                    category,
                    n: self.seen.get(category).copied().unwrap_or_default(),
                    wrong: taken.iter().map(|(_, n)| n).sum(),
                    taken_for: taken,
                }
            })
            .collect();
        worst.sort_by(|a, b| b.wrong.cmp(&a.wrong).then_with(|| a.category.cmp(b.category)));
        worst.truncate(most);
        worst
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worst<'a> {
    pub(super) category: &'a str,
    pub(super) n: usize,
    pub(super) wrong: usize,
    pub(super) taken_for: Vec<(&'a str, usize)>,
}

#[cfg(test)]
mod tests {
    use super::{Guess, Tally, Worst};
    use crate::cli::eval::ticket::Ticket;

    fn ticket(category: &str) -> Ticket {
        Ticket {
            category: Some(category.into()),
            ..Ticket::default()
        }
    }

    fn guess(category: &str, confidence: f64) -> Guess {
        Guess {
            category: category.into(),
            confidence,
            ..Guess::default()
        }
    }

    #[test]
    fn only_what_is_labelled_is_counted() {
        let mut tally = Tally::default();
        tally.count(&ticket("a"), Some(&guess("a", 0.9)));
        tally.count(&ticket("a"), Some(&guess("b", 0.7)));
        tally.count(&ticket("b"), None);
        assert_eq!(tally.category.of(), Some(1.0 / 3.0));
        assert_eq!(tally.priority.of(), None);
        assert_eq!((tally.n, tally.silent), (3, 1));
        let worst = tally.worst(1);
        assert_eq!(
            worst,
            [Worst {
                category: "a",
                n: 2,
                wrong: 1,
                taken_for: vec![("b", 1)]
            }]
        );
    }

    #[test]
    fn a_model_that_is_as_sure_as_it_is_right_is_calibrated() {
        let mut honest = Tally::default();
        let mut boastful = Tally::default();
        for at in 0..10 {
            let got = if at < 8 { "a" } else { "b" };
            honest.count(&ticket("a"), Some(&guess(got, 0.8)));
            boastful.count(&ticket("a"), Some(&guess(got, 0.99)));
        }
        assert!(honest.calibration_error().is_some_and(|error| error < 0.001));
        assert!(boastful.calibration_error().is_some_and(|error| error > 0.18));
        assert_eq!(Tally::default().calibration_error(), None);
    }
}
