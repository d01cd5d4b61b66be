-- Ends runs that were queued only to look, have no steps, and whose tickets need no reading and have no public comment
-- that is newer than what earlier runs heard. They are leased under the attempt that is given, or still queued where none
-- is; then their rows of the queue go too. Asked under the tickets' locks.
WITH ended AS (
    UPDATE run r
       SET state = 'completed', ending = 'triaged', error = 'nothing new was said', finished_at = clock_timestamp(),
           lease_owner = NULL, lease_until = NULL
      FROM UNNEST($1::uuid[], $2::integer[]) AS held (id, attempt), ticket t
     WHERE r.id = held.id AND t.id = r.ticket_id AND r.if_news AND NOT t.needs_read
       AND CASE WHEN held.attempt IS NULL THEN r.state = 'queued'
                ELSE r.state = 'running' AND r.attempt = held.attempt END
       AND NOT EXISTS (SELECT FROM step s WHERE s.run_id = r.id)
       AND NOT EXISTS (
           SELECT FROM comment c
            WHERE c.ticket_id = r.ticket_id AND c.public AND c.author <> 'bot'
              AND c.id > coalesce((
                  SELECT max((heard ->> 'id')::bigint)
                    FROM run e
                    JOIN step s ON s.run_id = e.id AND s.kind ->> 'kind' = 'heard'
                   CROSS JOIN LATERAL jsonb_array_elements(s.kind -> 'comments') heard
                   WHERE e.ticket_id = r.ticket_id AND e.id <> r.id AND e.parent IS NULL), 0))
    RETURNING r.id
), gone AS (
    DELETE FROM ready USING ended WHERE ready.run_id = ended.id
)
SELECT id FROM ended
