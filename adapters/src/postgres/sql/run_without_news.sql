-- The run, if it was queued only to look, has no steps, and no public comment is newer than what earlier runs heard.
SELECT r.id
  FROM run r
 WHERE r.id = $1 AND r.if_news
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
