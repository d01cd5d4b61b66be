//! A plan of the run, for people to follow: shown on the ticket's header. It decides nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Reach, Tool, Use, parse_as, schema_of};
use crate::step::Outcome;
use crate::words;

words! {
    pub enum ItemState {
        Pending = "pending",
        InProgress = "in_progress",
        Done = "done",
        Failed = "failed",
        /// The run ended before it came to this.
        Interrupted = "interrupted",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub text: String,
    pub state: ItemState,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What the run means to do, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct CreatePlan {
    /// What you mean to do, a short line each, in order. Takes the place of an earlier plan.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 200)))]
    pub steps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct UpdatePlan {
    /// Number of the line, from 1.
    #[schemars(range(min = 1, max = 20))]
    pub step: usize,
    pub state: ItemState,
    /// What came of it, in a few words.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub note: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct GetPlan {}

/// What is done with the plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanUse {
    Create(CreatePlan),
    Update(UpdatePlan),
    Get(GetPlan),
}

impl Plan {
    pub fn new(steps: &[String]) -> Self {
        let items = steps
            .iter()
            .map(|text| Item {
                text: one_line(text),
                state: ItemState::Pending,
                note: String::new(),
            })
            .collect();
        Self { items }
    }

    /// As its model reads it, and people: `2. [done] Search the articles: refunds`.
    pub fn lines(&self) -> Vec<String> {
        (1..)
            .zip(&self.items)
            .map(|(n, item)| {
                let note = if item.note.is_empty() {
                    String::new()
                } else {
                    format!(": {}", item.note)
                };
                format!("{n}. [{}] {}{note}", item.state.as_str().replace('_', " "), item.text)
            })
            .collect()
    }

    pub fn done(&self) -> usize {
        self.items.iter().filter(|item| item.state == ItemState::Done).count()
    }

    /// As it stands once the run is over: what was not finished never will be.
    pub fn interrupted(mut self) -> Self {
        for item in &mut self.items {
            if matches!(item.state, ItemState::Pending | ItemState::InProgress) {
                item.state = ItemState::Interrupted;
            }
        }
        self
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PlanUse {
    /// The outcome, and the plan after it where it changed.
    pub fn on(self, plan: Option<&Plan>) -> (Outcome, Option<Plan>) {
        let none = "There is no plan yet; make one with create_plan.";
        match (self, plan) {
            (Self::Create(args), _) => changed(Plan::new(&args.steps)),
            (Self::Get(_), Some(plan)) => (Outcome::ok(plan.lines().join("\n")), None),
            (Self::Get(_) | Self::Update(_), None) => (Outcome::failed(none), None),
            (Self::Update(args), Some(plan)) => {
                let mut plan = plan.clone();
                let most = plan.items.len();
                match plan.items.get_mut(args.step.wrapping_sub(1)) {
                    Some(item) => {
                        item.state = args.state;
                        item.note = one_line(&args.note);
                        changed(plan)
                    }
                    None => (
                        Outcome::failed(format!("The plan has {most} steps, not {}.", args.step)),
                        None,
                    ),
                }
            }
        }
    }
}

fn changed(plan: Plan) -> (Outcome, Option<Plan>) {
    let text = format!(
        "The plan, {} of {} done:\n{}",
        plan.done(),
        plan.items.len(),
        plan.lines().join("\n")
    );
    (Outcome::ok(text).with(json!({ "plan": plan })), Some(plan))
}

pub static CREATE_PLAN: Tool = Tool {
    name: "create_plan",
    description: "Writes down what you mean to do, for people to follow. Only where there is more than a step or two.",
    reach: Reach::Records,
    label: "Make a plan",
    activity: |args| format!("Planning {} steps", args["steps"].as_array().map_or(0, Vec::len)),
    schema: schema_of::<CreatePlan>,
    parse: |args| parse_as(args, |a| Use::Plan(PlanUse::Create(a))),
};

pub static UPDATE_PLAN: Tool = Tool {
    name: "update_plan",
    description: "Says how a step of the plan stands: pending, in_progress, done, failed or interrupted.",
    reach: Reach::Records,
    label: "Update the plan",
    activity: |args| {
        format!(
            "Step {} of the plan: {}",
            args["step"],
            args["state"].as_str().unwrap_or_default()
        )
    },
    schema: schema_of::<UpdatePlan>,
    parse: |args| parse_as(args, |a| Use::Plan(PlanUse::Update(a))),
};

pub static GET_PLAN: Tool = Tool {
    name: "get_plan",
    description: "Reads the plan of this run as it stands.",
    reach: Reach::Records,
    label: "Read the plan",
    activity: |_| "Reading the plan".into(),
    schema: schema_of::<GetPlan>,
    parse: |args| parse_as(args, |a| Use::Plan(PlanUse::Get(a))),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::new(&["Search\nthe articles".into(), "Draft".into()])
    }

    fn update(step: usize, state: ItemState) -> PlanUse {
        let note = "found refunds".into();
        PlanUse::Update(UpdatePlan { step, state, note })
    }

    #[test]
    fn a_plan_is_followed_line_by_line() {
        let (outcome, after) = update(1, ItemState::Done).on(Some(&plan()));
        let after = after.expect("it changed");
        assert_eq!(
            after.lines(),
            ["1. [done] Search the articles: found refunds", "2. [pending] Draft"]
        );
        assert!(outcome.text.starts_with("The plan, 1 of 2 done:"), "{}", outcome.text);
        assert_eq!(
            serde_json::from_value::<Plan>(outcome.details["plan"].clone()).ok(),
            Some(after)
        );
    }

    #[test]
    fn a_step_that_is_not_there_is_a_sentence() {
        for step in [0, 3] {
            let (outcome, after) = update(step, ItemState::Done).on(Some(&plan()));
            assert!(outcome.failed && after.is_none());
            assert_eq!(outcome.text, format!("The plan has 2 steps, not {step}."));
        }
        let (outcome, _) = PlanUse::Get(GetPlan {}).on(None);
        assert!(outcome.failed && outcome.text.contains("create_plan"));
    }

    #[test]
    fn what_was_not_finished_when_the_run_ended_is_interrupted() {
        let (_, after) = update(1, ItemState::Done).on(Some(&plan()));
        let ended = after.expect("it changed").interrupted();
        assert_eq!(ended.lines()[1], "2. [interrupted] Draft");
        assert!(ended.lines()[0].starts_with("1. [done]"));
    }
}
