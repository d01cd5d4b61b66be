//! The ledger's rows. Appended in the transaction of what they tell; numbered and chained afterwards by one sealer.

use chrono::{DateTime, Utc};
use deskhand_core::id::{ApprovalId, EffectId, RunId, TicketId};
use deskhand_core::ledger::{Broken, Entry, EntryKind, Sealed, Tip, salted};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

/// One line: ids and words, never a customer's or a supervisor's text.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub kind: EntryKind,
    pub ticket: Option<TicketId>,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
    pub effect: Option<EffectId>,
    /// `slack:U…`; empty for what nobody did.
    pub actor: &'a str,
    /// The digest it is about, unsalted: the row keeps it salted.
    pub digest: &'a str,
    /// One known word.
    pub word: &'a str,
}

impl Line<'_> {
    pub fn new(kind: EntryKind, ticket: TicketId) -> Self {
        Self::of(kind, Some(ticket))
    }

    pub fn of(kind: EntryKind, ticket: Option<TicketId>) -> Self {
        Self {
            kind,
            ticket,
            run: None,
            approval: None,
            effect: None,
            actor: "",
            digest: "",
            word: "",
        }
    }
}

/// A fresh salt, and the digest as the row keeps it.
pub(super) fn salt(digest: &str) -> (String, String) {
    let salt = Uuid::new_v4().simple().to_string();
    let salted = salted(&salt, digest);
    (salt, salted)
}

pub async fn append(tx: &mut PgConnection, line: &Line<'_>) -> sqlx::Result<()> {
    append_all(tx, std::slice::from_ref(line)).await
}

pub async fn append_all(tx: &mut PgConnection, lines: &[Line<'_>]) -> sqlx::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let salts: Vec<String> = lines.iter().map(|_| Uuid::new_v4().simple().to_string()).collect();
    let digests: Vec<Option<String>> = lines
        .iter()
        .zip(&salts)
        .map(|(line, salt)| (!line.digest.is_empty()).then(|| salted(salt, line.digest)))
        .collect();
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    sqlx::query!(
        "INSERT INTO ledger (kind, ticket_id, run_id, approval_id, effect_id, actor, word, digest, salt)
         SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::uuid[], $6::text[], $7::text[],
                              $8::text[], $9::text[])",
        &lines.iter().map(|line| line.kind.as_str()).collect::<Vec<_>>() as &[&str],
        &lines.iter().map(|line| line.ticket.map(|id| id.0)).collect::<Vec<_>>() as &[Option<i64>],
        &lines.iter().map(|line| line.run.map(|id| id.0)).collect::<Vec<_>>() as &[Option<Uuid>],
        &lines
            .iter()
            .map(|line| line.approval.map(|id| id.0))
            .collect::<Vec<_>>() as &[Option<i64>],
        &lines.iter().map(|line| line.effect.map(|id| id.0)).collect::<Vec<_>>() as &[Option<Uuid>],
        &lines.iter().map(|line| some(line.actor)).collect::<Vec<_>>() as &[Option<String>],
        &lines.iter().map(|line| some(line.word)).collect::<Vec<_>>() as &[Option<String>],
        &digests as &[Option<String>],
        &salts,
    )
    .execute(tx)
    .await?;
    Ok(())
}

struct Raw {
    id: i64,
    kind: String,
    at: DateTime<Utc>,
    ticket_id: Option<i64>,
    run_id: Option<Uuid>,
    approval_id: Option<i64>,
    effect_id: Option<Uuid>,
    actor: Option<String>,
    word: Option<String>,
    digest: Option<String>,
    number: Option<i64>,
    hash: Option<String>,
}

impl Raw {
    /// `None` for a kind that this binary does not know: an unknown row cannot be chained, so sealing stops there.
    fn entry(&self) -> Option<Entry> {
        Some(Entry {
            kind: self.kind.parse().ok()?,
            at: self.at,
            ticket: self.ticket_id.map(TicketId),
            run: self.run_id.map(RunId),
            approval: self.approval_id.map(ApprovalId),
            effect: self.effect_id.map(EffectId),
            actor: self.actor.clone(),
            word: self.word.clone(),
            digest: self.digest.clone(),
        })
    }
}

/// Numbers and chains what was appended since, in the order of arrival, unless another process is at it. Gives how many.
pub async fn seal(pool: &PgPool, most: i64) -> sqlx::Result<u64> {
    let mut tx = pool.begin().await?;
    let mine = sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock(hashtext('deskhand ledger')) AS "mine!""#)
        .fetch_one(&mut *tx)
        .await?;
    if !mine {
        return Ok(0);
    }
    // The small age lets transactions that drew an earlier id commit first.
    let rows = sqlx::query_as!(
        Raw,
        "SELECT id, kind, at, ticket_id, run_id, approval_id, effect_id, actor, word, digest, number, hash
           FROM ledger WHERE number IS NULL AND at < clock_timestamp() - interval '1 second' ORDER BY id LIMIT $1",
        most
    )
    .fetch_all(&mut *tx)
    .await?;
    if rows.is_empty() {
        return Ok(0);
    }
    let last = sqlx::query!(
        r#"SELECT number AS "number!", hash AS "hash!" FROM ledger WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1"#
    )
    .fetch_optional(&mut *tx)
    .await?;
    let mut tip = last.map_or_else(Tip::default, |row| Tip {
        number: row.number,
        hash: row.hash,
    });
    let (mut ids, mut numbers, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let Some(entry) = row.entry() else { break };
        let sealed = tip.seal(entry);
        ids.push(row.id);
        numbers.push(sealed.number);
        hashes.push(sealed.hash);
    }
    sqlx::query!(
        "UPDATE ledger SET number = s.number, hash = s.hash
           FROM UNNEST($1::bigint[], $2::bigint[], $3::text[]) AS s (id, number, hash)
          WHERE ledger.id = s.id AND ledger.number IS NULL",
        &ids,
        &numbers,
        &hashes,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(ids.len().try_into().unwrap_or(0))
}

/// What `ledger verify` says.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Rows whose chain holds.
    pub sealed: i64,
    pub unsealed: i64,
    /// The first row that does not fit.
    pub broken: Option<Broken>,
}

/// Reads the chain from its start, a thousand rows at a time.
pub async fn verify(pool: &PgPool) -> sqlx::Result<Verified> {
    let mut tip = Tip::default();
    let mut after = 0;
    let mut broken = None;
    'pages: loop {
        let rows = sqlx::query_as!(
            Raw,
            "SELECT id, kind, at, ticket_id, run_id, approval_id, effect_id, actor, word, digest, number, hash
               FROM ledger WHERE number > $1 ORDER BY number LIMIT 1000",
            after
        )
        .fetch_all(pool)
        .await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            after = row.number.unwrap_or(after);
            let Some(entry) = row.entry() else {
                broken = Some(Broken {
                    number: after,
                    why: "it is of a kind that this version does not know",
                });
                break 'pages;
            };
            let sealed = Sealed {
                number: after,
                previous: tip.hash.clone(),
                hash: row.hash.clone().unwrap_or_default(),
                entry,
            };
            if let Err(found) = tip.check(&sealed) {
                broken = Some(found);
                break 'pages;
            }
        }
    }
    let unsealed = sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM ledger WHERE number IS NULL"#)
        .fetch_one(pool)
        .await?;
    Ok(Verified {
        sealed: tip.number,
        unsealed,
        broken,
    })
}
