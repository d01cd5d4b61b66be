-- Everything that a decision rests on, in one look: the ticket, its comments after one, the run's approvals and effects,
-- the grants, the mode that was set, and, where wanted, the run's steps. One statement sees one state of the store, and
-- costs one round trip before each decision.
SELECT t.id, t.source, t.outside_id, t.subject, t.requester_name, t.requester_address, t.state, t.version,
       t.triage AS "triage: Json<Triage>", t.automatic, t.needs_read, t.url, t.trouble, t.alias_of, t.created_at,
       t.updated_at,
       (SELECT json_agg(json_build_object(
                   'id', c.id, 'author', c.author, 'author_name', c.author_name, 'public', c.public, 'body', c.body,
                   'created_at', c.created_at) ORDER BY c.id)
          FROM comment c
         WHERE c.ticket_id = t.id AND c.id > $3 AND c.author <> 'bot') AS "comments: Json<Vec<Comment>>",
       (SELECT json_agg(a ORDER BY a.id) FROM approval a WHERE a.run_id = $1 AND NOT a.recorded)
           AS "approvals: Json<Vec<approvals::Raw>>",
       (SELECT json_agg(json_build_object(
                   'id', o.id, 'kind', o.kind, 'call_step', o.call_step, 'call_index', o.call_index, 'state', o.state,
                   'why', o.why) ORDER BY o.seq)
          FROM outbox o
         WHERE o.run_id = $1 AND o.kind IN ('reply', 'escalation', 'bookkeeping')) AS "effects: Json<Vec<outbox::Raw>>",
       (SELECT json_agg(json_build_object(
                   'id', g.id, 'tool', g.tool, 'args', g.args, 'by', g.granted_by, 'until', g.until) ORDER BY g.id)
          FROM standing_grant g
         WHERE g.revoked_at IS NULL) AS "grants: Json<Vec<Grant>>",
       (SELECT value FROM setting WHERE name = 'mode') AS mode,
       (SELECT r.attempt FROM run r WHERE r.id = $1 AND r.state = 'running') AS attempt,
       (SELECT r.continues IS NOT NULL FROM run r WHERE r.id = $1) AS continues,
       CASE WHEN $4 THEN
           (SELECT json_agg(json_build_object('seq', s.seq, 'at', s.at, 'kind', s.kind) ORDER BY s.seq)
              FROM step s WHERE s.run_id = $1)
       END AS "steps: Json<Vec<log::Raw>>"
  FROM ticket t
 WHERE t.id = $2
