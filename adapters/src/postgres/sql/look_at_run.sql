-- A run with the number of its last step, both of one moment: a final run's last step is never behind its state. (A
-- stopped run may still be given the last words of its reply.)
SELECT r.ticket_id, r.state, r.paused, r.ending, r.attempt,
       coalesce(r.state <> 'cancelled' OR r.finished_at < clock_timestamp() - interval '3 seconds', false) AS "quiet!",
       (SELECT max(s.seq) FROM step s WHERE s.run_id = r.id) AS last,
       l.attempt AS "live_attempt?", l.after AS "live_after?", l.content AS "live_text?"
  FROM run r
  LEFT JOIN live l ON $2::boolean AND l.run_id = r.id
 WHERE r.id = $1
