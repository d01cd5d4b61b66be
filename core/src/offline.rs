//! The model that needs no provider: language, rules, a linear classifier, the nearest past tickets and the best article,
//! put together into calls of the same tools that any other model calls.
//!
//! Pure and deterministic. It does not understand: it recognises, and where it does not it says so and hands over.

mod case;
pub mod classifier;
mod decide;
mod draft;
mod house;
pub mod language;
mod learned;
mod lexicon;
mod named;
mod phrases;
pub mod rules;
mod text;
mod triage;

pub use classifier::{Classifier, Example};
pub use decide::Offline;
pub use house::{Category, default_categories};
pub use learned::{Decided, Learned};
pub use named::names_category;
pub use triage::Opinion;
