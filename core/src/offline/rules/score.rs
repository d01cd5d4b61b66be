//! Which meanings speak for which category, read from the list beside.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::offline::lexicon::Found;
use crate::offline::text::Sentence;

const CATEGORIES: &str = include_str!("categories.txt");

pub(super) struct Rule {
    category: &'static str,
    weight: f64,
    pub(super) all: Vec<&'static str>,
    pub(super) none: Vec<&'static str>,
}

pub(super) fn rules() -> &'static [Rule] {
    static READ: OnceLock<Vec<Rule>> = OnceLock::new();
    READ.get_or_init(|| CATEGORIES.lines().filter_map(parse_rule).collect())
}

fn parse_rule(line: &'static str) -> Option<Rule> {
    if line.starts_with('#') {
        return None;
    }
    let (head, meanings) = line.split_once(": ")?;
    let (category, weight) = head.split_once(' ')?;
    let (none, all) = meanings
        .split(" + ")
        .map(str::trim)
        .partition::<Vec<_>, _>(|meaning| meaning.starts_with('!'));
    Some(Rule {
        category,
        weight: weight.parse().ok()?,
        all,
        none: none.into_iter().map(|meaning| &meaning[1..]).collect(),
    })
}

/// The best rule of each category, and a third of each further one.
pub(super) fn category_scores(sentences: &[(Sentence, Vec<Found>)]) -> Vec<(&'static str, f64)> {
    let meanings: Vec<Vec<&str>> = sentences
        .iter()
        .map(|(_, found)| found.iter().map(|one| one.meaning).collect())
        .collect();
    let mut spoken: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for rule in rules() {
        let within = |window: &[Vec<&str>]| {
            rule.all
                .iter()
                .all(|meaning| window.iter().any(|set| set.contains(meaning)))
        };
        if rule
            .none
            .iter()
            .any(|meaning| meanings.iter().any(|set| set.contains(meaning)))
        {
            continue;
        }
        let nearness = if meanings.iter().any(|set| within(std::slice::from_ref(set))) {
            1.0
        } else if meanings.windows(2).any(within) {
            0.85
        } else if within(&meanings) {
            0.6
        } else {
            continue;
        };
        spoken.entry(rule.category).or_default().push(rule.weight * nearness);
    }
    let mut scores: Vec<(&'static str, f64)> = spoken
        .into_iter()
        .map(|(category, mut weights)| {
            weights.sort_by(|a, b| b.total_cmp(a));
            (category, weights[0] + 0.15 * weights[1..].iter().sum::<f64>().min(4.0))
        })
        .collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    scores
}
