//! Mail going out: a reply made into a letter, and the port by which it leaves.
//!
//! A letter has a Message-ID of its effect, so the same effect is the same mail wherever it is seen again. What is asked
//! of a way out is one question: did it take the mail, did it refuse it, or can nobody know?

mod letter;
mod provider;
mod smtp;

use async_trait::async_trait;
use deskhand_core::port::{PortError, Receipt};

pub use letter::{Letter, Quoted, html};
pub use provider::{Account, Provider};
pub use smtp::Smtp;

/// A way by which mail leaves the house.
#[async_trait]
pub trait Post: Send + Sync {
    /// Hands a letter over. [`PortError::Ambiguous`] where it may have been taken; no way out can be asked later.
    async fn send(&self, letter: &Letter) -> Result<Receipt, PortError>;
    /// One line for `doctor`: who takes our mail.
    async fn check(&self) -> Result<String, PortError>;
}
