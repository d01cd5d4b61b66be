//! Proposals to change the knowledge base: always asked, every time.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ProposeEdit {
    /// The article's id; a new one (lower-case words and dashes) together with `title` proposes a new article.
    #[schemars(length(min = 1, max = 200))]
    pub article_id: String,
    /// The passage to replace, exactly as it stands; it must stand there once. Empty for a new article.
    #[serde(default)]
    #[schemars(length(max = 20000))]
    pub old_text: String,
    /// What stands there afterwards; the whole text of a new article.
    #[serde(default)]
    #[schemars(length(max = 50000))]
    pub new_text: String,
    /// Why, for the supervisor.
    #[schemars(length(min = 1, max = 1000))]
    pub rationale: String,
    /// The title of a new article.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// Proposes to take the article out of use; leave the texts empty.
    #[serde(default)]
    pub retire: bool,
}

pub static PROPOSE_KNOWLEDGE_EDIT: Tool = Tool {
    name: "propose_knowledge_edit",
    description: "Proposes a change of an article, which a supervisor sees as a diff. Read the article first.",
    reach: Reach::Acts,
    label: "Propose a knowledge-base edit",
    activity: |args| format!("Proposing an edit of {}", shown(args, "article_id")),
    schema: schema_of::<ProposeEdit>,
    parse: |args| parse_as(args, Use::Edit),
};
