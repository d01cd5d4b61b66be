-- Tickets that were decided since a time, each counted once: a reply approved, a category named by a person, or closed. What
-- weighs how much is decided_tickets.sql's to say. Times of a lesson are those of the begin of its transaction, so that what
-- was decided while it was learned counts as new.
SELECT count(*) AS "n!"
  FROM (SELECT ticket_id FROM approval
         WHERE state IN ('approved', 'edited') AND decided_at > coalesce($1, '-infinity'::timestamptz)
        UNION
        SELECT ticket_id FROM correction WHERE at > coalesce($1, '-infinity'::timestamptz)
        UNION
        SELECT id FROM ticket
         WHERE state = 'solved' AND triage IS NOT NULL AND alias_of IS NULL
           AND updated_at > coalesce($1, '-infinity'::timestamptz)) decided
