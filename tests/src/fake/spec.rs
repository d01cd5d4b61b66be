//! Checks requests against the services' own OpenAPI documents, where those lie beside the repository.
//!
//! Lenient on purpose: the documents are older than the services. It looks at names and plain types of parameters, never
//! at what is required, and a fake's own rules come first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

/// The folder with facts about the outside; `None` where there is none.
pub fn facts() -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts"));
    folder.is_dir().then(|| folder.to_owned())
}

fn read(name: &str) -> Option<Value> {
    let text = std::fs::read(facts()?.join("api-specs").join(name)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Parameters by name, with the type that the document gives them.
type Parameters = HashMap<String, String>;

/// Names that the document of 2021 lacks and the service has had since.
const SLACK_SINCE: &[(&str, &str)] = &[
    ("chat.postMessage", "metadata"),
    ("chat.postMessage", "markdown_text"),
    ("chat.postMessage", "client_msg_id"),
    ("chat.update", "metadata"),
    ("chat.update", "reply_broadcast"),
    ("chat.update", "link_names"),
    ("conversations.history", "include_all_metadata"),
    ("conversations.replies", "include_all_metadata"),
    ("views.open", "interactivity_pointer"),
];

/// What is wrong with the names of a Slack method's arguments. Unknown methods and a missing document find nothing.
pub(crate) fn slack_faults(method: &str, arguments: &serde_json::Map<String, Value>) -> Vec<String> {
    static SPEC: OnceLock<HashMap<String, Parameters>> = OnceLock::new();
    let spec = SPEC.get_or_init(|| {
        read("slack_web_openapi_v2.trimmed.json")
            .map(slack_methods)
            .unwrap_or_default()
    });
    let Some(known) = spec.get(method) else {
        return Vec::new();
    };
    let since = |name: &str| SLACK_SINCE.contains(&(method, name));
    let unknown = arguments
        .keys()
        .filter(|name| !known.contains_key(*name) && !since(name));
    let mut faults: Vec<_> = unknown
        .map(|name| format!("{method} knows no argument {name:?}"))
        .collect();
    for (name, value) in arguments {
        let fits = match known.get(name).map(String::as_str) {
            Some("boolean") => value.is_boolean() || matches!(value.as_str(), Some("true" | "false" | "1" | "0")),
            Some("integer") => value.is_number() || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
            _ => !value.is_null(),
        };
        if !fits {
            faults.push(format!("{method}: {name} is {value}"));
        }
    }
    faults
}

fn slack_methods(spec: Value) -> HashMap<String, Parameters> {
    let mut methods = HashMap::new();
    for (path, operations) in spec["paths"].as_object().into_iter().flatten() {
        let operations = operations.as_object().into_iter().flatten();
        let parameters = operations.flat_map(|(_, operation)| operation["parameters"].as_array().into_iter().flatten());
        let named = parameters.filter_map(|parameter| {
            let name = parameter["name"].as_str()?;
            Some((name.to_owned(), parameter["type"].as_str().unwrap_or("").to_owned()))
        });
        methods.insert(path.trim_start_matches('/').to_owned(), named.collect());
    }
    methods
}

/// What is wrong with the names and types inside `ticket` of a Zendesk update or creation.
pub(crate) fn zendesk_faults(ticket: &Value) -> Vec<String> {
    static SPEC: OnceLock<HashMap<String, Value>> = OnceLock::new();
    let spec = SPEC.get_or_init(|| {
        read("zendesk_support_openapi_2024-08.trimmed.json")
            .map(zendesk_fields)
            .unwrap_or_default()
    });
    if spec.is_empty() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (name, value) in ticket.as_object().into_iter().flatten() {
        let Some(field) = spec.get(name) else {
            faults.push(format!("a ticket has no field {name:?}"));
            continue;
        };
        let fits = match field["type"].as_str() {
            Some("integer") => value.is_u64(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            _ => true,
        };
        if !fits && !value.is_null() {
            faults.push(format!("ticket.{name} is {value}"));
        }
        if field["readOnly"] == true {
            faults.push(format!("ticket.{name} can only be read"));
        }
    }
    faults
}

fn zendesk_fields(spec: Value) -> HashMap<String, Value> {
    let schemas = &spec["components"]["schemas"];
    let names = ["TicketObject", "TicketCreateInput", "TicketUpdateInput"];
    let fields = names
        .iter()
        .flat_map(|name| schemas[*name]["properties"].as_object().into_iter().flatten());
    fields.map(|(name, field)| (name.clone(), field.clone())).collect()
}
