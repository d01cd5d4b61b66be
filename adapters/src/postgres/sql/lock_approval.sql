-- Locks an approval in the order that holds everywhere: its ticket, its run, then itself; and gives it as it stands once
-- all three are had, with the time that it is by then. Each lock is taken on what the one before gave, so that the order
-- cannot be another.
WITH t AS MATERIALIZED (
    SELECT id FROM ticket WHERE id = $3 FOR UPDATE
), r AS MATERIALIZED (
    SELECT run.id FROM t JOIN run ON run.ticket_id = t.id WHERE run.id = $2 FOR UPDATE OF run
), locked AS MATERIALIZED (
    SELECT a.* FROM r JOIN approval a ON a.run_id = r.id WHERE a.id = $1 FOR UPDATE OF a
)
SELECT a.id, a.ticket_id, a.run_id, a.call_step, a.call_index, a.tool, a.effect, a.digest,
       a.why, a.marks AS "marks: Json<Vec<Mark>>", a.state, a.decided_by, a.decided_by_name, a.decided_at, a.reason,
       a.edited, a.recorded, a.instructed_by, a.expires_at, a.executed_at, a.created_at,
       coalesce($4, clock_timestamp()) AS "now!"
  FROM locked a
