//! The commands that are registered with Discord, from core's grammar: `/triage` with a subcommand for each keyword, and
//! "Triage this" in a message's menu.

use deskhand_core::command;
use serde_json::{Value, json};

/// The typed command.
pub const NAME: &str = "triage";
/// The subcommand that stands for a ticket's number alone: Discord has no command both with and without subcommands.
pub const TICKET: &str = "ticket";
/// The command in a message's menu.
pub const ON_MESSAGE: &str = "Triage this";

/// Discord's kinds of options.
const SUBCOMMAND: u64 = 1;
const STRING: u64 = 3;

/// Both commands, as they are registered.
pub fn all() -> Value {
    json!([
        {
            "name": NAME,
            "type": 1,
            "description": "Triages support tickets, and shows how they stand",
            "options": subcommands(),
        },
        { "name": ON_MESSAGE, "type": 3, "description": "" },
    ])
}

fn subcommands() -> Vec<Value> {
    let ticket = json!({
        "type": SUBCOMMAND,
        "name": TICKET,
        "description": "Triages a ticket, or shows where its run is",
        "options": [
            option("ticket", "T-1001, or zendesk:35436", true, true),
            option("instruction", "What the run should heed", false, false),
        ],
    });
    let others = command::help()
        .into_iter()
        .filter(|line| !line.name.is_empty())
        .map(|line| {
            let mut sub = json!({ "type": SUBCOMMAND, "name": line.name, "description": cut(line.sentence) });
            let required = line.argument.starts_with('<');
            if !line.argument.is_empty() {
                let name = if line.argument == "<ticket>" { "ticket" } else { "words" };
                sub["options"] = json!([option(name, line.argument, required, true)]);
            }
            sub
        });
    std::iter::once(ticket).chain(others).collect()
}

fn option(name: &str, description: &str, required: bool, completed: bool) -> Value {
    json!({
        "type": STRING,
        "name": name,
        "description": cut(description),
        "required": required,
        "autocomplete": completed,
    })
}

/// Descriptions may have 100 characters.
fn cut(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Whether what is registered is what we would register: only what we set is compared, since Discord adds ids, versions
/// and defaults.
pub fn are(registered: &Value) -> bool {
    let ours = all();
    let (Some(registered), Some(ours)) = (registered.as_array(), ours.as_array()) else {
        return false;
    };
    let same = |one: &Value| {
        registered
            .iter()
            .any(|other| other["name"] == one["name"] && holds(other, one))
    };
    registered.len() == ours.len() && ours.iter().all(same)
}

/// Everything in `ours` stands in `theirs`; what is false or empty may be left out there.
fn holds(theirs: &Value, ours: &Value) -> bool {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => ours
            .iter()
            .all(|(key, value)| holds(theirs.get(key).unwrap_or(&Value::Null), value)),
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.len() == ours.len() && theirs.iter().zip(ours).all(|(theirs, ours)| holds(theirs, ours))
        }
        (Value::Null, Value::Bool(false)) => true,
        (Value::Null, Value::String(text)) => text.is_empty(),
        (theirs, ours) => theirs == ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_a_subcommand_within_discords_limits() {
        let all = all();
        let subs = all[0]["options"].as_array().expect("a list");
        assert!(subs.len() <= 25, "{}", subs.len());
        for line in command::help().iter().filter(|line| !line.name.is_empty()) {
            assert!(subs.iter().any(|sub| sub["name"] == line.name), "{}", line.name);
        }
        for sub in subs {
            let said = sub["description"].as_str().expect("a text").chars().count();
            assert!((1..=100).contains(&said), "{sub}");
        }
    }

    #[test]
    fn what_discord_adds_is_no_difference_and_what_we_change_is_one() {
        let mut registered = all();
        for command in registered.as_array_mut().expect("a list") {
            command["id"] = "771825006014889984".into();
            command["version"] = "1".into();
        }
        registered[1]["description"].take();
        assert!(are(&registered));
        registered[0]["options"][3]["description"] = "Something else.".into();
        assert!(!are(&registered));
        assert!(!are(&json!([])));
    }
}
