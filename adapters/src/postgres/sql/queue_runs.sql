-- Starts a run for each ticket that has none, is no alias and is not with a human. The partial unique index on open
-- runs is what guarantees at most one; the earlier, final run is continued. Each stands in the queue from here on.
WITH queued AS (
INSERT INTO run (id, ticket_id, state, mode, priority, continues)
SELECT d.run_id, t.id, 'queued', $3,
       CASE t.triage ->> 'priority' WHEN 'urgent' THEN 2 WHEN 'high' THEN 1 ELSE 0 END,
       (SELECT e.id FROM run e WHERE e.ticket_id = t.id AND e.parent IS NULL ORDER BY e.created_at DESC LIMIT 1)
  FROM UNNEST($1::bigint[], $2::uuid[]) AS d (ticket_id, run_id)
  JOIN ticket t ON t.id = d.ticket_id
 WHERE t.alias_of IS NULL AND t.state <> 'with_human'
    ON CONFLICT (ticket_id) WHERE parent IS NULL AND state IN ('queued', 'running', 'waiting') DO NOTHING
RETURNING id, ticket_id, priority
), placed AS (
INSERT INTO ready (run_id, priority, run_at)
SELECT id, priority, clock_timestamp() + make_interval(secs => $4) FROM queued
    ON CONFLICT ON CONSTRAINT ready_run DO NOTHING
)
SELECT id, ticket_id FROM queued
