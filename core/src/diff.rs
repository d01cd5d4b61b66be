//! Edits of articles: a replacement that must fit exactly once, what it changes, and whether it still fits later.
//!
//! Nothing is matched loosely. A supervisor approves one exact change, so an edit that could mean two places, or that
//! only nearly fits, goes back to the model with a sentence that says how to make it fit.

mod lines;

use lines::Unified;
use similar::{ChangeTag, TextDiff};

/// Lines of context around each change.
const CONTEXT: usize = 3;
/// How much of the article's nearest line is quoted back, in characters.
const QUOTED: usize = 120;
/// The longest line that is compared with others, in bytes.
const COMPARED: usize = 2000;

/// Why an edit was not made: one sentence that a model can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("old_text is empty: give the exact text to replace, or propose a new article.")]
    Empty,
    #[error("old_text and new_text are the same, so nothing would change.")]
    NoChange,
    #[error("old_text is not in the article; {hint}")]
    NoMatch { hint: String },
    #[error("old_text is in the article {0} times: add the words before or after it until only one place fits.")]
    ManyMatches(usize),
}

/// Replaces the one place where `old_text` stands.
///
/// Line endings do not count for the comparison: a CRLF article matches LF arguments. What stands outside the replaced
/// text stays byte for byte, and the new text gets the article's own line endings.
pub fn apply(body: &str, old_text: &str, new_text: &str) -> Result<String, EditError> {
    let (old, new) = (lines::unix(old_text), lines::unix(new_text));
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::NoChange);
    }
    let unified = Unified::of(body);
    let places = places(&unified.text, &old);
    let [start] = places[..] else {
        return Err(match places.len() {
            0 => EditError::NoMatch {
                hint: hint(&unified.text, &old),
            },
            n => EditError::ManyMatches(n),
        });
    };
    let (from, to) = unified.original(start, start + old.len());
    Ok([&body[..from], &lines::in_style_of(body, &new), &body[to..]].concat())
}

/// Where `needle` begins, overlapping places included: "abab" stands twice in "ababab".
fn places(text: &str, needle: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(needle) {
        let start = from + at;
        found.push(start);
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    found
}

/// How the model can find the text that it meant.
fn hint(text: &str, old: &str) -> String {
    let squeezed = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed(text).contains(&squeezed(old)) {
        return "it differs only in spaces or line breaks: copy it exactly as read_article shows it.".into();
    }
    if text.to_lowercase().contains(&old.to_lowercase()) {
        return "it differs only in capital letters: copy it exactly as read_article shows it.".into();
    }
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(old);
    // Comparing very long lines takes long and says little.
    let comparable = |line: &&str| !line.trim().is_empty() && line.len() <= COMPARED;
    let candidates: Vec<&str> = text.lines().filter(comparable).collect();
    let wanted = Some(wanted).filter(comparable).unwrap_or_default();
    match similar::get_close_matches(wanted, &candidates, 1, 0.6).first() {
        Some(line) => format!(
            "the nearest line is \"{}\": read_article shows the present text.",
            line.trim().chars().take(QUOTED).collect::<String>()
        ),
        None => "nothing like it is there: read_article shows the present text.".into(),
    }
}

/// A unified diff and how much it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// Empty when nothing changes.
    pub text: String,
    /// Lines.
    pub added: usize,
    pub removed: usize,
}

/// What changes between two bodies, as people read it; line endings do not count.
pub fn unified(old: &str, new: &str, name: &str) -> Diff {
    let (old, new) = (lines::unix(old), lines::unix(new));
    let diff = TextDiff::from_lines(old.as_str(), new.as_str());
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Diff {
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        text: diff
            .unified_diff()
            .context_radius(CONTEXT)
            .header(name, name)
            // An article is no file.
            .missing_newline_hint(false)
            .to_string(),
    }
}

/// What changes from one draft to another, which are no files: without names, and whether the last line ends says nothing.
pub fn of_drafts(old: &str, new: &str) -> String {
    let ended = |text: &str| match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    let (old, new) = (lines::unix(&ended(old)), lines::unix(&ended(new)));
    let diff = TextDiff::from_lines(old.as_str(), new.as_str());
    diff.unified_diff().context_radius(CONTEXT).to_string()
}

/// What becomes of an approved edit when the article may have changed between card and click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reapplied {
    /// The article is as it was: the edit is the one that was approved.
    Same,
    /// The article changed elsewhere and the edit still fits once. The body it would give has not been seen by anyone,
    /// so it is asked again.
    Moved(String),
    /// It does not fit any more, and why, in one sentence.
    Lost(String),
}

/// Judges an edit that was made for `base_body` against `present_body`.
pub fn rebase(base_body: &str, present_body: &str, old_text: &str, new_text: &str) -> Reapplied {
    let (base, present) = (lines::unix(base_body), lines::unix(present_body));
    if base == present {
        return Reapplied::Same;
    }
    let new = lines::unix(new_text);
    if apply(base_body, old_text, new_text).is_ok_and(|wanted| lines::unix(&wanted) == present) {
        return Reapplied::Lost("The article already says what the edit would make it say.".into());
    }
    match apply(present_body, old_text, new_text) {
        Ok(body) => Reapplied::Moved(body),
        Err(EditError::NoMatch { .. }) if !new.trim().is_empty() && places(&present, &new).len() == 1 => {
            Reapplied::Lost("The article has changed meanwhile, and the new text is already in it.".into())
        }
        Err(error) => Reapplied::Lost(format!("The article has changed meanwhile: {error}")),
    }
}

#[cfg(test)]
mod tests;
