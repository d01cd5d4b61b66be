-- One settling for each place where a card of these approvals stands, and one header for each ticket's; those that are
-- pending already serve. A card that is still on its way is settled by whoever delivers it.
INSERT INTO outbox (id, kind, ticket_id, approval_id, lane)
SELECT gen_random_uuid(), 'settle', p.ticket_id, p.approval_id, p.chat || ':' || p.channel
  FROM place p
 WHERE p.approval_id = ANY($1)
 UNION ALL
SELECT DISTINCT ON (h.id) gen_random_uuid(), 'header', h.ticket_id, NULL::bigint, h.chat || ':' || h.channel
  FROM place h JOIN approval a ON a.ticket_id = h.ticket_id
 WHERE a.id = ANY($1) AND h.approval_id IS NULL
    ON CONFLICT DO NOTHING
