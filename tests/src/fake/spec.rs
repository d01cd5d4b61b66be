//! Checks requests against the services' own OpenAPI documents, where those lie beside the repository.
//!
//! Lenient on purpose: the documents are older than the services. It looks at names and plain types of parameters, never
//! at what is required, and a fake's own rules come first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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

/// What Discord's OpenAPI says against the body of a request. Unknown calls and a missing document find nothing.
pub(crate) fn discord_faults(method: &str, path: &str, body: &Value) -> Vec<String> {
    if body.is_null() {
        return Vec::new();
    }
    let Some(spec) = discord() else { return Vec::new() };
    let paths = spec["paths"].as_object().into_iter().flatten();
    // A path without parameters says more than one with them.
    let mut fitting: Vec<_> = paths.filter(|(template, _)| fits(template, path)).collect();
    fitting.sort_by_key(|(template, _)| template.matches('{').count());
    let Some((template, operations)) = fitting.first() else {
        return vec![format!("Discord has no {method} {path}")];
    };
    let schema = &operations[method.to_lowercase()]["requestBody"]["content"]["application/json"]["schema"];
    match schema.is_null() {
        true => vec![format!("Discord takes no body for {method} {template}")],
        false => against(&format!("{method} {template}"), schema, body),
    }
}

/// The same for the answer to an interaction, by its type.
pub(crate) fn discord_answer_faults(answer: &Value) -> Vec<String> {
    let name = match answer["type"].as_u64() {
        Some(1) => "PongInteractionCallbackRequest",
        Some(4 | 5) => "CreateMessageInteractionCallbackRequest",
        Some(6 | 7) => "UpdateMessageInteractionCallbackRequest",
        Some(8) => "ApplicationCommandAutocompleteCallbackRequest",
        Some(9) => "ModalInteractionCallbackRequest",
        _ => return vec![format!("Discord knows no such answer: {answer}")],
    };
    match discord() {
        None => Vec::new(),
        Some(_) => {
            let schema = serde_json::json!({ "$ref": format!("#/components/schemas/{name}") });
            against(name, &schema, answer)
        }
    }
}

fn discord() -> Option<&'static Value> {
    static SPEC: OnceLock<Option<Value>> = OnceLock::new();
    SPEC.get_or_init(|| read("discord_openapi_v10.trimmed.json")).as_ref()
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let same = |(template, path): (&&str, &&str)| template.starts_with('{') || template == path;
    template.len() == path.len() && template.iter().zip(&path).all(same)
}

/// One validator for each call, made when it is first needed.
fn against(name: &str, schema: &Value, body: &Value) -> Vec<String> {
    static VALIDATORS: OnceLock<Mutex<HashMap<String, Arc<jsonschema::Validator>>>> = OnceLock::new();
    let mut known = VALIDATORS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let validator = Arc::clone(known.entry(name.to_owned()).or_insert_with(|| {
        let components = discord().map(|spec| spec["components"].clone());
        let whole = serde_json::json!({ "allOf": [schema], "components": components });
        Arc::new(jsonschema::validator_for(&whole).expect("Discord's document is a schema"))
    }));
    drop(known);
    validator
        .iter_errors(body)
        .map(|error| format!("{name}: {error} at {}", error.instance_path()))
        .collect()
}
