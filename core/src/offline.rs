//! The model that needs no provider: language, rules, a linear classifier, the nearest past tickets and the best article,
//! put together into calls of the same tools that any other model calls.
//!
//! Pure and deterministic. It does not understand: it recognises, and where it does not it says so and hands over.

mod case;
pub mod classifier;
mod decide;
mod draft;
pub mod language;
mod lexicon;
mod phrases;
pub mod rules;
mod text;
mod triage;

pub use classifier::{Classifier, Example};
pub use decide::Offline;
pub use triage::{Category, Opinion, default_categories};
