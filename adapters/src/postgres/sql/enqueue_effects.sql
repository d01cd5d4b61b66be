-- Puts effects into the outbox in their order, and after them a header for each place where the ticket's header stands.
-- What is pending already serves for the new one.
INSERT INTO outbox (id, kind, ticket_id, run_id, approval_id, call_step, call_index, lane, payload, state)
SELECT id, kind, ticket_id, run_id, approval_id, call_step, call_index, lane, payload, state
  FROM (SELECT *
          FROM UNNEST($1::uuid[], $2::text[], $3::bigint[], $4::uuid[], $5::bigint[], $6::integer[], $7::integer[],
                      $8::text[], $9::jsonb[], $10::text[])
               WITH ORDINALITY AS d (id, kind, ticket_id, run_id, approval_id, call_step, call_index, lane, payload, state,
                                     n)
         UNION ALL
        SELECT gen_random_uuid(), 'header', p.ticket_id, NULL, NULL, NULL, NULL, p.chat || ':' || p.channel, '{}',
               'pending', 1000000 + p.id
          FROM place p
         WHERE p.ticket_id = $11 AND p.approval_id IS NULL) AS effects
 ORDER BY n
    ON CONFLICT DO NOTHING
