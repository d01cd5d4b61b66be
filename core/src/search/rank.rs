//! BM25F: words in the title count more than in headings, and these more than in the body; the sum is saturated once, so
//! that a title word is not outdone by repeating a body word.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::query::{Query, Term};
use super::snippet::{plain, snippet};
use super::token::tokens_for_index;

const TITLE: f32 = 4.0;
const HEADINGS: f32 = 1.6;
const BODY: f32 = 1.0;
/// How much a field's length matters: long bodies are diluted, titles are all short.
const TITLE_B: f32 = 0.5;
const HEADINGS_B: f32 = 0.4;
const BODY_B: f32 = 0.7;
const K1: f32 = 1.2;

/// A number for each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fields<N> {
    pub title: N,
    pub headings: N,
    pub body: N,
}

/// A document to be searched: an article, or a past ticket (its subject as title, its comments as body).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Document<'a> {
    pub id: &'a str,
    pub title: &'a str,
    /// Where it stands in the help centre; counts as a heading. Empty when unknown.
    pub section: &'a str,
    /// Markdown; its heading lines count as headings.
    pub body: &'a str,
    /// BCP 47 primary tag; empty when unknown.
    pub language: &'a str,
}

/// What is kept of a document for searching it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Tokens in each field.
    pub lengths: Fields<u32>,
    pub tokens: BTreeMap<String, Fields<u32>>,
}

impl Counts {
    pub fn of(document: &Document<'_>) -> Self {
        let mut counts = Self::default();
        counts.add(document.title, |fields| &mut fields.title);
        counts.add(document.section, |fields| &mut fields.headings);
        let body = plain(document.body);
        for line in body.lines() {
            match line.strip_prefix('#') {
                Some(heading) => counts.add(heading, |fields| &mut fields.headings),
                None => counts.add(line, |fields| &mut fields.body),
            }
        }
        counts
    }

    fn add(&mut self, text: &str, field: impl Fn(&mut Fields<u32>) -> &mut u32) {
        for token in tokens_for_index(text) {
            *field(&mut self.lengths) += 1;
            *field(self.tokens.entry(token).or_default()) += 1;
        }
    }
}

/// What must be known of the whole collection. `df` need only hold the tokens of the query at hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusStats {
    pub documents: u64,
    /// Sums of the documents' lengths; divided by `documents` they are the averages.
    pub lengths: Fields<u64>,
    /// In how many documents a token stands, whatever the field.
    pub df: HashMap<String, u64>,
}

impl CorpusStats {
    pub fn df(&self, token: &str) -> u64 {
        self.df.get(token).copied().unwrap_or(0)
    }

    pub fn add(&mut self, counts: &Counts) {
        self.documents += 1;
        self.lengths.title += u64::from(counts.lengths.title);
        self.lengths.headings += u64::from(counts.lengths.headings);
        self.lengths.body += u64::from(counts.lengths.body);
        for token in counts.tokens.keys() {
            *self.df.entry(token.clone()).or_default() += 1;
        }
    }

    fn idf(&self, documents_with: u64) -> f32 {
        let (n, df) = (self.documents.max(1) as f32, documents_with as f32);
        (1.0 + (n - df + 0.5).max(0.0) / (df + 0.5)).ln()
    }
}

/// A ranked candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the candidates that were given.
    pub index: usize,
    /// Higher is better; comparable within one query only.
    pub score: f32,
    /// How much of the query's weight it covers, 0 to 1: comparable between queries, so it can say "convincing".
    pub coverage: f32,
    /// Empty where only counts were given.
    pub snippet: String,
}

/// Scores one document by its counts; `None` when nothing of the query is in it. Returns the score and the coverage.
pub fn score(query: &Query, counts: &Counts, stats: &CorpusStats) -> Option<(f32, f32)> {
    let mut sum = 0.0;
    let mut covered = 0.0;
    let mut asked = 0.0;
    let mut in_title = 0.0;
    for term in &query.terms {
        let idf = own_idf(term, stats);
        asked += term.weight * idf;
        let best = term
            .alternatives
            .iter()
            .enumerate()
            .filter_map(|(place, (token, fit))| {
                let tf = counts.tokens.get(token)?;
                let idf = if place < term.own {
                    idf
                } else {
                    idf.min(stats.idf(stats.df(token)))
                };
                let tf_weighted = weighted(tf, counts, stats);
                let titled = if tf.title > 0 { *fit } else { 0.0 };
                Some((fit * idf * tf_weighted / (K1 + tf_weighted), *fit, titled))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((gain, fit, titled)) = best {
            sum += term.weight * gain;
            covered += term.weight * idf * fit;
            in_title += term.weight * idf * titled;
        }
    }
    if sum <= 0.0 || asked <= 0.0 {
        return None;
    }
    let coverage = covered / asked;
    // A document that has all of the words, if seldom, answers better than one that repeats a single one of them; and a
    // title that says just this is what its author wrote for the reader who asks it.
    let title = in_title / asked;
    Some((sum * (0.6 + 0.4 * coverage) * (1.0 + 0.3 * title), coverage))
}

/// How much of a query a document holds, 0 to 1, every term counting alike: needs nothing to be known of the collection.
pub fn coverage(query: &Query, counts: &Counts) -> f32 {
    let asked: f32 = query.terms.iter().map(|term| term.weight).sum();
    let held: f32 = query
        .terms
        .iter()
        .map(|term| {
            let known = term
                .alternatives
                .iter()
                .filter(|(token, _)| counts.tokens.contains_key(token));
            term.weight * known.map(|(_, fit)| *fit).fold(0.0, f32::max)
        })
        .sum();
    if asked > 0.0 { held / asked } else { 0.0 }
}

/// The word's rarity, taken from its commonest form: an odd inflection is no rarer a subject. A word that stands nowhere
/// asks for something the collection does not have; it counts like a rare one.
fn own_idf(term: &Term, stats: &CorpusStats) -> f32 {
    let forms = term.alternatives[..term.own].iter();
    let df = forms
        .filter(|(token, _)| !token.starts_with('^'))
        .map(|(token, _)| stats.df(token))
        .max()
        .unwrap_or(0);
    if df > 0 {
        return stats.idf(df);
    }
    let others = term.alternatives.iter().map(|(token, _)| stats.df(token));
    stats.idf(others.max().unwrap_or(0).max(2))
}

fn weighted(tf: &Fields<u32>, counts: &Counts, stats: &CorpusStats) -> f32 {
    let documents = stats.documents.max(1) as f32;
    let field = |tf: u32, length: u32, sum: u64, weight: f32, b: f32| {
        let average = (sum as f32 / documents).max(1.0);
        weight * tf as f32 / (1.0 - b + b * length as f32 / average)
    };
    field(tf.title, counts.lengths.title, stats.lengths.title, TITLE, TITLE_B)
        + field(
            tf.headings,
            counts.lengths.headings,
            stats.lengths.headings,
            HEADINGS,
            HEADINGS_B,
        )
        + field(tf.body, counts.lengths.body, stats.lengths.body, BODY, BODY_B)
}

/// Orders whole documents, best first, those without any word of the query left out; ties keep the given order.
pub fn rank(query: &str, candidates: &[Document<'_>], stats: &CorpusStats) -> Vec<Hit> {
    let parsed = Query::parse(query);
    let mut hits: Vec<Hit> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, document)| {
            let (score, coverage) = score(&parsed, &Counts::of(document), stats)?;
            Some(Hit {
                index,
                score,
                coverage,
                snippet: snippet(&parsed, document.body),
            })
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

#[cfg(test)]
mod tests {
    use super::{CorpusStats, Counts, Document, rank};

    fn ranked(query: &str, documents: &[(&str, &str)]) -> Vec<usize> {
        let documents: Vec<_> = documents
            .iter()
            .map(|(title, body)| Document {
                title,
                body,
                ..Document::default()
            })
            .collect();
        let mut stats = CorpusStats::default();
        documents.iter().for_each(|document| stats.add(&Counts::of(document)));
        rank(query, &documents, &stats)
            .into_iter()
            .map(|hit| hit.index)
            .collect()
    }

    #[test]
    fn the_title_outweighs_a_body_that_repeats_the_word() {
        let order = ranked(
            "refund",
            &[
                ("Shipping", "refund refund refund, see elsewhere"),
                ("Refund an order", "Ask us."),
            ],
        );
        assert_eq!(order, [1, 0]);
    }

    #[test]
    fn all_of_the_words_beat_one_of_them() {
        let order = ranked(
            "change delivery address",
            &[
                ("Address book", "Your address, every address, any address."),
                ("After ordering", "You can change the delivery address until it ships."),
                ("Delivery", "Delivery takes two days."),
            ],
        );
        assert_eq!(order[0], 1);
    }

    #[test]
    fn chinese_and_japanese_questions_find_their_articles() {
        let documents = [
            ("退货政策", "收到商品后三十天内可以退货。"),
            ("配送时间", "通常两到三个工作日送达。"),
            ("返品について", "商品到着後三十日以内に返品できます。"),
        ];
        assert_eq!(ranked("我想退货", &documents)[0], 0);
        assert_eq!(ranked("返品したいです", &documents)[0], 2);
    }

    #[test]
    fn a_document_without_the_words_is_no_hit() {
        assert!(ranked("warranty", &[("Shipping", "Two days.")]).is_empty());
    }
}
