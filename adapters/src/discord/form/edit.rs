//! The form with the draft.
//!
//! A draft that is longer than one input is cut into several, at paragraphs where possible. What stood between them is
//! named in the inputs' ids, so that a draft nobody touched is the same afterwards.

use deskhand_core::card::{ButtonKind, ButtonValue};
use serde_json::{Value, json};

use super::{INPUT, label, modal};
use crate::discord::escape;

/// What is put into an input leaves room to write.
const FILL: usize = 3600;
/// A modal has five components at most.
const INPUTS: usize = 5;

/// The form for the draft behind a button; `None` for a draft beyond what one form can hold.
pub fn edit(value: &ButtonValue, draft: &str) -> Option<Value> {
    let pieces = cut(draft);
    let count = pieces.len();
    if count > INPUTS {
        return None;
    }
    let inputs = pieces.into_iter().enumerate().map(|(i, (gap, piece))| {
        let name = match count {
            1 => "Draft".to_owned(),
            _ => format!("Draft, part {} of {count}", i + 1),
        };
        let mut input = json!({
            "type": 4,
            // The part's number, and what stood before it.
            "custom_id": format!("draft_{i}:{gap}"),
            "style": 2,
            "max_length": INPUT,
            // Only one part must stay; the others may be emptied.
            "required": i == 0,
        });
        if !piece.is_empty() {
            input["value"] = piece.into();
        }
        label(&name, None, input)
    });
    Some(modal(ButtonKind::Edit, value, inputs.collect()))
}

/// The gaps that are kept as they are, by their sign; any other becomes an empty line.
const GAPS: &[(&str, &str)] = &[("p", "\n\n"), ("n", "\n"), ("s", " "), ("x", "")];

/// Pieces without white space at their ends (Discord drops it), each with the sign of what stood before it.
fn cut(draft: &str) -> Vec<(&'static str, &str)> {
    let draft = draft.trim();
    let mut pieces: Vec<(&'static str, &str)> = Vec::new();
    let mut gap = String::new();
    for part in escape::parts(draft, FILL) {
        let shown = part.trim();
        if shown.is_empty() {
            gap.push_str(part);
            continue;
        }
        let lead = &part[..part.len() - part.trim_start().len()];
        gap.push_str(lead);
        let known = GAPS.iter().find(|(_, text)| *text == gap);
        pieces.push((known.map_or("p", |(sign, _)| sign), shown));
        gap = part[lead.len() + shown.len()..].to_owned();
    }
    if pieces.is_empty() {
        pieces.push(("x", ""));
    }
    pieces
}

/// The draft that was typed. An emptied part takes its gap with it.
pub(crate) fn typed_draft(fields: &[(String, String)]) -> String {
    let mut draft = String::new();
    for (id, typed) in fields {
        let Some((_, sign)) = id.strip_prefix("draft_").and_then(|id| id.split_once(':')) else {
            continue;
        };
        if typed.trim().is_empty() {
            continue;
        }
        if !draft.is_empty() {
            let gap = GAPS.iter().find(|(known, _)| *known == sign);
            draft.push_str(gap.map_or("\n\n", |(_, text)| text));
        }
        draft.push_str(typed);
    }
    draft
}

#[cfg(test)]
mod tests {
    use deskhand_core::id::ApprovalId;

    use super::*;

    fn value() -> ButtonValue {
        ButtonValue {
            deployment: "shop".into(),
            approval: ApprovalId(17),
            digest: "0123456789ab".into(),
        }
    }

    /// As Discord gives them back when nobody touched them.
    fn untouched(form: &Value) -> Vec<(String, String)> {
        let labels = form["components"].as_array().expect("a list").iter();
        labels
            .map(|label| {
                let input = &label["component"];
                let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
                assert!(text("value").encode_utf16().count() <= INPUT && text("custom_id").len() <= 100);
                (text("custom_id"), text("value"))
            })
            .collect()
    }

    #[test]
    fn a_draft_that_nobody_touched_comes_back_as_it_was() {
        let paragraph = "We looked into it once more and found the parcel.\n\n".repeat(120);
        let words = "word ".repeat(2_000);
        for draft in [
            "Short.",
            "",
            "Two\n\nparagraphs, \n and a line.",
            &paragraph,
            &words,
            &"x".repeat(16_000),
        ] {
            let form = edit(&value(), draft).expect("it fits");
            assert_eq!(typed_draft(&untouched(&form)), draft.trim());
        }
        assert_eq!(edit(&value(), &"x".repeat(20_000)), None);
    }

    #[test]
    fn an_emptied_part_takes_its_gap_with_it() {
        let fields = [("draft_0:x", "One"), ("draft_1:p", " "), ("draft_2:n", "three")];
        let fields = fields.map(|(id, text)| (id.to_owned(), text.to_owned()));
        assert_eq!(typed_draft(&fields), "One\nthree");
    }
}
