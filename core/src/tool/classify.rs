//! What the run concludes: stored on the ticket at once.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};
use crate::ticket::{Action, Priority, Triage};

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Classify {
    /// One of the categories of the house.
    #[schemars(length(min = 1, max = 60))]
    pub category: String,
    pub priority: Priority,
    /// The language that the customer writes, as a two-letter tag.
    #[schemars(length(min = 2, max = 12))]
    pub language: String,
    /// What may happen without a person. It can only become tighter later.
    pub action: Action,
    /// From 0 to 1: how likely this is right.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// One sentence that a supervisor can check.
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
}

impl Classify {
    /// The triage after this call: the team stays, the action only tightens.
    pub fn after(&self, before: Option<&Triage>) -> Triage {
        Triage {
            category: self.category.clone(),
            priority: self.priority,
            team: before.map(|triage| triage.team.clone()).unwrap_or_default(),
            language: self.language.to_ascii_lowercase(),
            action: before.map_or(self.action, |triage| triage.action.max(self.action)),
            confidence: self.confidence,
            reason: self.reason.clone(),
        }
    }
}

pub static CLASSIFY_TICKET: Tool = Tool {
    name: "classify_ticket",
    description: "Records what the ticket is: category, priority, language, and what may be done without a person.",
    reach: Reach::Records,
    label: "Classify the ticket",
    activity: |args| {
        format!(
            "Classifying as {} · {}",
            shown(args, "category"),
            shown(args, "priority")
        )
    },
    schema: schema_of::<Classify>,
    parse: |args| parse_as(args, Use::Classify),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_action_only_tightens() {
        let classify = |action| Classify {
            category: "refund".into(),
            priority: Priority::Normal,
            language: "EN".into(),
            action,
            confidence: 0.8,
            reason: "wants money back".into(),
        };
        let first = classify(Action::NeedsApproval).after(None);
        assert_eq!((first.action, first.language.as_str()), (Action::NeedsApproval, "en"));
        assert_eq!(
            classify(Action::AutoReply).after(Some(&first)).action,
            Action::NeedsApproval
        );
        assert_eq!(classify(Action::Human).after(Some(&first)).action, Action::Human);
    }
}
