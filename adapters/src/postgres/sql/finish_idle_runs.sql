-- Ends leased runs that were queued only to look, have no steps, and whose tickets need no reading and have no public
-- comment that is newer than what earlier runs heard. Asked under the tickets' locks.
UPDATE run r
   SET state = 'completed', ending = 'triaged', error = 'nothing new was said', finished_at = clock_timestamp(),
       lease_owner = NULL, lease_until = NULL
  FROM UNNEST($1::uuid[], $2::integer[]) AS held (id, attempt), ticket t
 WHERE r.id = held.id AND t.id = r.ticket_id AND r.attempt = held.attempt AND r.state = 'running' AND r.if_news AND NOT t.needs_read
   AND NOT EXISTS (SELECT FROM step s WHERE s.run_id = r.id)
   AND NOT EXISTS (
       SELECT FROM comment c
        WHERE c.ticket_id = r.ticket_id AND c.public AND c.author <> 'bot'
          AND c.id > coalesce((
              SELECT max((heard ->> 'id')::bigint)
                FROM run e
                JOIN step s ON s.run_id = e.id AND s.kind ->> 'kind' = 'heard'
               CROSS JOIN LATERAL jsonb_array_elements(s.kind -> 'comments') heard
               WHERE e.ticket_id = r.ticket_id AND e.id <> r.id), 0))
RETURNING r.id
