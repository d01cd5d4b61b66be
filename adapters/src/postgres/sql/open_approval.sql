-- Opens an approval, with its line in the ledger.
WITH opened AS (
    INSERT INTO approval (ticket_id, run_id, call_step, call_index, tool, effect, digest, why, marks, recorded,
                          instructed_by, expires_at, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
            coalesce($13, clock_timestamp()) + make_interval(secs => $12), coalesce($13, clock_timestamp()))
    RETURNING id, ticket_id, run_id, tool
)
INSERT INTO ledger (kind, ticket_id, run_id, approval_id, word, digest, salt)
SELECT $14, ticket_id, run_id, id, tool, $15, $16 FROM opened
RETURNING approval_id AS "id!"
