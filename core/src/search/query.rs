//! A query as terms. Each term is one thing that was asked for, in all the tokens that may stand for it.

use std::collections::HashSet;

use super::rank::CorpusStats;
use super::stop::is_stop_word;
use super::synonym;
use super::token::{Piece, beginning_token, pieces, stem_token};

/// Whole tickets are used as queries; beyond this many terms the words repeat themselves.
const MOST_TERMS: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pub terms: Vec<Term>,
}

/// One thing that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// How much it counts beside the others; 1 is usual.
    pub weight: f32,
    /// Tokens that may stand for it, each with how well it does (1 is the word itself), best first. A document scores by
    /// the best of them, never by their sum: a word, its stem and its beginning are always there together.
    pub alternatives: Vec<(String, f32)>,
    /// How many of the first alternatives are forms of the word itself; synonyms follow.
    pub own: usize,
}

impl Query {
    /// Stop words are dropped, unless the query has nothing else.
    pub fn parse(text: &str) -> Self {
        let pieces = pieces(text);
        let all_stop = pieces.iter().all(|piece| match piece {
            Piece::Word(word) => is_stop_word(word),
            Piece::Run(_) => false,
        });
        let mut terms: Vec<Term> = Vec::new();
        for piece in &pieces {
            match piece {
                Piece::Word(word) if !all_stop && is_stop_word(word) => {}
                Piece::Word(word) => push(&mut terms, word_term(word)),
                Piece::Run(run) => run_terms(run, &mut terms),
            }
            if terms.len() >= MOST_TERMS {
                break;
            }
        }
        Self { terms }
    }

    /// Every token once.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        let mut seen = HashSet::new();
        self.terms
            .iter()
            .flat_map(|term| &term.alternatives)
            .map(|(token, _)| token.as_str())
            .filter(move |token| seen.insert(*token))
    }

    /// The tokens to pick candidates by: for each term its forms and synonyms, rarest terms first, until the documents
    /// that hold them may number `wanted`. Tokens that no document has are left out. At least one term is always taken.
    pub fn rarest<'a>(&'a self, stats: &CorpusStats, wanted: u64) -> Vec<&'a str> {
        let mut terms: Vec<(u64, Vec<&str>)> = self
            .terms
            .iter()
            .filter_map(|term| {
                let known: Vec<&str> = term.alternatives.iter().map(|(token, _)| token.as_str()).collect();
                let known: Vec<&str> = known.into_iter().filter(|token| stats.df(token) > 0).collect();
                let documents = known.iter().map(|token| stats.df(token)).max()?;
                Some((documents, known))
            })
            .collect();
        terms.sort_by_key(|(documents, _)| *documents);
        let mut out: Vec<&str> = Vec::new();
        let mut sum = 0;
        for (documents, tokens) in terms {
            if !out.is_empty() && sum + documents > wanted {
                break;
            }
            sum += documents;
            for token in tokens {
                if !out.contains(&token) {
                    out.push(token);
                }
            }
        }
        out
    }
}

fn push(terms: &mut Vec<Term>, term: Term) {
    match terms
        .iter_mut()
        .find(|known| known.alternatives[0].0 == term.alternatives[0].0)
    {
        // Said twice it matters more, but a ticket that repeats a word is not about that word alone.
        Some(known) => known.weight = (known.weight + 0.25).min(1.5),
        None => terms.push(term),
    }
}

fn word_term(word: &str) -> Term {
    let mut alternatives = vec![(word.to_owned(), 1.0)];
    alternatives.extend(stem_token(word).map(|token| (token, 0.9)));
    alternatives.extend(beginning_token(word).map(|token| (token, 0.45)));
    let own = alternatives.len();
    alternatives.extend(synonym::of(word));
    Term {
        weight: 1.0,
        alternatives,
        own,
    }
}

/// Pairs overlap, so each counts less than a word; a lone character is all there is to go by.
fn run_terms(run: &str, terms: &mut Vec<Term>) {
    let chars: Vec<char> = run.chars().collect();
    if let [only] = chars[..] {
        push(terms, plain(only.to_string(), 0.4));
    }
    for pair in chars.windows(2) {
        // Two kana are mostly grammar; Han pairs are mostly words.
        let kana = pair.iter().all(|c| ('\u{3041}'..='\u{309F}').contains(c));
        push(terms, plain(pair.iter().collect(), if kana { 0.15 } else { 0.7 }));
    }
    for (word, synonyms) in synonym::in_run(run) {
        push(
            terms,
            Term {
                weight: 1.0,
                alternatives: std::iter::once((format!("={word}"), 1.0)).chain(synonyms).collect(),
                own: 1,
            },
        );
    }
}

fn plain(token: String, weight: f32) -> Term {
    Term {
        weight,
        alternatives: vec![(token, 1.0)],
        own: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::Query;
    use crate::search::CorpusStats;

    #[test]
    fn stop_words_are_dropped_unless_there_is_nothing_else() {
        let query = Query::parse("how do I get the invoice");
        assert_eq!(query.terms.len(), 1);
        assert!(!Query::parse("how to").terms.is_empty());
        assert!(Query::parse("?!").terms.is_empty());
    }

    #[test]
    fn candidates_are_picked_by_the_rarest_words() {
        let query = Query::parse("board wifi");
        let mut stats = CorpusStats {
            documents: 10_000,
            ..CorpusStats::default()
        };
        stats.df.insert("board".into(), 9_000);
        stats.df.insert("wifi".into(), 40);
        assert_eq!(query.rarest(&stats, 500), ["wifi"]);
        stats.df.insert("wifi".into(), 0);
        assert_eq!(query.rarest(&stats, 500), ["board"], "one term is always taken");
    }
}
