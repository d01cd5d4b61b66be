//! The calls of a reply, put together from pieces.
//!
//! OpenAI numbers the pieces and tells id and name once. Servers that copy it leave the number out, give every call
//! the number 0, repeat id and name in each piece, give no ids, or send arguments as an object: all of that is met.

use deskhand_core::model::Call;
use serde_json::{Map, Value, json};

use crate::llm::scrub;

#[derive(Default)]
pub(super) struct Calls(Vec<Draft>);

#[derive(Default)]
struct Draft {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What else the server told of the call; some want it back (thought signatures).
    rest: Map<String, Value>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, piece: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name) = (text(&piece["id"]), text(&piece["function"]["name"]));
        let draft = self.draft_for(piece["index"].as_u64(), &id, &name);
        if draft.id.is_empty() {
            draft.id = id;
        }
        if draft.name != name {
            draft.name.push_str(&name);
        }
        match &piece["function"]["arguments"] {
            Value::String(written) => draft.arguments.push_str(written),
            Value::Null => {}
            whole => draft.arguments = whole.to_string(),
        }
        for (key, value) in piece.as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "index" | "id" | "type" | "function") {
                draft.rest.insert(key.clone(), value.clone());
            }
        }
    }

    /// The call that a piece belongs to, begun where it begins one.
    fn draft_for(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Draft {
        let is_other = |draft: &Draft| !id.is_empty() && !draft.id.is_empty() && draft.id != id;
        let found = match index {
            Some(_) => self
                .0
                .iter()
                .rposition(|draft| draft.index == index && !is_other(draft)),
            None if !id.is_empty() => self.0.iter().rposition(|draft| draft.id == id),
            // Neither number nor id: a name begins a call, anything else continues the last one.
            None if name.is_empty() => self.0.len().checked_sub(1),
            None => None,
        };
        let at = found.unwrap_or_else(|| {
            self.0.push(Draft {
                index,
                ..Draft::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The calls in our types, and as they are replayed.
    pub(super) fn finish(mut self) -> (Vec<Call>, Vec<Value>) {
        // By their numbers where there are any; the sort is stable, so the others keep their order.
        self.0.sort_by_key(|draft| draft.index);
        let mut calls: Vec<Call> = Vec::with_capacity(self.0.len());
        let mut raw = Vec::with_capacity(self.0.len());
        for (number, draft) in (1..).zip(self.0) {
            let mut id = scrub::text(&draft.id);
            if id.is_empty() || calls.iter().any(|call| call.id == id) {
                id = format!("call_{number}");
            }
            let args = scrub::args(&draft.arguments);
            // Servers put the arguments into templates and fail on what is no object; what is one goes back verbatim.
            let arguments = match args.is_object() && !draft.arguments.trim().is_empty() {
                true => draft.arguments,
                false => scrub::object(&args).to_string(),
            };
            let mut message = draft.rest;
            message.insert("id".to_owned(), json!(id));
            message.insert("type".to_owned(), json!("function"));
            message.insert(
                "function".to_owned(),
                json!({"name": draft.name, "arguments": arguments}),
            );
            raw.push(scrub::value(Value::Object(message)));
            calls.push(Call {
                id,
                name: scrub::text(&draft.name),
                args,
            });
        }
        (calls, raw)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Calls;

    #[track_caller]
    fn check(pieces: Value, expected: &[(&str, &str, Value)]) {
        let mut calls = Calls::default();
        pieces
            .as_array()
            .expect("a list")
            .iter()
            .for_each(|piece| calls.add(piece));
        let (calls, raw) = calls.finish();
        let found: Vec<_> = calls
            .iter()
            .map(|call| (&*call.id, &*call.name, call.args.clone()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(raw.len(), expected.len());
    }

    #[test]
    fn pieces_are_joined_by_their_number() {
        check(
            json!([
                {"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}},
                {"index": 1, "id": "b", "function": {"name": "y", "arguments": "{\"n\""}},
                {"index": 0, "function": {"arguments": "{}"}},
                {"index": 1, "function": {"arguments": ":1}"}},
            ]),
            &[("a", "x", json!({})), ("b", "y", json!({"n": 1}))],
        );
    }

    #[test]
    fn pieces_without_a_number_are_joined_by_id_or_order() {
        check(
            json!([
                {"id": "a", "function": {"name": "x", "arguments": "{\"n\":"}},
                {"function": {"arguments": "1}"}},
                {"id": "b", "function": {"name": "x", "arguments": "{}"}},
                {"function": {"name": "y", "arguments": "{}"}},
            ]),
            &[
                ("a", "x", json!({"n": 1})),
                ("b", "x", json!({})),
                ("call_3", "y", json!({})),
            ],
        );
    }

    #[test]
    fn one_number_for_all_is_told_apart_by_ids() {
        check(
            json!([
                {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
                {"index": 0, "id": "b", "function": {"name": "y", "arguments": "{}"}},
                {"index": 0, "id": "b", "function": {"name": "y", "arguments": ""}},
            ]),
            &[("a", "x", json!({})), ("b", "y", json!({}))],
        );
    }

    #[test]
    fn arguments_come_as_text_as_an_object_or_broken() {
        check(
            json!([
                {"index": 0, "id": "a", "function": {"name": "x", "arguments": {"n": 1}}},
                {"index": 1, "id": "b", "function": {"name": "x", "arguments": "{\"n\": 1"}},
                {"index": 2, "id": "c", "function": {"name": "x"}},
                {"index": 3, "id": "d", "function": {"name": "x", "arguments": "{\"n\": \"a\\u0000b\"}"}},
            ]),
            &[
                ("a", "x", json!({"n": 1})),
                ("b", "x", json!("{\"n\": 1")),
                ("c", "x", json!({})),
                ("d", "x", json!({"n": "a\u{fffd}b"})),
            ],
        );
    }

    #[test]
    fn what_else_is_told_of_a_call_goes_back() {
        let mut calls = Calls::default();
        calls.add(
            &json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": "{ }"}, "extra_content": {"s": 1}}),
        );
        let (_, raw) = calls.finish();
        let expected = json!({
            "id": "a", "type": "function", "function": {"name": "x", "arguments": "{ }"}, "extra_content": {"s": 1},
        });
        assert_eq!(raw, [expected]);
    }
}
