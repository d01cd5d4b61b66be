//! The tools that a model may use. A new tool is one file and one line in [`ALL`].
//!
//! A tool is a value, not an object that does things: what a call *is* is decided here, what it *does* is done by the
//! runner. Names are matched exactly; a repaired spelling is never judged by policy.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::model::{Call, ToolSpec};

pub mod classify;
pub mod escalate;
pub mod helper;
pub mod knowledge;
pub mod lookup;
pub mod outside;
pub mod plan;
pub mod question;
pub mod reply;
pub mod route;
pub mod skill;

/// How a tool touches the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Reads; may be repeated and run beside others.
    Reads,
    /// Writes to our own tables only.
    Records,
    /// Leaves the house or changes the rules: goes through policy and the outbox.
    Acts,
}

pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub reach: Reach,
    /// For people: "Search the knowledge base".
    pub label: &'static str,
    /// For people, while it runs: "Searching the knowledge base for …".
    pub activity: fn(&Value) -> String,
    schema: fn() -> Value,
    parse: fn(Value) -> Result<Use, serde_json::Error>,
}

/// A call whose arguments were checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    Look(lookup::Look),
    Classify(classify::Classify),
    Route(route::Route),
    Note(route::Note),
    Reply(reply::ReplyCustomer),
    Escalate(escalate::Escalate),
    Edit(knowledge::ProposeEdit),
    Question(question::AskQuestion),
    Plan(plan::PlanUse),
    Helper(helper::HelperUse),
    /// Of a server outside: its name and arguments.
    Outside(outside::OutsideTool, Value),
}

impl Use {
    /// Whether it only looks, and needs nobody's word: all that a helper may do.
    pub fn looks(&self) -> bool {
        match self {
            Self::Look(_) => true,
            Self::Outside(tool, _) => tool.looks(),
            Self::Classify(_)
            | Self::Route(_)
            | Self::Note(_)
            | Self::Reply(_)
            | Self::Escalate(_)
            | Self::Edit(_)
            | Self::Question(_)
            | Self::Plan(_)
            | Self::Helper(_) => false,
        }
    }
}

/// Every tool, sorted by name, as providers' caches like it.
pub static ALL: &[&Tool] = &[
    &route::ADD_NOTE,
    &question::ASK_QUESTION,
    &classify::CLASSIFY_TICKET,
    &helper::CLOSE_HELPER,
    &plan::CREATE_PLAN,
    &escalate::ESCALATE_TICKET,
    &plan::GET_PLAN,
    &lookup::GET_TICKET,
    &helper::LIST_HELPERS,
    &lookup::LIST_TICKETS,
    &skill::LOAD_SKILL,
    &knowledge::PROPOSE_KNOWLEDGE_EDIT,
    &lookup::READ_ARTICLE,
    &lookup::READ_ARTIFACT,
    &reply::REPLY_CUSTOMER,
    &route::ROUTE_TICKET,
    &lookup::SEARCH_KNOWLEDGE,
    &lookup::SEARCH_TICKETS,
    &lookup::SIMILAR_TICKETS,
    &helper::SPAWN_HELPER,
    &plan::UPDATE_PLAN,
    &helper::WAIT_HELPER,
];

static VALIDATORS: LazyLock<Vec<(&'static str, jsonschema::Validator)>> = LazyLock::new(|| {
    ALL.iter()
        .map(|tool| {
            let validator = jsonschema::validator_for(&(tool.schema)()).expect("our own schemas are valid");
            (tool.name, validator)
        })
        .collect()
});

static SPECS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    ALL.iter()
        .map(|tool| ToolSpec {
            name: tool.name.into(),
            description: tool.description.into(),
            schema: (tool.schema)(),
        })
        .collect()
});

/// What the model is shown: our own tools and those of servers outside, sorted by name. The same bytes in every request
/// of a run.
pub fn specs(outside: &[outside::OutsideTool]) -> Vec<ToolSpec> {
    let offered = outside.iter().filter(|tool| tool.rule != outside::Rule::Deny);
    let mut specs: Vec<ToolSpec> = SPECS
        .iter()
        .cloned()
        .chain(offered.map(outside::OutsideTool::spec))
        .collect();
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    specs
}

/// What a helper's model is shown: those that only look.
pub fn looking_specs(outside: &[outside::OutsideTool]) -> Vec<ToolSpec> {
    let looks = |name: &str| match find(name) {
        Some(tool) => tool.reach == Reach::Reads,
        None => outside.iter().any(|tool| tool.name == name && tool.looks()),
    };
    let mut specs = specs(outside);
    specs.retain(|spec| looks(&spec.name));
    specs
}

pub fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().copied().find(|tool| tool.name == name)
}

/// Checks a call against the JSON Schema of its arguments, then reads it. The error is one sentence for the model.
pub fn read(call: &Call, outside: &[outside::OutsideTool]) -> Result<Use, String> {
    let Some(tool) = find(&call.name) else {
        if let Some(tool) = outside.iter().find(|tool| tool.name == call.name) {
            let args = object(call)?;
            // A schema that cannot be read is its server's trouble, which will judge the arguments itself.
            if let Ok(validator) = jsonschema::validator_for(&tool.schema) {
                check(&validator, &tool.name, &args)?;
            }
            return Ok(Use::Outside(tool.clone(), args));
        }
        let known: Vec<&str> = (ALL.iter().map(|tool| tool.name))
            .chain(outside.iter().map(|tool| tool.name.as_str()))
            .collect();
        return Err(format!(
            "There is no tool \"{}\". The tools are: {}.",
            clip(&call.name),
            known.join(", ")
        ));
    };
    let args = object(call)?;
    if let Some((_, validator)) = VALIDATORS.iter().find(|(name, _)| *name == tool.name) {
        check(validator, tool.name, &args)?;
    }
    (tool.parse)(args).map_err(|error| format!("Wrong arguments for {}: {}.", tool.name, clip(&error.to_string())))
}

/// The arguments as an object; none at all are an empty one.
fn object(call: &Call) -> Result<Value, String> {
    match &call.args {
        Value::Null => Ok(json!({})),
        Value::String(raw) if !raw.trim().is_empty() => Err(format!(
            "The arguments of {} are not a JSON object; send them again as one.",
            call.name
        )),
        Value::String(_) => Ok(json!({})),
        args => Ok(args.clone()),
    }
}

fn check(validator: &jsonschema::Validator, name: &str, args: &Value) -> Result<(), String> {
    let Some(error) = validator.iter_errors(args).next() else {
        return Ok(());
    };
    let place = match error.instance_path().to_string() {
        path if path.is_empty() => String::new(),
        path => format!(" at {path}"),
    };
    Err(format!(
        "Wrong arguments for {name}{place}: {}.",
        clip(&error.to_string())
    ))
}

fn clip(text: &str) -> String {
    text.chars().take(300).collect()
}

/// The schema of an argument struct: self-contained, closed, without the noise that providers refuse.
fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = serde_json::to_value(settings.into_generator().into_root_schema_for::<T>()).unwrap_or_default();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.insert("additionalProperties".into(), json!(false));
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

fn parse_as<T: DeserializeOwned>(args: Value, wrap: fn(T) -> Use) -> Result<Use, serde_json::Error> {
    serde_json::from_value(args).map(wrap)
}

/// An argument as people may see it in an activity line: short, on one line.
fn shown(args: &Value, name: &str) -> String {
    let text = match &args[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_args(name: &str, args: Value) -> Result<Use, String> {
        let call = Call {
            id: "1".into(),
            name: name.into(),
            args,
        };
        read(&call, &[])
    }

    #[test]
    fn tools_are_sorted_and_their_schemas_are_closed_objects() {
        let names: Vec<&str> = ALL.iter().map(|tool| tool.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        for spec in specs(&[]) {
            assert_eq!(spec.schema["type"], "object", "{}", spec.name);
            assert_eq!(spec.schema["additionalProperties"], false, "{}", spec.name);
            assert!(
                !spec.schema.to_string().contains("$ref"),
                "{} must not refer elsewhere",
                spec.name
            );
        }
    }

    #[test]
    fn wrong_arguments_are_told_in_one_sentence() {
        for (name, args, says) in [
            ("reply_customer", json!({}), "\"text\" is a required property"),
            (
                "reply_customer",
                json!({"text": "Hello", "to": "eve@example.com"}),
                "'to' was unexpected",
            ),
            ("reply_customer", json!("{\"text\": \"Hel"), "not a JSON object"),
            (
                "escalate_ticket",
                json!({"level": 0, "team": "billing", "reason": "x"}),
                "less than the minimum",
            ),
            (
                "classify_ticket",
                json!({"category": "refund", "priority": "asap", "language": "en", "action": "human",
                       "confidence": 0.5, "reason": "x"}),
                "at /priority",
            ),
            ("reply_costumer", json!({}), "There is no tool \"reply_costumer\""),
        ] {
            let error = read_args(name, args).expect_err(name);
            assert!(error.contains(says), "{name}: {error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn right_arguments_are_read() {
        let used = read_args("search_knowledge", json!({"query": "退款"}));
        assert!(matches!(used, Ok(Use::Look(lookup::Look::SearchKnowledge(args))) if args.query == "退款"));
        assert!(read_args("list_tickets", Value::Null).is_ok());
    }

    #[test]
    fn activity_lines_are_short_and_on_one_line() {
        let tool = find("search_knowledge").expect("it is there");
        let line = (tool.activity)(&json!({"query": format!("a\nb {}", "long ".repeat(50))}));
        assert!(
            line.starts_with("Searching the knowledge base for a b long") && line.chars().count() < 110,
            "{line}"
        );
    }
}
