//! Members of groups and full members of the workspace, as the chat last told them.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{PgExecutor, PgPool};

/// A list older than this is stale: it is asked anew before anybody is let in on its word.
pub const FRESH: TimeDelta = TimeDelta::minutes(5);

/// The groups (`slack:@S…`) that a person belongs to by fresh lists, and the groups whose lists are stale or missing.
pub async fn groups_of(
    pool: &PgPool,
    person: &str,
    groups: &[String],
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<(BTreeSet<String>, BTreeSet<String>)> {
    let rows = sqlx::query!(
        r#"SELECT g.grp AS "grp!",
                  coalesce(s.synced_at > coalesce($3, clock_timestamp()) - make_interval(secs => $4), false) AS "fresh!",
                  EXISTS (SELECT FROM membership m WHERE m.grp = g.grp AND m.person = $2) AS "member!"
             FROM UNNEST($1::text[]) AS g (grp) LEFT JOIN membership_sync s ON s.grp = g.grp"#,
        groups,
        person,
        at,
        FRESH.num_seconds() as f64,
    )
    .fetch_all(pool)
    .await?;
    let mut member = BTreeSet::new();
    let mut stale = BTreeSet::new();
    for row in rows {
        if !row.fresh {
            stale.insert(row.grp);
        } else if row.member {
            member.insert(row.grp);
        }
    }
    Ok((member, stale))
}

/// Takes over a group's list.
pub async fn sync_group(pool: &PgPool, group: &str, people: &[String], at: Option<DateTime<Utc>>) -> sqlx::Result<()> {
    let mut tx = pool.begin().await?;
    sqlx::query!("DELETE FROM membership WHERE grp = $1", group)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        "INSERT INTO membership (grp, person) SELECT $1, p FROM UNNEST($2::text[]) AS p ON CONFLICT DO NOTHING",
        group,
        people
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "INSERT INTO membership_sync (grp, synced_at) VALUES ($1, coalesce($2, clock_timestamp()))
         ON CONFLICT (grp) DO UPDATE SET synced_at = EXCLUDED.synced_at",
        group,
        at,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await
}

/// Whether a person is a full member of the workspace; `None` when that is not known freshly.
pub async fn full_member(
    db: impl PgExecutor<'_>,
    person: &str,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Option<bool>> {
    sqlx::query_scalar!(
        "SELECT full_member FROM person
          WHERE person = $1 AND synced_at > coalesce($2, clock_timestamp()) - make_interval(secs => $3)",
        person,
        at,
        FRESH.num_seconds() as f64,
    )
    .fetch_optional(db)
    .await
}

/// `name` is how the chat calls them; an empty one changes nothing.
pub async fn remember_person(
    db: impl PgExecutor<'_>,
    person: &str,
    full_member: bool,
    name: &str,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO person AS p (person, full_member, name, synced_at)
         VALUES ($1, $2, $4, coalesce($3, clock_timestamp()))
         ON CONFLICT (person) DO UPDATE SET full_member = EXCLUDED.full_member, synced_at = EXCLUDED.synced_at,
                name = coalesce(nullif(EXCLUDED.name, ''), p.name)",
        person,
        full_member,
        at,
        name,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// How the chat calls a person, as it last told; `None` when nobody asked.
pub async fn name_of(db: impl PgExecutor<'_>, person: &str) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar!("SELECT name FROM person WHERE person = $1 AND name <> ''", person)
        .fetch_optional(db)
        .await
}
