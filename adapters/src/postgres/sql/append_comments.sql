-- Appends comments in their order; one that is here already, under whatever delivery, is left out.
INSERT INTO comment (ticket_id, source, outside_id, author, author_name, public, body, created_at)
SELECT d.ticket_id, d.source, d.outside_id, d.author, d.author_name, d.public, d.body,
       coalesce(d.created_at, clock_timestamp())
  FROM UNNEST($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
              $8::timestamptz[])
       WITH ORDINALITY
       AS d (ticket_id, source, outside_id, author, author_name, public, body, created_at, n)
 ORDER BY d.n
    ON CONFLICT ON CONSTRAINT comment_outside DO NOTHING
RETURNING ticket_id, author, public
