//! A category that a person of the team names: "category refund", "this is a security matter", "file it under billing".

/// Words after which a category's name is meant as one.
const BEFORE: [&str; 12] = [
    "category",
    "as",
    "is",
    "a",
    "an",
    "to",
    "into",
    "under",
    "categorie",
    "kategorie",
    "catégorie",
    "categoría",
];
/// Words before which it is.
const AFTER: [&str; 5] = ["category", "ticket", "matter", "case", "request"];

/// Whether a text of the team says that the ticket is of this category. Not when it only speaks of the thing: "offer a
/// full refund" names none.
pub fn names_category(text: &str, category: &str) -> bool {
    let said = plain_words(text);
    let name = plain_words(category);
    if name.is_empty() || name.len() > said.len() {
        return false;
    }
    if said == name {
        return true;
    }
    (0..=said.len() - name.len()).any(|at| {
        let end = at + name.len();
        let before = at.checked_sub(1).map(|before| said[before].as_str());
        let after = said.get(end).map(String::as_str);
        let denied = said[at.saturating_sub(3)..at]
            .iter()
            .any(|word| matches!(word.as_str(), "not" | "isnt" | "no"));
        let meant = before.is_some_and(|word| BEFORE.contains(&word)) && after.is_none_or(|word| !opens_a_thing(word))
            || after.is_some_and(|word| AFTER.contains(&word));
        said[at..end] == name[..] && meant && !denied
    })
}

/// "a refund of 20 EUR", "as billing address": the name is part of something else.
fn opens_a_thing(word: &str) -> bool {
    matches!(
        word,
        "of" | "for" | "address" | "number" | "mail" | "email" | "link" | "team" | "department"
    )
}

fn plain_words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace('\'', "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names_category;

    #[test]
    fn a_category_is_named_in_the_usual_ways() {
        for text in [
            "refund",
            "category refund",
            "Category: refund, please",
            "classify it as refund",
            "this is a refund case",
            "file it under refund",
        ] {
            assert!(names_category(text, "refund"), "{text}");
        }
        assert!(names_category("this is order status, not a complaint", "order_status"));
        assert!(!names_category("this is order status, not a complaint", "complaint"));
    }

    #[test]
    fn speaking_of_the_thing_names_no_category() {
        for text in [
            "offer a refund of 20 EUR",
            "full refund, and be friendly",
            "write it shorter",
        ] {
            assert!(!names_category(text, "refund"), "{text}");
        }
    }
}
