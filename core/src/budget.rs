//! What a run and a day may cost, in tokens and in money, and when that is used up.
//!
//! Money is counted in millionths of the price table's currency, in whole numbers, so that a sum of many small replies is
//! exact and the same everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::Usage;
use crate::transcript::Transcript;

/// What a model costs, for a million tokens of each kind, in the currency of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

impl Price {
    /// The cost of one reply in millionths: tokens times the price of a million of them.
    pub fn cost(&self, usage: Usage) -> u64 {
        let of = |tokens: u64, price: f64| tokens as f64 * price.max(0.0);
        let cost = of(usage.input, self.input)
            + of(usage.output, self.output)
            + of(usage.cache_read, self.cache_read)
            + of(usage.cache_write, self.cache_write);
        // Rounded up: a budget must not be outrun by roundings.
        cost.ceil() as u64
    }
}

/// By the model's whole name, `anthropic:claude-…`. A model that is not in the table costs nothing.
pub type Prices = BTreeMap<String, Price>;

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// In and out, cached ones included.
    pub tokens: u64,
    /// In millionths.
    pub micros: u64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.micros += other.micros;
    }
}

/// Ceilings of one span: a run, a day. `None` is no ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ceiling {
    pub tokens: Option<u64>,
    pub micros: Option<u64>,
}

impl Ceiling {
    pub fn is_reached(&self, spent: Spent) -> bool {
        self.tokens.is_some_and(|most| spent.tokens >= most) || self.micros.is_some_and(|most| spent.micros >= most)
    }

    pub fn is_set(&self) -> bool {
        self.tokens.is_some() || self.micros.is_some()
    }
}

/// The ceilings of a run and of a day, with what was spent today by all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    pub run: Ceiling,
    pub day: Ceiling,
    pub today: Spent,
    /// What the others of the run's family used: its helpers, or the run that it helps and the other helpers.
    pub others: Spent,
    pub prices: Arc<Prices>,
}

impl Budget {
    /// What a reply of this model costs.
    pub fn of(&self, model: &str, usage: Usage) -> Spent {
        Spent {
            tokens: usage.total(),
            micros: self.prices.get(model).map_or(0, |price| price.cost(usage)),
        }
    }

    /// What this run has spent so far.
    pub fn spent(&self, transcript: &Transcript) -> Spent {
        let mut spent = Spent::default();
        for (model, usage) in transcript.usages() {
            spent += self.of(model, usage);
        }
        spent
    }

    /// Why no further request may be made, in one sentence for people.
    pub fn used_up(&self, transcript: &Transcript) -> Option<String> {
        let mut run = self.spent(transcript);
        run += self.others;
        let (whose, spent) = if self.run.is_reached(run) {
            ("The run used up its budget", run)
        } else if self.day.is_reached(self.today) {
            ("The budget of the day is used up", self.today)
        } else {
            return None;
        };
        let cost = match spent.micros {
            0 => String::new(),
            micros => format!(" for {}", money(micros)),
        };
        Some(format!(
            "{whose} ({} tokens{cost}); a person must look at it.",
            spent.tokens
        ))
    }
}

/// Millionths as people write money: `1.25`.
pub fn money(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    };

    #[test]
    fn a_reply_costs_its_tokens_by_kind() {
        let usage = Usage {
            input: 1000,
            output: 200,
            cache_read: 10_000,
            cache_write: 0,
        };
        assert_eq!(PRICE.cost(usage), 3000 + 3000 + 3000);
        assert_eq!(PRICE.cost(Usage::default()), 0);
        let one = Usage {
            cache_read: 1,
            ..Usage::default()
        };
        assert_eq!(PRICE.cost(one), 1, "never rounded away");
    }

    #[test]
    fn a_ceiling_is_reached_by_whichever_comes_first() {
        let ceiling = Ceiling {
            tokens: Some(1000),
            micros: Some(50),
        };
        let spent = |tokens, micros| Spent { tokens, micros };
        assert!(!ceiling.is_reached(spent(999, 49)));
        assert!(ceiling.is_reached(spent(1000, 0)));
        assert!(ceiling.is_reached(spent(0, 50)));
        assert!(!Ceiling::default().is_reached(spent(u64::MAX, u64::MAX)));
    }

    #[test]
    fn money_is_shown_in_whole_cents_rounded_up() {
        assert_eq!(money(0), "0.00");
        assert_eq!(money(1), "0.01");
        assert_eq!(money(1_250_000), "1.25");
        assert_eq!(money(12_000_000), "12.00");
    }
}
