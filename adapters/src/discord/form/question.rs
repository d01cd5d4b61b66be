//! The form in which a question is answered in words.

use deskhand_core::card::{ButtonKind, ButtonValue};
use serde_json::{Value, json};

use super::{label, modal};
use crate::discord::escape;

/// Discord's limit for what stands below a label.
const DESCRIPTION: usize = 100;

/// `asked` is the question; as much of it as fits stands above the input.
pub fn question(value: &ButtonValue, asked: &str) -> Value {
    let input = json!({
        "type": 4,
        "custom_id": "answer",
        "style": 2,
        "max_length": 3000,
        "required": true,
        "placeholder": "The model goes on with it. The customer never sees it.",
    });
    let asked = escape::clip(&escape::one_line(asked), DESCRIPTION, "…");
    let asked = (!asked.trim().is_empty()).then_some(asked.as_str());
    modal(ButtonKind::Answer, value, vec![label("Answer", asked, input)])
}

/// What was typed.
pub(crate) fn typed_answer(fields: &[(String, String)]) -> String {
    let answer = fields.iter().find(|(id, _)| id == "answer");
    answer.map(|(_, typed)| typed.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use deskhand_core::id::ApprovalId;

    use super::*;

    #[test]
    fn a_long_question_is_cut_to_what_a_label_holds() {
        let value = ButtonValue {
            deployment: "shop".into(),
            approval: ApprovalId(17),
            digest: "0123456789ab".into(),
        };
        let form = question(&value, &"Is it 30 days? ".repeat(40));
        let label = &form["components"][0];
        let said = label["description"].as_str().expect("a description");
        assert!(
            said.starts_with("Is it 30 days?") && said.encode_utf16().count() <= DESCRIPTION,
            "{said}"
        );
        assert_eq!(form["custom_id"], "answer:shop:17:0123456789ab");
        assert!(question(&value, " ")["components"][0].get("description").is_none());
    }
}
