-- Takes the first waiting post of each talk whose time has come, and puts it off: by ten seconds, doubled every time, at
-- most by five minutes. Those behind it wait, so none overtakes another, whichever replica serves them.
UPDATE inbox SET attempts = attempts + 1,
       next_at = coalesce($2, clock_timestamp()) + least(10 * power(2, least(attempts, 10)), 300) * interval '1 second'
 WHERE id IN (SELECT i.id FROM inbox i
               WHERE i.state = 'kept' AND i.kind = 'post' AND i.next_at <= coalesce($2, clock_timestamp())
                 AND NOT EXISTS (SELECT FROM inbox e
                                  WHERE e.source = i.source AND e.talk = i.talk AND e.id < i.id
                                    AND e.state = 'kept' AND e.kind = 'post')
               ORDER BY i.id LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id, source, kind, body, attempts, received_at
