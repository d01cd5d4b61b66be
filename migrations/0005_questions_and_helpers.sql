-- Questions to the team, which are approvals that are answered; helpers, which are runs with a parent.
-- Only additions, so that an older binary works on beside a newer one.

ALTER TABLE approval DROP CONSTRAINT approval_state, ADD CONSTRAINT approval_state CHECK
    (state IN ('open', 'approved', 'edited', 'answered', 'rejected', 'expired', 'withdrawn', 'superseded'));

ALTER TABLE run DROP CONSTRAINT run_ending, ADD CONSTRAINT run_ending CHECK (ending IN
    ('answered', 'triaged', 'handed_over', 'empty_reply', 'max_steps', 'budget', 'recorded', 'reported'));

-- A run that looks something up for another one, which is its parent.
CREATE TABLE helper (
    run_id     uuid CONSTRAINT helper_run PRIMARY KEY REFERENCES run (id),
    parent     uuid NOT NULL REFERENCES run (id),
    -- From 1, within its parent.
    number     integer NOT NULL,
    -- The call of the parent's model that asked for it.
    call_step  integer NOT NULL,
    call_index integer NOT NULL,
    task       text NOT NULL,
    report     text NOT NULL DEFAULT '',
    -- The parent waits for it.
    awaited    boolean NOT NULL DEFAULT false,
    CONSTRAINT helper_number UNIQUE (parent, number)
);
CREATE INDEX helper_awaited ON helper (parent) WHERE awaited;
CREATE INDEX run_open_helper ON run (parent) WHERE parent IS NOT NULL AND state IN ('queued', 'running', 'waiting');
