-- Claims ready runs: their rows of the queue are deleted, and the run gets a lease and a new attempt in the same
-- statement. Never two runs of one ticket, since a ticket has at most one that is not final. A row whose run is no
-- longer queued (it was cancelled) is deleted and claims nothing.
WITH pick AS (
    SELECT ready_seq, run_id
      FROM ready
     WHERE ready_seq > $4 AND run_at <= coalesce($5, clock_timestamp())
     ORDER BY priority DESC, ready_seq
     LIMIT $2
       FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM ready USING pick WHERE ready.ready_seq = pick.ready_seq
    RETURNING ready.ready_seq, ready.run_id
)
UPDATE run
   SET state = 'running', attempt = attempt + 1, lease_owner = $1,
       lease_until = coalesce($5, clock_timestamp()) + make_interval(secs => $3)
  FROM gone
 WHERE run.id = gone.run_id AND run.state = 'queued'
RETURNING run.id, run.ticket_id, run.attempt, run.mode, run.failures, gone.ready_seq
