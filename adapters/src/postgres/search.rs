//! One ranked search over articles and tickets. Candidates come from here by their rarest tokens; core scores them.
//!
//! All of it is transactional: an article that was published is found by the next query, one that was rolled back never.

mod texts;

use std::collections::{BTreeMap, HashMap, HashSet};

use deskhand_core::search::{CorpusStats, Counts, Document, Fields, Query, score, snippet};
use sqlx::{PgConnection, PgPool};
use texts::Texts;

/// Which collection is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Article,
    Ticket,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Ticket => "ticket",
        }
    }
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Found {
    pub id: String,
    pub title: String,
    pub language: String,
    /// Higher is better; comparable within one query only.
    pub score: f32,
    /// How much of the query it covers, 0 to 1.
    pub coverage: f32,
    pub snippet: String,
}

/// What is put into the search.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub key: &'a str,
    pub title: &'a str,
    pub section: &'a str,
    pub body: &'a str,
    pub language: &'a str,
}

/// How many candidates the rarest tokens may bring. Reading and scoring them is what a search costs, so it does not grow
/// with the collection.
const WANTED: u64 = 400;
/// As many candidates are scored at most, where even the rarest token is a common one.
const MOST: i64 = 600;

/// Puts documents into the search, or replaces them. Tokens are counted in sorted order, so that two writers cannot
/// deadlock.
pub async fn put(tx: &mut PgConnection, kind: Kind, entries: &[Entry<'_>]) -> sqlx::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = entries.iter().map(|entry| entry.key.to_owned()).collect();
    let mut change = Change::default();
    remove_in(tx, kind, &keys, &mut change).await?;
    for entry in entries {
        let counts = Counts::of(&Document {
            id: entry.key,
            title: entry.title,
            section: entry.section,
            body: entry.body,
            language: entry.language,
        });
        let tokens: Vec<&str> = counts.tokens.keys().map(String::as_str).collect();
        let packed: Vec<i32> = counts.tokens.values().map(pack).collect();
        let lengths: Vec<i32> = [counts.lengths.title, counts.lengths.headings, counts.lengths.body]
            .iter()
            .map(|length| i32::try_from(*length).unwrap_or(i32::MAX))
            .collect();
        sqlx::query!(
            "INSERT INTO document (kind, key, language, title, body, tokens, counts, lengths)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            kind.as_str(),
            entry.key,
            entry.language,
            entry.title,
            entry.body,
            &tokens as &[&str],
            &packed,
            &lengths,
        )
        .execute(&mut *tx)
        .await?;
        change.add(tokens.iter().copied(), &lengths, 1);
    }
    change.write(tx, kind).await
}

/// Takes documents out of the search.
pub async fn remove(tx: &mut PgConnection, kind: Kind, keys: &[String]) -> sqlx::Result<()> {
    let mut change = Change::default();
    remove_in(tx, kind, keys, &mut change).await?;
    change.write(tx, kind).await
}

async fn remove_in(tx: &mut PgConnection, kind: Kind, keys: &[String], change: &mut Change) -> sqlx::Result<()> {
    let gone = sqlx::query!(
        "DELETE FROM document WHERE kind = $1 AND key = ANY($2) RETURNING tokens, lengths",
        kind.as_str(),
        keys,
    )
    .fetch_all(tx)
    .await?;
    for row in &gone {
        change.add(row.tokens.iter().map(String::as_str), &row.lengths, -1);
    }
    Ok(())
}

/// What a write changes in the collection's counts.
#[derive(Default)]
struct Change {
    tokens: BTreeMap<String, i64>,
    documents: i64,
    lengths: [i64; 3],
}

impl Change {
    fn add<'a>(&mut self, tokens: impl Iterator<Item = &'a str>, lengths: &[i32], sign: i64) {
        for token in tokens {
            *self.tokens.entry(token.to_owned()).or_default() += sign;
        }
        self.documents += sign;
        for (sum, length) in self.lengths.iter_mut().zip(lengths) {
            *sum += sign * i64::from(*length);
        }
    }

    async fn write(self, tx: &mut PgConnection, kind: Kind) -> sqlx::Result<()> {
        let (tokens, changes): (Vec<String>, Vec<i64>) =
            self.tokens.into_iter().filter(|(_, change)| *change != 0).unzip();
        // The collection's row first: it is the lock behind which the tokens' rows are changed.
        sqlx::query!(
            "UPDATE collection SET documents = documents + $2, title = title + $3, headings = headings + $4,
                    body = body + $5
              WHERE kind = $1",
            kind.as_str(),
            self.documents,
            self.lengths[0],
            self.lengths[1],
            self.lengths[2],
        )
        .execute(&mut *tx)
        .await?;
        sqlx::query!(
            "INSERT INTO token AS t (kind, token, documents)
             SELECT $1, d.token, d.change FROM UNNEST($2::text[], $3::bigint[]) AS d (token, change)
             ON CONFLICT ON CONSTRAINT token_kind DO UPDATE SET documents = t.documents + EXCLUDED.documents",
            kind.as_str(),
            &tokens,
            &changes,
        )
        .execute(tx)
        .await?;
        Ok(())
    }
}

fn pack(fields: &Fields<u32>) -> i32 {
    let ten = |n: u32| i32::try_from(n.min(1023)).unwrap_or(1023);
    (ten(fields.title) << 20) | (ten(fields.headings) << 10) | ten(fields.body)
}

fn unpack(packed: i32) -> Fields<u32> {
    let ten = |shift: u32| u32::try_from((packed >> shift) & 1023).unwrap_or(0);
    Fields {
        title: ten(20),
        headings: ten(10),
        body: ten(0),
    }
}

/// At most `limit` hits, best first. `language` only breaks near-ties: a much better article in another language wins.
pub async fn search(
    pool: &PgPool,
    kind: Kind,
    words: &str,
    language: Option<&str>,
    limit: usize,
) -> sqlx::Result<Vec<Found>> {
    let query = Query::parse(words);
    let asked: Vec<&str> = query.tokens().collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let stats = stats(pool, kind, &asked).await?;
    let rarest: Vec<&str> = query.rarest(&stats, WANTED);
    let rows = sqlx::query!(
        r#"SELECT key, language, tokens AS "tokens: Texts", counts, lengths FROM document
            WHERE kind = $1 AND tokens && $2 LIMIT $3"#,
        kind.as_str(),
        &rarest as &[&str],
        MOST,
    )
    .fetch_all(pool)
    .await?;
    let asked: HashSet<&str> = asked.into_iter().collect();
    let mut hits: Vec<(f32, f32, String)> = rows
        .into_iter()
        .filter_map(|row| {
            let length = |at: usize| row.lengths.get(at).and_then(|n| u32::try_from(*n).ok()).unwrap_or(0);
            let tokens = row
                .tokens
                .iter()
                .zip(&row.counts)
                .filter(|(token, _)| asked.contains(token));
            let counts = Counts {
                lengths: Fields {
                    title: length(0),
                    headings: length(1),
                    body: length(2),
                },
                tokens: tokens
                    .map(|(token, packed)| (token.to_owned(), unpack(*packed)))
                    .collect(),
            };
            let (mut score, coverage) = score(&query, &counts, &stats)?;
            if language.is_some_and(|language| !row.language.is_empty() && row.language == language) {
                score *= 1.25;
            }
            Some((score, coverage, row.key))
        })
        .collect();
    hits.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    hits.truncate(limit);
    show(pool, kind, &query, hits).await
}

async fn stats(pool: &PgPool, kind: Kind, asked: &[&str]) -> sqlx::Result<CorpusStats> {
    let sums = sqlx::query!(
        "SELECT documents, title, headings, body FROM collection WHERE kind = $1",
        kind.as_str()
    )
    .fetch_one(pool)
    .await?;
    let rows = sqlx::query!(
        "SELECT token, documents FROM token WHERE kind = $1 AND token = ANY($2) AND documents > 0",
        kind.as_str(),
        asked as &[&str],
    )
    .fetch_all(pool)
    .await?;
    let whole = |n: i64| u64::try_from(n).unwrap_or(0);
    let df: HashMap<String, u64> = rows.into_iter().map(|row| (row.token, whole(row.documents))).collect();
    Ok(CorpusStats {
        documents: whole(sums.documents),
        lengths: Fields {
            title: whole(sums.title),
            headings: whole(sums.headings),
            body: whole(sums.body),
        },
        df,
    })
}

/// The text is loaded for the few that are shown.
async fn show(pool: &PgPool, kind: Kind, query: &Query, hits: Vec<(f32, f32, String)>) -> sqlx::Result<Vec<Found>> {
    let keys: Vec<&str> = hits.iter().map(|(.., key)| key.as_str()).collect();
    let rows = sqlx::query!(
        "SELECT key, title, body, language FROM document WHERE kind = $1 AND key = ANY($2)",
        kind.as_str(),
        &keys as &[&str],
    )
    .fetch_all(pool)
    .await?;
    let mut texts: HashMap<String, _> = rows.into_iter().map(|row| (row.key.clone(), row)).collect();
    Ok(hits
        .into_iter()
        .filter_map(|(score, coverage, key)| {
            let row = texts.remove(&key)?;
            let snippet = snippet(query, &row.body);
            Some(Found {
                id: key,
                title: row.title,
                language: row.language,
                score,
                coverage,
                snippet,
            })
        })
        .collect())
}

/// Whether this transaction is the only one, among all replicas, that puts tickets into the search.
pub async fn only_indexer(tx: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock(hashtext('deskhand indexer')) AS "mine!""#)
        .fetch_one(tx)
        .await
}
