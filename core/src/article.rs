//! The knowledge base: articles and their revisions.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, ArticleId, RunId};
use crate::words;

words! {
    pub enum ArticleState { Draft = "draft", Published = "published", Retired = "retired" }
}

/// An article as it stands at one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    pub id: ArticleId,
    pub title: String,
    /// Markdown.
    pub body: String,
    /// BCP 47 primary tag; empty when unknown.
    pub language: String,
    pub state: ArticleState,
    pub revision: i64,
    pub updated_at: DateTime<Utc>,
}

/// One line of an article's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    pub article: ArticleId,
    pub number: i64,
    pub title: String,
    pub body: String,
    /// `slack:U…`, `local:ada`, `import` …
    pub author: String,
    pub rationale: String,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
    pub created_at: DateTime<Utc>,
}

/// The primary tag of a language as people and files write it: `de` of `de-AT`, `DE_at`.
pub fn primary_tag(tag: &str) -> String {
    tag.trim().split(['-', '_']).next().unwrap_or_default().to_lowercase()
}
