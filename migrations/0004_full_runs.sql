-- Runs in full: paused by hand, plans, texts that are kept whole, what requests cost, replies while they are written.
-- Only additions, so that an older binary works on beside a newer one.

-- Held by a person: it waits, and nothing but `resume` queues it.
ALTER TABLE run ADD COLUMN paused boolean NOT NULL DEFAULT false;
-- What the run means to do, for its header.
ALTER TABLE run ADD COLUMN plan jsonb;

-- The whole of what a model was shown a part of.
CREATE TABLE run_artifact (
    id         text CONSTRAINT run_artifact_id PRIMARY KEY,
    ticket_id  bigint NOT NULL REFERENCES ticket (id),
    run_id     uuid NOT NULL REFERENCES run (id),
    content    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX run_artifact_of_ticket ON run_artifact (ticket_id);

-- A row for each model request that cost tokens. Money in millionths of the price table's currency.
CREATE TABLE spend (
    id          bigserial PRIMARY KEY,
    at          timestamptz NOT NULL,
    ticket_id   bigint NOT NULL,
    run_id      uuid NOT NULL,
    model       text NOT NULL,
    input       bigint NOT NULL,
    output      bigint NOT NULL,
    cache_read  bigint NOT NULL,
    cache_write bigint NOT NULL,
    micros      bigint NOT NULL
);
CREATE INDEX spend_at ON spend (at);
CREATE INDEX spend_of_ticket ON spend (ticket_id);

-- The reply that a model is writing, for readers on other replicas. Lost in a crash of the database, like the reply.
CREATE UNLOGGED TABLE live (
    run_id  uuid PRIMARY KEY,
    attempt integer NOT NULL,
    -- The step after which it is written.
    after   integer NOT NULL,
    content text NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
