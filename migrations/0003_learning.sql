-- What the offline model learns from the house's past: the artifact that all replicas share, and people's corrections.

CREATE TABLE artifact (
    version     bigserial PRIMARY KEY,
    kind        text NOT NULL CONSTRAINT artifact_kind CHECK (kind IN ('classifier')),
    -- Digests: of the house's categories, of everything that it was made from, and of the bytes themselves.
    house       text NOT NULL,
    input       text NOT NULL,
    hash        text NOT NULL,
    -- From how many decided tickets, and how many of these a person had corrected.
    tickets     bigint NOT NULL,
    corrections bigint NOT NULL,
    bytes       bytea NOT NULL,
    built_at    timestamptz NOT NULL,
    -- When it was last found that nothing else would be learned.
    checked_at  timestamptz NOT NULL
);
CREATE INDEX artifact_newest ON artifact (kind, version);

-- A person of the team said what a ticket is. The newest word counts.
CREATE TABLE correction (
    ticket_id bigint PRIMARY KEY REFERENCES ticket (id),
    category  text NOT NULL,
    by        text NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
