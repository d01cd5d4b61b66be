//! The knowledge base: articles with their revisions. Nothing is overwritten; every change is a revision more.

use deskhand_core::article::{Article, ArticleState, Revision};
use deskhand_core::id::{ApprovalId, ArticleId, RunId};
use sqlx::{PgConnection, PgExecutor};

use super::search;

/// A new revision of an article.
#[derive(Clone, Debug)]
pub struct Publish<'a> {
    pub id: &'a ArticleId,
    pub title: &'a str,
    pub section: &'a str,
    pub body: &'a str,
    pub language: &'a str,
    pub state: ArticleState,
    /// The revision that it was made from; `None` for a new article.
    pub base: Option<i64>,
    /// `slack:U…`, `local:ada`, `import`.
    pub author: &'a str,
    pub rationale: &'a str,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
}

/// Writes a revision and makes it the article. `None` when the article is not at `base` any more: nothing was changed.
pub async fn publish(tx: &mut PgConnection, publish: &Publish<'_>) -> sqlx::Result<Option<i64>> {
    let number = match publish.base {
        Some(base) => {
            sqlx::query_scalar!(
                "UPDATE article SET title = $3, section = coalesce(nullif($4, ''), section), body = $5, language = $6,
                        state = $7, revision = revision + 1, updated_at = clock_timestamp()
                  WHERE id = $1 AND revision = $2 RETURNING revision",
                publish.id.0,
                base,
                publish.title,
                publish.section,
                publish.body,
                publish.language,
                publish.state.as_str(),
            )
            .fetch_optional(&mut *tx)
            .await?
        }
        None => {
            sqlx::query_scalar!(
                "INSERT INTO article (id, title, section, body, language, state, revision) VALUES ($1, $2, $3, $4, $5, $6, 1)
                 ON CONFLICT (id) DO NOTHING RETURNING revision",
                publish.id.0,
                publish.title,
                publish.section,
                publish.body,
                publish.language,
                publish.state.as_str(),
            )
            .fetch_optional(&mut *tx)
            .await?
        }
    };
    let Some(number) = number else { return Ok(None) };
    sqlx::query!(
        "INSERT INTO revision (article_id, number, title, body, language, state, author, rationale, run_id, approval_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        publish.id.0,
        number,
        publish.title,
        publish.body,
        publish.language,
        publish.state.as_str(),
        publish.author,
        publish.rationale,
        publish.run.map(|run| run.0),
        publish.approval.map(|approval| approval.0),
    )
    .execute(&mut *tx)
    .await?;
    match publish.state {
        ArticleState::Published => {
            let entry = search::Entry {
                key: &publish.id.0,
                title: publish.title,
                section: publish.section,
                body: publish.body,
                language: publish.language,
            };
            search::put(tx, search::Kind::Article, &[entry]).await?;
        }
        ArticleState::Draft | ArticleState::Retired => {
            search::remove(tx, search::Kind::Article, std::slice::from_ref(&publish.id.0)).await?;
        }
    }
    Ok(Some(number))
}

/// An article with its section, as files know it.
#[derive(Clone, Debug)]
pub struct Filed {
    pub article: Article,
    pub section: String,
}

pub async fn get(db: impl PgExecutor<'_>, id: &ArticleId) -> sqlx::Result<Option<Filed>> {
    let rows = some(db, std::slice::from_ref(id)).await?;
    Ok(rows.into_iter().next())
}

/// Those of the articles that exist.
pub async fn some(db: impl PgExecutor<'_>, ids: &[ArticleId]) -> sqlx::Result<Vec<Filed>> {
    let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
    let rows = sqlx::query!(
        "SELECT id, title, section, body, language, state, revision, updated_at FROM article WHERE id = ANY($1)",
        &ids as &[&str]
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Filed {
            article: Article {
                id: ArticleId(row.id),
                title: row.title,
                body: row.body,
                language: row.language,
                state: row.state.parse().unwrap_or(ArticleState::Draft),
                revision: row.revision,
                updated_at: row.updated_at,
            },
            section: row.section,
        })
        .collect())
}

/// Every article that is not retired, by id.
pub async fn all_ids(db: impl PgExecutor<'_>) -> sqlx::Result<Vec<ArticleId>> {
    let ids = sqlx::query_scalar!("SELECT id FROM article WHERE state <> 'retired' ORDER BY id")
        .fetch_all(db)
        .await?;
    Ok(ids.into_iter().map(ArticleId).collect())
}

pub async fn history(db: impl PgExecutor<'_>, id: &ArticleId) -> sqlx::Result<Vec<Revision>> {
    let rows = sqlx::query!(
        "SELECT article_id, number, title, body, author, rationale, run_id, approval_id, created_at
           FROM revision WHERE article_id = $1 ORDER BY number DESC",
        id.0
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Revision {
            article: ArticleId(row.article_id),
            number: row.number,
            title: row.title,
            body: row.body,
            author: row.author,
            rationale: row.rationale,
            run: row.run_id.map(RunId),
            approval: row.approval_id.map(ApprovalId),
            created_at: row.created_at,
        })
        .collect())
}

/// Which of these links stand in a published article, in their canonical form.
pub async fn known_links(db: impl PgExecutor<'_>, links: &[String]) -> sqlx::Result<Vec<String>> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    // A candidate is an article that has the link's host; core compares the links themselves.
    let hosts: Vec<String> = links
        .iter()
        .map(|link| link.split(['/', '?', '#']).next().unwrap_or(link).to_owned())
        .collect();
    let bodies = sqlx::query_scalar!(
        "SELECT body FROM article
          WHERE state = 'published' AND EXISTS (SELECT FROM UNNEST($1::text[]) AS h WHERE strpos(lower(body), h) > 0)",
        &hosts
    )
    .fetch_all(db)
    .await?;
    let known: std::collections::BTreeSet<String> = bodies
        .iter()
        .flat_map(|body| deskhand_core::links::links(body))
        .collect();
    Ok(links.iter().filter(|link| known.contains(*link)).cloned().collect())
}
