-- The steps of a run and of those that it continues, the run's own first: depth 0, then one deeper for each earlier run.
-- A run that holds a summary is the last: the summary stands for everything before it.
WITH RECURSIVE chain AS (
    SELECT id, continues, 0 AS depth FROM run WHERE id = $1
    UNION ALL
    SELECT r.id, r.continues, c.depth + 1
      FROM chain c
      JOIN run r ON r.id = c.continues
     WHERE c.depth < 20
       AND NOT EXISTS (SELECT FROM step s WHERE s.run_id = c.id AND s.kind ->> 'kind' = 'compacted')
)
SELECT c.depth AS "depth!", s.seq, s.at, s.kind
  FROM chain c
  JOIN step s ON s.run_id = c.id
 ORDER BY c.depth, s.seq
