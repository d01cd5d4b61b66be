-- Makes tickets or updates them; an empty field changes nothing. The rows come sorted and without repeats, so that
-- two batches lock their tickets in one order. Where mail or a chat is the source, subject and requester stay what they
-- were at first: whoever joins a conversation must not become the one who is answered. A new ticket has its version from
-- the start, so that its row is written once.
INSERT INTO ticket AS t (source, outside_id, subject, requester_name, requester_address, url, assignee, desk_status,
                         automatic, needs_read, version)
SELECT d.source, d.outside_id, d.subject, d.requester_name, d.requester_address, d.url, coalesce(d.assignee, ''),
       coalesce(d.desk_status, ''), d.automatic, d.needs_read, d.version
  FROM UNNEST($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::boolean[], $10::boolean[], $11::bigint[])
       AS d (source, outside_id, subject, requester_name, requester_address, url, assignee, desk_status, automatic,
             needs_read, version)
    ON CONFLICT ON CONSTRAINT ticket_outside DO UPDATE SET
       subject = CASE WHEN t.source IN ('email', 'slack', 'discord') AND t.subject <> '' THEN t.subject
                      ELSE coalesce(nullif(EXCLUDED.subject, ''), t.subject) END,
       requester_name = CASE WHEN t.source IN ('email', 'slack', 'discord') AND t.requester_address <> '' THEN t.requester_name
                             ELSE coalesce(nullif(EXCLUDED.requester_name, ''), t.requester_name) END,
       requester_address = CASE WHEN t.source IN ('email', 'slack', 'discord') AND t.requester_address <> '' THEN t.requester_address
                                ELSE coalesce(nullif(EXCLUDED.requester_address, ''), t.requester_address) END,
       url = coalesce(nullif(EXCLUDED.url, ''), t.url),
       desk_status = coalesce(nullif(EXCLUDED.desk_status, ''), t.desk_status),
       automatic = t.automatic OR EXCLUDED.automatic,
       needs_read = t.needs_read OR EXCLUDED.needs_read
RETURNING t.id, t.source, t.outside_id, t.alias_of, t.xmax = 0 AS "fresh!"
