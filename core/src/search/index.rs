//! A collection in memory: for checks, and for the articles of a file that `eval` reads. The store is the real one.

use std::collections::{HashMap, HashSet};

use super::query::Query;
use super::rank::{CorpusStats, Counts, Document, Hit, score};
use super::snippet::snippet;

#[derive(Clone, Debug, Default)]
pub struct Index {
    stats: CorpusStats,
    counts: Vec<Counts>,
    bodies: Vec<String>,
    holders: HashMap<String, Vec<u32>>,
}

impl Index {
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut index = Self::default();
        for document in documents {
            let counts = Counts::of(&document);
            index.stats.add(&counts);
            let at = u32::try_from(index.counts.len()).unwrap_or(u32::MAX);
            for token in counts.tokens.keys() {
                index.holders.entry(token.clone()).or_default().push(at);
            }
            index.counts.push(counts);
            index.bodies.push(document.body.to_owned());
        }
        index
    }

    pub fn stats(&self) -> &CorpusStats {
        &self.stats
    }

    /// At most `limit` hits, best first; `index` is the document's place in the order in which they were given.
    /// Candidates are picked as the store picks them.
    pub fn search(&self, words: &str, limit: usize) -> Vec<Hit> {
        let query = Query::parse(words);
        let wanted = 400.max(self.stats.documents / 20);
        let candidates: HashSet<u32> = query
            .rarest(&self.stats, wanted)
            .into_iter()
            .filter_map(|token| self.holders.get(token))
            .flatten()
            .copied()
            .collect();
        let mut hits: Vec<Hit> = candidates
            .into_iter()
            .filter_map(|at| {
                let index = at as usize;
                let (score, coverage) = score(&query, &self.counts[index], &self.stats)?;
                Some(Hit {
                    index,
                    score,
                    coverage,
                    snippet: String::new(),
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        hits.truncate(limit);
        for hit in &mut hits {
            hit.snippet = snippet(&query, &self.bodies[hit.index]);
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use crate::search::Document;

    #[test]
    fn a_question_in_another_language_finds_the_only_article_there_is() {
        let index = Index::new([
            Document {
                id: "a",
                title: "Download your invoice",
                body: "Open your orders.",
                ..Document::default()
            },
            Document {
                id: "b",
                title: "Delivery times",
                body: "Two to three days.",
                ..Document::default()
            },
        ]);
        assert_eq!(index.search("Wo finde ich meine Rechnung?", 5)[0].index, 0);
        assert_eq!(index.search("发票", 5)[0].index, 0);
        assert!(index.search("", 5).is_empty());
    }
}
