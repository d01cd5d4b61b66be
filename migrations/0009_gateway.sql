-- How far Discord's gateway was heard, so that whichever process listens next goes on from there.
-- Only an addition, so that an older binary works on beside a newer one.

CREATE TABLE gateway (
    -- The application.
    name       text CONSTRAINT gateway_name PRIMARY KEY,
    -- By which a connection is taken up again, together with the bot's token.
    session    text NOT NULL,
    url        text NOT NULL,
    -- Everything up to this number of the session was dealt with.
    seq        bigint NOT NULL,
    -- The newest message that was dealt with. Where no session can be taken up, what is newer is read.
    newest     bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
