//! Search: tokens, scoring and snippets, the same for articles and tickets and for every language.
//!
//! How a store uses it. It indexes a document by [`Counts::of`] (or the plain [`tokens_for_index`]): distinct tokens with
//! how often each stands in title, headings and body, and the three lengths. A `tsvector` whose positions are labelled
//! A, B, C holds exactly that. Beside it stands one table, token → number of documents, and one row of sums.
//! To search it parses the words into a [`Query`], reads the document frequencies of [`Query::tokens`], picks some
//! hundreds of candidates by [`Query::rarest`], reads their counts for the query's tokens only, and lets [`score`] order
//! them; the text itself is loaded for the few that are shown, for [`snippet()`]. [`rank`] does all this from texts, and
//! [`Index`] holds a whole collection in memory: they serve checks and offline measuring, by the very same functions.
//!
//! What it is not: no dictionary and no language model. Chinese, Japanese, Korean and Thai are cut into single characters
//! and pairs, since dictionaries for them are large and always miss the product names that customers ask for.

mod fold;
mod index;
mod query;
mod rank;
mod snippet;
mod stem;
mod stop;
mod synonym;
mod token;

pub use fold::{fold, unspaced};
pub use index::Index;
pub use query::{Query, Term};
pub use rank::{CorpusStats, Counts, Document, Fields, Hit, coverage, rank, score};
pub use snippet::{plain, snippet};
pub use stem::stem;
pub use stop::is_stop_word;
pub use token::{tokens_for_index, tokens_for_query, words};
