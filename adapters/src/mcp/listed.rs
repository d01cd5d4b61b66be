//! What a server lists, made into tools that may be offered: tolerant of what is wrong with a single one.

use std::collections::BTreeSet;

use deskhand_core::tool::outside::{OutsideTool, Rule};
use serde_json::{Map, Value, json};

use super::{Server, names};

/// More than this from one server would fill every request.
const MOST_TOOLS: usize = 128;
/// Characters of a description.
const MOST_WORDS: usize = 4000;
/// Bytes of a tool's schema: every request carries it.
const MOST_SCHEMA: usize = 16_000;
/// People read some of them.
const MOST_REMARKS: usize = 20;

/// A tool as it is offered, and how its server calls it.
pub(super) struct Listed {
    pub(super) tool: OutsideTool,
    pub(super) own_name: String,
}

/// Reads a list of tools as it came over the wire. The second part remarks on what had to be changed or left out, a
/// clause each.
pub(super) fn judge(server: &Server, tools: &[Value]) -> (Vec<Listed>, Vec<String>) {
    let mut remarks = Vec::new();
    let mut seen = BTreeSet::new();
    let mut usable: Vec<(&str, &Value)> = Vec::new();
    for tool in tools {
        match tool["name"].as_str() {
            Some(name) if !seen.insert(name) => remarks.push(format!("{} is listed twice", clip(name))),
            Some(name) => usable.push((name, tool)),
            None => remarks.push("a tool without a name is left out".into()),
        }
    }
    if usable.len() > MOST_TOOLS {
        remarks.push(format!(
            "only the first {MOST_TOOLS} of its {} tools are offered",
            usable.len()
        ));
        usable.truncate(MOST_TOOLS);
    }
    for name in server.rules.keys().filter(|name| !seen.contains(name.as_str())) {
        remarks.push(format!(
            "[mcp.{}.tools] names {name}, which it does not have",
            server.name
        ));
    }
    let own_names: Vec<&str> = usable.iter().map(|(name, _)| *name).collect();
    let names = names::names(&server.name, &own_names);
    let listed = usable.into_iter().zip(names).map(|((own_name, tool), name)| {
        let (schema, remark) = schema(&tool["inputSchema"]);
        remarks.extend(remark.map(|why| format!("the schema of {} {why}", clip(own_name))));
        let hints = Hints::of(server, tool);
        let tool = OutsideTool {
            name,
            description: description(tool),
            schema,
            rule: rule(server, own_name, &hints),
            reads: hints.reads,
            repeatable: hints.repeatable,
        };
        Listed {
            tool,
            own_name: own_name.to_owned(),
        }
    });
    let listed = listed.collect();
    remarks.truncate(MOST_REMARKS);
    (listed, remarks)
}

/// What the server says of a tool, where the team believes it.
struct Hints {
    reads: bool,
    repeatable: bool,
}

impl Hints {
    fn of(server: &Server, tool: &Value) -> Self {
        let says = |hint: &str| server.trust_hints && tool["annotations"][hint].as_bool() == Some(true);
        // A tool that claims both is not believed the harmless one.
        let reads = says("readOnlyHint") && !says("destructiveHint");
        Self {
            reads,
            repeatable: reads || says("idempotentHint"),
        }
    }
}

/// The team's word on the tool, else its word on the server. A hint loosens `ask`, never `deny`.
fn rule(server: &Server, own_name: &str, hints: &Hints) -> Rule {
    match (server.rules.get(own_name), server.rule) {
        (Some(rule), _) => *rule,
        (None, Rule::Ask) if hints.reads => Rule::Allow,
        (None, rule) => rule,
    }
}

fn description(tool: &Value) -> String {
    let text = [&tool["description"], &tool["title"], &tool["annotations"]["title"]]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
    text.replace('\0', "").chars().take(MOST_WORDS).collect()
}

/// A schema that every provider takes: an object, without a choice at its top.
fn schema(given: &Value) -> (Value, Option<&'static str>) {
    let open = || json!({ "type": "object" });
    let Value::Object(given) = given else {
        return (open(), Some("is none; any arguments are taken"));
    };
    if serde_json::to_string(given).is_ok_and(|text| text.len() > MOST_SCHEMA) {
        return (open(), Some("is too long; any arguments are taken"));
    }
    let mut schema: Map<String, Value> = given.clone();
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {}
        None if !schema.contains_key("type") => {
            schema.insert("type".into(), json!("object"));
        }
        Some(_) | None => return (open(), Some("is not one of an object; any arguments are taken")),
    }
    if schema
        .get("properties")
        .is_some_and(|properties| !properties.is_object())
    {
        return (open(), Some("cannot be read; any arguments are taken"));
    }
    let before = schema.len();
    schema.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf" | "allOf"));
    let cut = schema.len() < before;
    (
        Value::Object(schema),
        cut.then_some("has a choice at its top, which providers refuse; it is left to the server to check"),
    )
}

fn clip(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests;
