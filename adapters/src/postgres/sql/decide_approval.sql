-- What a decision changes, under the locks of lock_approval.sql and in one round trip: the approval, its line in the ledger,
-- its cards and its ticket's headers (those that are pending already serve), and its run, which is leased to whoever works
-- it at once. Without such a one ($11) the run is left for the queue.
WITH decided AS (
    UPDATE approval
       SET state = $2, decided_by = $3, decided_by_name = $4, decided_at = $5, reason = $6, edited = $7
     WHERE id = $1 AND state = 'open'
    RETURNING id, ticket_id, run_id
), told AS (
    INSERT INTO ledger (kind, ticket_id, run_id, approval_id, actor, word, digest, salt)
    SELECT $8, ticket_id, run_id, id, $3, $2, $9, $10 FROM decided
), shown AS (
    INSERT INTO outbox (id, kind, ticket_id, approval_id, lane)
    SELECT gen_random_uuid(), 'settle', p.ticket_id, p.approval_id, p.chat || ':' || p.channel
      FROM decided JOIN place p ON p.approval_id = decided.id
     UNION ALL
    SELECT gen_random_uuid(), 'header', h.ticket_id, NULL::bigint, h.chat || ':' || h.channel
      FROM decided JOIN place h ON h.ticket_id = decided.ticket_id AND h.approval_id IS NULL
        ON CONFLICT DO NOTHING
)
UPDATE run
   SET state = 'running', ending = NULL, attempt = attempt + 1, lease_owner = $11,
       lease_until = coalesce($13, clock_timestamp()) + make_interval(secs => $12)
  FROM decided
 WHERE run.id = decided.run_id AND $11::text IS NOT NULL AND run.state = 'waiting' AND NOT run.paused
RETURNING run.ticket_id, run.attempt, run.mode, run.failures, run.if_news
