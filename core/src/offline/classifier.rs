//! A linear classifier over hashed word and character n-grams.

use serde::{Deserialize, Serialize};

/// A past text with what it was. Supervisors' corrections weigh more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    pub text: &'a str,
    pub label: &'a str,
    /// 1 is usual; 0 or less is left out.
    pub weight: f32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    labels: Vec<String>,
    examples: u64,
}

impl Classifier {
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    pub(super) fn trust(&self) -> f64 {
        (self.examples as f64 / (5.0 * self.labels.len().max(1) as f64)).min(1.5)
    }

    pub fn predict(&self, _text: &str) -> Vec<(String, f64)> {
        Vec::new()
    }
}
