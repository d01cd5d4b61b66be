//! Modals: a trigger lives three seconds and opens one view.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::blocks::{self, Surface};
use super::chat::text;
use super::http::{Arguments, Outcome, Refused};
use super::state::View;
use super::{APP, TEAM, Team, payload};

pub(super) fn open(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let trigger = text(arguments, "trigger_id").ok_or("invalid_arguments")?.to_owned();
    let known = team
        .state
        .triggers
        .iter_mut()
        .find(|known| known.id == trigger)
        .ok_or("invalid_trigger_id")?;
    if now > known.until {
        return Err("expired_trigger_id".into());
    }
    if known.used {
        return Err("exchanged_trigger_id".into());
    }
    let person = known.person.clone();
    let body = checked(team, arguments)?;
    for known in team.state.triggers.iter_mut().filter(|known| known.id == trigger) {
        known.used = true;
    }
    let view = View {
        id: format!("V0{:08}", team.state.fresh()),
        trigger,
        person,
        body,
        hash: format!("{}.h{}", now.timestamp(), team.state.fresh()),
        open: true,
    };
    let answer = drawn(&view, json!({}));
    team.state.views.push(view);
    Ok(json!({ "view": answer }))
}

pub(super) fn update(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let id = text(arguments, "view_id");
    let external = text(arguments, "external_id");
    let at = team.state.views.iter().position(|view| match (id, external) {
        (Some(id), _) => view.id == id,
        (None, Some(external)) => view.body["external_id"] == external,
        (None, None) => false,
    });
    let at = at.filter(|at| team.state.views[*at].open).ok_or("not_found")?;
    if text(arguments, "hash").is_some_and(|hash| hash != team.state.views[at].hash) {
        return Err("hash_conflict".into());
    }
    let body = checked(team, arguments)?;
    let hash = format!("{}.h{}", now.timestamp(), team.state.fresh());
    let view = &mut team.state.views[at];
    (view.body, view.hash) = (body, hash);
    Ok(json!({ "view": drawn(view, json!({})) }))
}

fn checked(team: &mut Team, arguments: &Arguments) -> Result<Value, Refused> {
    let sent = arguments
        .get("view")
        .filter(|view| view.is_object())
        .ok_or("invalid_arguments")?;
    let wrong = faults(sent);
    if !wrong.is_empty() {
        return Err(Refused::with_details("invalid_arguments", wrong));
    }
    let sent_blocks = sent["blocks"].as_array().cloned().unwrap_or_default();
    let mut body = sent.clone();
    body["blocks"] = blocks::with_ids(&sent_blocks, || team.state.fresh()).into();
    Ok(body)
}

/// What is wrong with a view, as Slack would say it.
pub(super) fn faults(view: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let known = [
        "type",
        "title",
        "blocks",
        "close",
        "submit",
        "private_metadata",
        "callback_id",
        "clear_on_close",
        "notify_on_close",
        "external_id",
        "submit_disabled",
    ];
    for name in view.as_object().into_iter().flat_map(|view| view.keys()) {
        if !known.contains(&name.as_str()) {
            wrong.push(format!(
                "additional property {name} is not allowed [json-pointer:/view]"
            ));
        }
    }
    if view["type"] != "modal" {
        wrong.push("unsupported type [json-pointer:/view/type]".to_owned());
    }
    for (name, required) in [("title", true), ("submit", false), ("close", false)] {
        match view.get(name) {
            Some(text) => blocks::plain_text(&mut wrong, text, &format!("/view/{name}"), 24),
            None if required => wrong.push(format!("missing required field: {name} [json-pointer:/view]")),
            None => {}
        }
    }
    for (name, most) in [("private_metadata", 3000), ("callback_id", 255), ("external_id", 255)] {
        if view[name].as_str().is_some_and(|text| text.chars().count() > most) {
            wrong.push(format!(
                "must be less than {} characters [json-pointer:/view/{name}]",
                most + 1
            ));
        }
    }
    let Some(sent) = view["blocks"].as_array() else {
        wrong.push("missing required field: blocks [json-pointer:/view]".to_owned());
        return wrong;
    };
    if let Err(refused) = blocks::check(sent, Surface::Modal) {
        wrong.push(refused.error);
        wrong.extend(refused.details);
    }
    if sent.iter().any(|block| block["type"] == "input") && view.get("submit").is_none() {
        wrong.push("submit is required when an input block is within blocks [json-pointer:/view/submit]".to_owned());
    }
    wrong
}

/// A view as Slack tells of it, with what was typed.
pub(super) fn drawn(view: &View, values: Value) -> Value {
    let mut all = view.body.clone();
    let facts = json!({
        "id": view.id, "team_id": TEAM, "app_id": APP, "app_installed_team_id": TEAM, "bot_id": payload::BOT_ID,
        "hash": view.hash, "state": { "values": values }, "root_view_id": view.id, "previous_view_id": null,
    });
    let defaults = json!({
        "private_metadata": "", "callback_id": "", "external_id": "", "clear_on_close": false, "notify_on_close": false,
        "close": null, "submit": null,
    });
    if let (Some(object), Value::Object(facts), Value::Object(defaults)) = (all.as_object_mut(), facts, defaults) {
        object.extend(facts);
        for (name, value) in defaults {
            object.entry(name).or_insert(value);
        }
    }
    all
}
