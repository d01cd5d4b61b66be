-- Claims the head of each lane that is due. Lanes are found one after the other through the index, so that a lane in which
-- thousands wait (a chat's pace is one post a second) costs no more than an empty one. The row itself is locked and judged
-- again, since another dispatcher may have been faster. A lane whose head is being sent gives nothing: order is kept. An
-- effect whose sender was lost may have gone out, so it comes back as ambiguous.
WITH RECURSIVE lanes AS (
    (SELECT lane FROM outbox WHERE state IN ('pending', 'sending') ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT o.lane FROM outbox o
             WHERE o.state IN ('pending', 'sending') AND o.lane > lanes.lane ORDER BY o.lane LIMIT 1)
      FROM lanes
     WHERE lanes.lane IS NOT NULL
), heads AS (
    SELECT head.seq, lanes.lane
      FROM lanes
     CROSS JOIN LATERAL (SELECT o.seq FROM outbox o
                          WHERE o.lane = lanes.lane AND o.state IN ('pending', 'sending')
                          ORDER BY o.seq LIMIT 1) head
), pick AS (
    SELECT o.seq, o.state = 'sending' AS lost
      FROM heads h
      JOIN outbox o ON o.seq = h.seq
      LEFT JOIN lane l ON l.name = h.lane
     WHERE ((o.state = 'pending' AND o.next_at <= coalesce($3, clock_timestamp()))
            OR (o.state = 'sending' AND o.lease_until < coalesce($3, clock_timestamp())))
       AND (l.next_at IS NULL OR l.next_at <= coalesce($3, clock_timestamp()))
     ORDER BY o.seq
     LIMIT $1
       FOR UPDATE OF o SKIP LOCKED
)
UPDATE outbox o
   SET state = 'sending', attempts = o.attempts + 1, ambiguous = o.ambiguous OR pick.lost,
       lease_until = coalesce($3, clock_timestamp()) + make_interval(secs => $2)
  FROM pick
 WHERE o.seq = pick.seq
RETURNING o.seq, o.id, o.kind, o.ticket_id, o.run_id, o.approval_id, o.call_step, o.call_index, o.lane, o.payload,
          o.attempts, o.ambiguous
