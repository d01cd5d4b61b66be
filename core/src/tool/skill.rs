//! Playbooks: the prompt has their summaries, this brings a body.

use schemars::JsonSchema;
use serde::Deserialize;

use super::lookup::Look;
use super::{Reach, Tool, Use, parse_as, schema_of, shown};

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct LoadSkill {
    /// The skill's name, as the list of skills gives it.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
}

pub static LOAD_SKILL: Tool = Tool {
    name: "load_skill",
    description: "Loads a playbook of the house by name. Load the one that fits before acting on its subject.",
    reach: Reach::Reads,
    label: "Load a skill",
    activity: |args| format!("Loading the skill {}", shown(args, "name")),
    schema: schema_of::<LoadSkill>,
    parse: |args| parse_as(args, |a| Use::Look(Look::LoadSkill(a))),
};
