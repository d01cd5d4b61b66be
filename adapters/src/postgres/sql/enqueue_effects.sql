-- Puts effects into the outbox in their order, and after them a header for each place where the ticket's header stands.
-- What is pending already serves for the new one. Where they execute an approval ($12), that is marked and told to the
-- ledger, and without its one execution nothing is put.
WITH done AS (
    UPDATE approval SET executed_at = clock_timestamp()
     WHERE id = $12 AND executed_at IS NULL AND state IN ('approved', 'edited')
    RETURNING id, ticket_id
), told AS (
    INSERT INTO ledger (kind, ticket_id, approval_id, digest, salt)
    SELECT $13, ticket_id, id, $14, $15 FROM done
), put AS (
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
     WHERE $12::bigint IS NULL OR EXISTS (SELECT FROM done)
     ORDER BY n
        ON CONFLICT DO NOTHING
)
SELECT count(*) AS "executed!" FROM done
