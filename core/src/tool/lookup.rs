//! Reading: tickets, past answers, the knowledge base. Always allowed, run side by side, repeated after a crash.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};
use crate::ticket::TicketState;

/// A call that only reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    ListTickets(ListTickets),
    GetTicket(GetTicket),
    SearchTickets(SearchTickets),
    SimilarTickets(SimilarTickets),
    SearchKnowledge(SearchKnowledge),
    ReadArticle(ReadArticle),
    ReadArtifact(ReadArtifact),
    LoadSkill(super::skill::LoadSkill),
    /// A tool of a server outside that only reads and that the team allows unasked.
    Outside(super::outside::ToolUse),
}

/// How many rows a list gives when the call does not say.
pub const FEW: u32 = 5;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct ListTickets {
    /// Only tickets in this state.
    #[serde(default)]
    pub state: Option<TicketState>,
    /// Only tickets of this category.
    #[serde(default)]
    pub category: Option<String>,
    /// At most this many, newest first.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct GetTicket {
    /// The ticket's number: T-1001.
    #[schemars(length(min = 1, max = 100))]
    pub ticket: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct SearchTickets {
    /// Words to look for, in any language.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SimilarTickets {
    /// The ticket to compare with; the one at hand when left out.
    #[serde(default)]
    pub ticket: Option<String>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct SearchKnowledge {
    /// Words to look for, in any language.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
    /// Prefer articles in this language (en, de, zh …).
    #[serde(default)]
    pub language: Option<String>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ReadArticle {
    /// The article's id, as search_knowledge gives it.
    #[schemars(length(min = 1, max = 200))]
    pub article_id: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ReadArtifact {
    /// The id that stands where something was left out.
    #[schemars(length(min = 1, max = 80))]
    pub artifact: String,
    /// The character to begin at, from 0.
    #[serde(default)]
    pub offset: usize,
}

pub static LIST_TICKETS: Tool = Tool {
    name: "list_tickets",
    description: "Lists tickets, newest first, with state, category and priority.",
    reach: Reach::Reads,
    label: "List tickets",
    activity: |_| "Listing tickets".into(),
    schema: schema_of::<ListTickets>,
    parse: |args| parse_as(args, |a| Use::Look(Look::ListTickets(a))),
};

pub static GET_TICKET: Tool = Tool {
    name: "get_ticket",
    description: "Reads a ticket with all its comments.",
    reach: Reach::Reads,
    label: "Read a ticket",
    activity: |args| format!("Reading {}", shown(args, "ticket")),
    schema: schema_of::<GetTicket>,
    parse: |args| parse_as(args, |a| Use::Look(Look::GetTicket(a))),
};

pub static SEARCH_TICKETS: Tool = Tool {
    name: "search_tickets",
    description: "Searches past and present tickets by words.",
    reach: Reach::Reads,
    label: "Search tickets",
    activity: |args| format!("Searching tickets for {}", shown(args, "query")),
    schema: schema_of::<SearchTickets>,
    parse: |args| parse_as(args, |a| Use::Look(Look::SearchTickets(a))),
};

pub static SIMILAR_TICKETS: Tool = Tool {
    name: "similar_tickets",
    description: "Finds past tickets like this one, with what was concluded and answered.",
    reach: Reach::Reads,
    label: "Find similar tickets",
    activity: |_| "Looking for similar tickets".into(),
    schema: schema_of::<SimilarTickets>,
    parse: |args| parse_as(args, |a| Use::Look(Look::SimilarTickets(a))),
};

pub static SEARCH_KNOWLEDGE: Tool = Tool {
    name: "search_knowledge",
    description: "Searches the knowledge base. Gives ids, titles and snippets; read an article before relying on it.",
    reach: Reach::Reads,
    label: "Search the knowledge base",
    activity: |args| format!("Searching the knowledge base for {}", shown(args, "query")),
    schema: schema_of::<SearchKnowledge>,
    parse: |args| parse_as(args, |a| Use::Look(Look::SearchKnowledge(a))),
};

pub static READ_ARTICLE: Tool = Tool {
    name: "read_article",
    description: "Reads an article of the knowledge base, whole, with its revision.",
    reach: Reach::Reads,
    label: "Read an article",
    activity: |args| format!("Reading the article {}", shown(args, "article_id")),
    schema: schema_of::<ReadArticle>,
    parse: |args| parse_as(args, |a| Use::Look(Look::ReadArticle(a))),
};

pub static READ_ARTIFACT: Tool = Tool {
    name: "read_artifact",
    description: "Reads on where an outcome was shortened, or a text attachment, from a character on.",
    reach: Reach::Reads,
    label: "Read on",
    activity: |args| {
        format!(
            "Reading {} from {}",
            shown(args, "artifact"),
            args["offset"].as_u64().unwrap_or(0)
        )
    },
    schema: schema_of::<ReadArtifact>,
    parse: |args| parse_as(args, |a| Use::Look(Look::ReadArtifact(a))),
};
