-- Past tickets of which a person has said, or let stand, what they are; newest first, at most $1 of them.
-- A correction weighs most. A reply that was approved says that the ticket was understood; a ticket that people closed
-- without deciding on a reply says so much more softly. A rejected reply says that something was wrong, but not what: such a
-- ticket teaches nothing until somebody names its category.
SELECT t.id AS "id!", t.subject AS "subject!", coalesce(said.body, '') AS "body!",
       coalesce(c.category, t.triage ->> 'category', '') AS "category!",
       (CASE WHEN c.ticket_id IS NOT NULL THEN 4.0 WHEN a.state IS NOT NULL THEN 1.0 ELSE 0.25 END)::real AS "weight!",
       c.ticket_id IS NOT NULL AS "corrected!"
  FROM ticket t
  LEFT JOIN correction c ON c.ticket_id = t.id
  LEFT JOIN LATERAL (
       SELECT state FROM approval
        WHERE ticket_id = t.id AND state IN ('approved', 'edited', 'rejected')
        ORDER BY decided_at DESC, id DESC LIMIT 1) a ON true
  LEFT JOIN LATERAL (
       SELECT string_agg(left(body, 2000), E'\n\n' ORDER BY id) AS body
         FROM (SELECT id, body FROM comment
                WHERE ticket_id = t.id AND public AND author = 'requester' ORDER BY id LIMIT 3) first) said ON true
 WHERE t.alias_of IS NULL AND (t.triage IS NOT NULL OR c.ticket_id IS NOT NULL)
   AND (c.ticket_id IS NOT NULL OR a.state IN ('approved', 'edited') OR (t.state = 'solved' AND a.state IS NULL))
 ORDER BY t.id DESC LIMIT $1
