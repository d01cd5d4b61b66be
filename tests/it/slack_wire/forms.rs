//! Forms, there and back.

use deskhand_adapters::slack::SlackInbound;
use deskhand_adapters::slack::escape::size;
use deskhand_adapters::slack::form::{self, FIRST_INPUT, REASONS};
use deskhand_adapters::slack::inbound::{self, Spot};
use deskhand_core::card::{Body, Card};
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use super::cards::{button, card};
use super::deliveries::encoded;

fn spot() -> Spot {
    Spot {
        channel: "C1".into(),
        ts: "1760000000.000100".into(),
        thread_ts: Some("1759999999.000200".into()),
    }
}

/// What Slack would send for a form whose inputs are filled as given.
fn submitted(view: &impl serde::Serialize, values: Value) -> SlackInbound {
    let mut view = serde_json::to_value(view).expect("JSON");
    view["id"] = "V1".into();
    view["hash"] = "1.h".into();
    view["state"] = json!({ "values": values });
    let payload = json!({
        "type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U1", "name": "sam", "team_id": "T1"},
        "trigger_id": "t.2", "view": view,
    });
    let body = format!("payload={}", encoded(&payload.to_string()));
    inbound::interaction(body.as_bytes()).expect("a form")
}

/// The inputs of an edit form as nobody touched them.
fn untouched(view: &impl serde::Serialize) -> Value {
    let view = serde_json::to_value(view).expect("JSON");
    let mut values = json!({});
    for block in view["blocks"].as_array().expect("blocks") {
        let id = block["block_id"].as_str().expect("an id");
        values[id] = json!({"text": {"type": "plain_text_input", "value": block["element"].get("initial_value")}});
    }
    values
}

fn draft(parsed: SlackInbound) -> String {
    match parsed {
        SlackInbound::DraftSubmitted(draft) => {
            assert_eq!((&draft.form.value, &draft.form.spot), (&button(), &spot()));
            assert_eq!((draft.form.view_id.as_str(), draft.form.hash.as_str()), ("V1", "1.h"));
            draft.text
        }
        other => panic!("no draft: {other:?}"),
    }
}

#[test]
fn a_short_draft_has_one_input() {
    let view = form::edit(&button(), &spot(), "Hello Ada,\n\nyour refund left us.");
    assert_json_snapshot!("edit", view);
    let typed = json!({FIRST_INPUT: {"text": {"type": "plain_text_input", "value": "Hi Ada"}}});
    assert_eq!(draft(submitted(&view, typed)), "Hi Ada");
    let emptied = json!({FIRST_INPUT: {"text": {"type": "plain_text_input", "value": null}}});
    assert_eq!(draft(submitted(&view, emptied)), "");
}

#[test]
fn a_long_draft_comes_back_as_it_was_if_nobody_touched_it() {
    for text in [
        "退款已经发出。".repeat(900),
        "a paragraph of several words & more\n\n"
            .repeat(400)
            .trim_end()
            .to_owned(),
        "one line\n".repeat(2000).trim_end().to_owned(),
        "w".repeat(20_000),
        "word ".repeat(4000).trim_end().to_owned(),
        "  indented\n\n\n    code\n"
            .repeat(500)
            .trim_end()
            .trim_start()
            .to_owned(),
    ] {
        let view = form::edit(&button(), &spot(), &text);
        let shown = serde_json::to_value(&view).expect("JSON");
        let blocks = shown["blocks"].as_array().expect("blocks");
        assert!(blocks.len() > 1 && blocks.len() <= 100);
        for block in blocks {
            assert!(size(block["element"]["initial_value"].as_str().expect("text")) <= 3000);
            assert_eq!(block["element"]["max_length"], 3000);
        }
        assert!(shown["private_metadata"].as_str().expect("text").len() <= 3000);
        assert_eq!(draft(submitted(&view, untouched(&view))), text);
    }
}

#[test]
fn a_part_that_was_emptied_leaves_no_hole() {
    let text = format!(
        "{}\n\n{}\n\n{}",
        "a ".repeat(1300).trim(),
        "b ".repeat(1300).trim(),
        "c ".repeat(1300).trim()
    );
    let view = form::edit(&button(), &spot(), &text);
    let mut values = untouched(&view);
    values["draft_1"]["text"]["value"] = Value::Null;
    let edited = draft(submitted(&view, values.clone()));
    assert_eq!(
        edited,
        format!("{}\n\n{}", "a ".repeat(1300).trim(), "c ".repeat(1300).trim())
    );
    values["draft_0"]["text"]["value"] = "  ".into();
    assert_eq!(draft(submitted(&view, values)), "c ".repeat(1300).trim());
}

#[test]
fn a_draft_that_no_form_can_hold_is_not_cut() {
    let view = form::edit(&button(), &spot(), &"word ".repeat(80_000));
    let shown = serde_json::to_value(&view).expect("JSON");
    assert!(shown.get("submit").is_none());
    assert!(shown.to_string().contains("Edit it in the console"));
}

#[test]
fn a_rejection_always_has_a_reason() {
    let view = form::reject(&button(), &spot());
    assert_json_snapshot!("reject", view);
    let given = |choice: Option<&str>, words: Option<&str>| {
        let values = json!({
            "reason": {"reason": {"type": "static_select", "selected_option": choice.map(|value| json!({"value": value}))}},
            "words": {"words": {"type": "plain_text_input", "value": words}},
        });
        match submitted(&view, values) {
            SlackInbound::RejectSubmitted(reject) => reject.reason,
            other => panic!("no rejection: {other:?}"),
        }
    };
    assert_eq!(given(Some("facts"), None), "The facts are wrong");
    assert_eq!(
        given(Some("tone"), Some(" too stiff ")),
        "Wrong tone or language: too stiff"
    );
    assert_eq!(given(Some("other"), Some("ask sales")), "ask sales");
    assert_eq!(given(Some("other"), None), "Something else");
    assert_eq!(given(Some("new in a later version"), Some("x")), "x");
    assert_eq!(given(None, None), "No reason was given");
    assert!(
        REASONS
            .iter()
            .all(|(value, label)| value.len() <= 150 && label.len() <= 75)
    );
}

#[test]
fn view_full_shows_what_the_card_cut() {
    let words = "the whole of it, & every word <b>\n".repeat(300);
    let full = form::full(
        &Card {
            body: Body::Draft(words.clone()),
            ..card()
        },
        "",
    );
    let shown = serde_json::to_value(&full).expect("JSON");
    let blocks = shown["blocks"].as_array().expect("blocks");
    assert!(blocks.len() <= 100);
    let paragraphs: String = blocks
        .iter()
        .filter_map(|block| block["elements"][0]["elements"][0]["text"].as_str())
        .filter(|text| text.contains("the whole of it"))
        .collect();
    assert_eq!(paragraphs, words);
    for text in ["a", "退", "&", "line\n"] {
        let view = form::full(
            &Card {
                subject: text.repeat(9000),
                will: text.repeat(90_000),
                last_words: text.repeat(90_000),
                body: Body::Diff(text.repeat(900_000)),
                ..card()
            },
            "",
        );
        let shown = serde_json::to_value(&view).expect("JSON");
        assert!(shown["blocks"].as_array().expect("blocks").len() <= 100);
        assert!(shown.to_string().contains("--whole has the rest"));
        assert!(shown.to_string().len() < 250_000);
    }
}

#[test]
fn titles_keep_to_24_characters() {
    for view in [
        form::loading(),
        form::note("A title that is longer than Slack allows", ""),
        form::edit(&button(), &spot(), ""),
        form::full(&card(), ""),
    ] {
        let shown = serde_json::to_value(&view).expect("JSON");
        let title = shown["title"]["text"].as_str().expect("a title");
        assert!(title.chars().count() <= 24, "{title}");
    }
}

#[test]
fn answers_to_a_form_are_what_slack_expects() {
    assert_eq!(
        form::errors(&[(FIRST_INPUT, "The draft has changed meanwhile.")]),
        json!({"response_action": "errors", "errors": {"draft_0": "The draft has changed meanwhile."}})
    );
    assert_eq!(form::clear(), json!({"response_action": "clear"}));
    assert_eq!(form::update(&form::loading())["view"]["type"], "modal");
}
