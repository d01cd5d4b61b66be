//! Words that customers and articles use for the same thing, also across languages, so that a German question finds the
//! English article when there is no German one.
//!
//! Plain groups of one meaning each. A synonym scores well below the word itself, so a wrong one costs little.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::fold::{fold, unspaced};
use super::stem::stem;
use super::token::stem_token;

/// How well a synonym of the same group stands for a word.
const FIT: f32 = 0.5;

/// One meaning a line; words of several characters of an unspaced script are looked for inside runs.
const GROUPS: &str = include_str!("synonyms.txt");

struct Groups {
    lines: Vec<Vec<String>>,
    by_stem: HashMap<String, Vec<usize>>,
}

fn groups() -> &'static Groups {
    static GROUPS_READ: OnceLock<Groups> = OnceLock::new();
    GROUPS_READ.get_or_init(|| {
        let lines: Vec<Vec<String>> = GROUPS
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .map(|line| line.split_whitespace().map(fold).collect())
            .collect();
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, words) in lines.iter().enumerate() {
            for word in words {
                let places = by_stem.entry(key(word)).or_default();
                if !places.contains(&at) {
                    places.push(at);
                }
            }
        }
        Groups { lines, by_stem }
    })
}

fn key(word: &str) -> String {
    let stem = stem(word);
    if stem.is_empty() { word.to_owned() } else { stem }
}

/// Tokens that may stand for a word, with their fit.
pub(super) fn of(word: &str) -> Vec<(String, f32)> {
    let own = key(word);
    let places = groups().by_stem.get(&own).map(Vec::as_slice).unwrap_or_default();
    let mut out: Vec<(String, f32)> = Vec::new();
    for other in places.iter().flat_map(|at| &groups().lines[*at]) {
        if key(other) == own {
            continue;
        }
        for token in tokens(other) {
            if out.iter().all(|(known, _)| *known != token) {
                out.push((token, FIT));
            }
        }
    }
    out
}

/// Known words inside a run of an unspaced script, each with the tokens that may stand for it.
pub(super) fn in_run(run: &str) -> Vec<(String, Vec<(String, f32)>)> {
    let mut out: Vec<(String, Vec<(String, f32)>)> = Vec::new();
    for words in &groups().lines {
        let Some(found) = words
            .iter()
            .find(|word| word.starts_with(unspaced) && run.contains(word.as_str()))
        else {
            continue;
        };
        let others = words.iter().filter(|word| *word != found).flat_map(|word| tokens(word));
        out.push((found.clone(), others.map(|token| (token, FIT)).collect()));
    }
    out
}

/// A spaced word is matched by its stem; one of an unspaced script by its first pair, or its one character.
fn tokens(word: &str) -> Vec<String> {
    if word.starts_with(unspaced) {
        return vec![word.chars().take(2).collect()];
    }
    vec![stem_token(word).unwrap_or_else(|| word.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::{in_run, of};

    #[test]
    fn a_word_is_found_by_another_of_its_meaning_and_in_another_language() {
        let tokens: Vec<String> = of("delete").into_iter().map(|(token, _)| token).collect();
        assert!(tokens.contains(&"~remov".to_owned()), "{tokens:?}");
        assert!(!of("Rechnung".to_lowercase().as_str()).is_empty());
        assert!(of("zyzzyva").is_empty());
    }

    #[test]
    fn a_word_inside_a_chinese_sentence_is_known() {
        assert!(in_run("我要退款").iter().any(|(word, _)| word == "退款"));
    }
}
