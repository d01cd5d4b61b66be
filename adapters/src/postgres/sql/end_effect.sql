-- Ends an effect whose claim is still held; what was for a desk gets its line in the ledger.
WITH ended AS (
    UPDATE outbox
       SET state = $3, remote_id = $4, why = $5, lease_until = NULL, done_at = clock_timestamp()
     WHERE id = $1 AND state = 'sending' AND attempts = $2
    RETURNING id, ticket_id, run_id, approval_id
), line AS (
    INSERT INTO ledger (kind, ticket_id, run_id, approval_id, effect_id, word, salt)
    SELECT $7, ticket_id, run_id, approval_id, id, $3, $8 FROM ended WHERE $6
)
SELECT id FROM ended
