-- Claims ready runs: their rows of the queue are deleted, and the run gets a lease and a new attempt in the same
-- statement. Of one ticket these are at most the run that is not final and its helpers. A row whose run is no longer
-- queued (it was cancelled) is deleted and claims nothing. The levels come in the order in which they are served; each
-- is a range of its own in the index, so that its mark skips what was deleted instead of filtering it. A level is only
-- looked at when those before it gave too few. The commit is not waited for until it is on the disk: whatever the run
-- does afterwards stands behind it in the log, and a claim that a loss of power undoes has done nothing.
WITH soon AS (
    SELECT set_config('synchronous_commit', 'off', true)
), pick AS (
    SELECT found.ready_seq, found.run_id
      FROM soon CROSS JOIN UNNEST($4::smallint[], $5::bigint[]) AS level (priority, above)
     CROSS JOIN LATERAL (
           SELECT ready_seq, run_id
             FROM ready
            WHERE priority = level.priority AND ready_seq > level.above
              AND run_at <= coalesce($6, clock_timestamp())
            ORDER BY ready_seq
            LIMIT $2
              FOR UPDATE SKIP LOCKED) found
     LIMIT $2
), gone AS (
    DELETE FROM ready USING pick WHERE ready.ready_seq = pick.ready_seq
    RETURNING ready.ready_seq, ready.run_id, ready.priority
)
UPDATE run
   SET state = 'running', attempt = attempt + 1, lease_owner = $1,
       lease_until = coalesce($6, clock_timestamp()) + make_interval(secs => $3)
  FROM gone
 WHERE run.id = gone.run_id AND run.state = 'queued'
RETURNING run.id, run.ticket_id, run.attempt, run.mode, run.failures, run.if_news,
          run.parent IS NOT NULL AS "helper!", gone.ready_seq, gone.priority
