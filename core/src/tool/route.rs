//! Bookkeeping on the ticket: the team that should have it, and internal notes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Route {
    /// The team's name.
    #[schemars(length(min = 1, max = 100))]
    pub team: String,
    /// One sentence.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Note {
    /// For the team only; the customer never sees it.
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
}

pub static ROUTE_TICKET: Tool = Tool {
    name: "route_ticket",
    description: "Records which team should have the ticket.",
    reach: Reach::Records,
    label: "Route the ticket",
    activity: |args| format!("Routing to {}", shown(args, "team")),
    schema: schema_of::<Route>,
    parse: |args| parse_as(args, Use::Route),
};

pub static ADD_NOTE: Tool = Tool {
    name: "add_note",
    description: "Adds an internal note for the team. The customer never sees it.",
    reach: Reach::Records,
    label: "Add an internal note",
    activity: |_| "Writing an internal note".into(),
    schema: schema_of::<Note>,
    parse: |args| parse_as(args, Use::Note),
};
