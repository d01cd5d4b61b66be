//! Handing a ticket up.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Escalate {
    /// 1: the team's lead, at once. 2 and above: the next line, after a supervisor agrees.
    #[schemars(range(min = 1, max = 3))]
    pub level: u8,
    /// The team's name.
    #[schemars(length(min = 1, max = 100))]
    pub team: String,
    /// Why, in one or two sentences.
    #[schemars(length(min = 1, max = 1000))]
    pub reason: String,
}

pub static ESCALATE_TICKET: Tool = Tool {
    name: "escalate_ticket",
    description: "Escalates the ticket: level 1 to the team's lead, level 2 and above to the next line.",
    reach: Reach::Acts,
    label: "Escalate the ticket",
    activity: |args| format!("Escalating to level {} · {}", shown(args, "level"), shown(args, "team")),
    schema: schema_of::<Escalate>,
    parse: |args| parse_as(args, Use::Escalate),
};
