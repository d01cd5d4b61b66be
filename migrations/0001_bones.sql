-- The store from the start: what came in, the tickets, the runs with their steps, approvals, the outbox, the ledger.
-- States are text with CHECKs, so that an old binary survives a new state. See migrations/README.md.

CREATE SEQUENCE ticket_number START 1001;

CREATE TABLE ticket (
    id                bigint PRIMARY KEY DEFAULT nextval('ticket_number'),
    source            text NOT NULL CONSTRAINT ticket_source CHECK (source IN ('zendesk', 'email', 'slack', 'discord', 'api')),
    outside_id        text NOT NULL,
    subject           text NOT NULL DEFAULT '',
    requester_name    text NOT NULL DEFAULT '',
    requester_address text NOT NULL DEFAULT '',
    state             text NOT NULL DEFAULT 'new' CONSTRAINT ticket_state CHECK
        (state IN ('new', 'triaged', 'waiting_on_customer', 'escalated', 'with_human', 'solved')),
    -- Goes up with every public comment that is not ours, at the delivery of ours, and when a human takes over.
    version           bigint NOT NULL DEFAULT 0,
    triage            jsonb,
    automatic         boolean NOT NULL DEFAULT false,
    -- A payload named the ticket but not enough of it: the runner reads it from its desk before the model is asked.
    needs_read        boolean NOT NULL DEFAULT false,
    desk_status       text NOT NULL DEFAULT 'open',
    assignee          text NOT NULL DEFAULT '',
    url               text NOT NULL DEFAULT '',
    -- Set when it was merged: the ticket that it is another name of.
    alias_of          bigint REFERENCES ticket (id),
    -- When it was last put into the search; the sweeper does it, never intake.
    indexed_at        timestamptz,
    -- Why a person must look at it; shown on its header.
    trouble           text NOT NULL DEFAULT '',
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ticket_outside UNIQUE (source, outside_id)
);
CREATE INDEX ticket_newest ON ticket (updated_at DESC);
CREATE INDEX ticket_unindexed ON ticket (updated_at) WHERE indexed_at IS NULL OR indexed_at < updated_at;

CREATE TABLE comment (
    id          bigserial PRIMARY KEY,
    ticket_id   bigint NOT NULL REFERENCES ticket (id),
    source      text NOT NULL,
    -- Unique within the source: one comment under two delivery ids is one comment.
    outside_id  text NOT NULL,
    author      text NOT NULL CONSTRAINT comment_author CHECK (author IN ('requester', 'agent', 'bot', 'other')),
    author_name text NOT NULL DEFAULT '',
    public      boolean NOT NULL,
    body        text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT comment_outside UNIQUE (source, outside_id)
);
CREATE INDEX comment_of_ticket ON comment (ticket_id, id);

-- Accepted deliveries, with their raw bytes. Clicks and commands that could not be served at once are kept here too.
CREATE TABLE inbox (
    id          bigserial PRIMARY KEY,
    source      text NOT NULL,
    kind        text NOT NULL CONSTRAINT inbox_kind CHECK (kind IN ('delivery', 'click', 'command')),
    delivery_id text NOT NULL,
    headers     jsonb NOT NULL DEFAULT '{}',
    body        bytea NOT NULL,
    state       text NOT NULL CONSTRAINT inbox_state CHECK (state IN ('mapped', 'unmapped', 'kept', 'done', 'failed')),
    error       text NOT NULL DEFAULT '',
    attempts    integer NOT NULL DEFAULT 0,
    next_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT inbox_delivery UNIQUE (source, delivery_id)
);
CREATE INDEX inbox_open ON inbox (next_at) WHERE state = 'kept';
CREATE INDEX inbox_unmapped ON inbox (id) WHERE state IN ('unmapped', 'failed');

CREATE TABLE run (
    id          uuid PRIMARY KEY,
    ticket_id   bigint NOT NULL REFERENCES ticket (id),
    parent      uuid REFERENCES run (id),
    continues   uuid REFERENCES run (id),
    state       text NOT NULL CONSTRAINT run_state CHECK
        (state IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
    ending      text CONSTRAINT run_ending CHECK (ending IN
        ('answered', 'triaged', 'handed_over', 'empty_reply', 'max_steps', 'budget', 'recorded')),
    -- Pinned at the start; the stricter of this and the present mode holds.
    mode        text NOT NULL CONSTRAINT run_mode CHECK (mode IN ('shadow', 'ask', 'auto')),
    priority    smallint NOT NULL DEFAULT 0,
    -- Fences late workers: goes up with every claim.
    attempt     integer NOT NULL DEFAULT 0,
    -- Claims since the last step that the run took; too many and it fails.
    failures    integer NOT NULL DEFAULT 0,
    -- Queued because a delivery named the ticket without saying what happened: without news it ends at once.
    if_news     boolean NOT NULL DEFAULT false,
    lease_owner text,
    lease_until timestamptz,
    error       text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz
);
-- At most one pursuit of a ticket at a time.
CREATE UNIQUE INDEX run_open_of_ticket ON run (ticket_id)
    WHERE parent IS NULL AND state IN ('queued', 'running', 'waiting');
CREATE INDEX run_of_ticket ON run (ticket_id, created_at);
CREATE INDEX run_leased ON run (lease_until) WHERE state = 'running';

-- The queue: a row is inserted when a run becomes ready and deleted by the claim, never updated.
CREATE TABLE ready (
    ready_seq bigserial PRIMARY KEY,
    run_id    uuid NOT NULL CONSTRAINT ready_run UNIQUE,
    priority  smallint NOT NULL DEFAULT 0,
    run_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ready_order ON ready (priority DESC, ready_seq);

CREATE TABLE step (
    run_id uuid NOT NULL REFERENCES run (id),
    seq    integer NOT NULL,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind   jsonb NOT NULL,
    CONSTRAINT step_seq PRIMARY KEY (run_id, seq)
);

CREATE TABLE approval (
    id              bigserial PRIMARY KEY,
    ticket_id       bigint NOT NULL REFERENCES ticket (id),
    run_id          uuid NOT NULL REFERENCES run (id),
    call_step       integer NOT NULL,
    call_index      integer NOT NULL,
    tool            text NOT NULL,
    effect          jsonb NOT NULL,
    digest          text NOT NULL,
    why             text NOT NULL DEFAULT '',
    marks           jsonb NOT NULL DEFAULT '[]',
    state           text NOT NULL DEFAULT 'open' CONSTRAINT approval_state CHECK
        (state IN ('open', 'approved', 'edited', 'rejected', 'expired', 'withdrawn', 'superseded')),
    -- Shadow mode: shown without buttons, never asked.
    recorded        boolean NOT NULL DEFAULT false,
    decided_by      text NOT NULL DEFAULT '',
    decided_by_name text NOT NULL DEFAULT '',
    decided_at      timestamptz,
    reason          text NOT NULL DEFAULT '',
    edited          text,
    instructed_by   text NOT NULL DEFAULT '',
    expires_at      timestamptz,
    executed_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX approval_open_of_call ON approval (run_id, call_step, call_index) WHERE state = 'open';
CREATE INDEX approval_of_run ON approval (run_id);
CREATE INDEX approval_of_ticket ON approval (ticket_id, id);
CREATE INDEX approval_open ON approval (expires_at) WHERE state = 'open';
CREATE INDEX approval_unexecuted ON approval (decided_at)
    WHERE state IN ('approved', 'edited') AND executed_at IS NULL;

-- Intended writes to the outside, and what became of them. Only the dispatcher sends.
CREATE TABLE outbox (
    seq         bigserial PRIMARY KEY,
    id          uuid NOT NULL CONSTRAINT outbox_id UNIQUE,
    kind        text NOT NULL CONSTRAINT outbox_kind CHECK
        (kind IN ('reply', 'escalation', 'bookkeeping', 'follow_up', 'header', 'card', 'settle', 'line', 'answer')),
    -- None for an answer to somebody who named no ticket.
    ticket_id   bigint REFERENCES ticket (id),
    run_id      uuid REFERENCES run (id),
    approval_id bigint REFERENCES approval (id),
    call_step   integer,
    call_index  integer,
    -- Effects of one lane go out one at a time, in order: `desk:1001`, `slack:C024BE91L`.
    lane        text NOT NULL,
    payload     jsonb NOT NULL DEFAULT '{}',
    state       text NOT NULL DEFAULT 'pending' CONSTRAINT outbox_state CHECK
        (state IN ('pending', 'sending', 'delivered', 'withdrawn', 'recorded', 'unknown', 'dead')),
    attempts    integer NOT NULL DEFAULT 0,
    -- Sent at least once without a clear answer: look before sending again.
    ambiguous   boolean NOT NULL DEFAULT false,
    next_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz,
    remote_id   text NOT NULL DEFAULT '',
    why         text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at     timestamptz
);
CREATE INDEX outbox_due ON outbox (lane, seq) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_of_run ON outbox (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX outbox_of_ticket ON outbox (ticket_id, seq);
CREATE INDEX outbox_troubled ON outbox (seq) WHERE state IN ('unknown', 'dead');
-- Edits of one view coalesce: at most one is pending.
CREATE UNIQUE INDEX outbox_header_once ON outbox (ticket_id, lane) WHERE kind = 'header' AND state = 'pending';
CREATE UNIQUE INDEX outbox_settle_once ON outbox (approval_id, lane) WHERE kind = 'settle' AND state = 'pending';

-- The pace of a lane, shared by replicas: nothing goes out before next_at.
CREATE TABLE lane (
    name    text PRIMARY KEY,
    next_at timestamptz NOT NULL
);

-- Where a header or a card stands. A view, never the truth.
CREATE TABLE place (
    id          bigserial PRIMARY KEY,
    ticket_id   bigint NOT NULL REFERENCES ticket (id),
    approval_id bigint REFERENCES approval (id),
    chat        text NOT NULL,
    channel     text NOT NULL,
    message     text NOT NULL,
    CONSTRAINT place_message UNIQUE (chat, channel, message)
);
CREATE UNIQUE INDEX place_of_header ON place (ticket_id, chat, channel) WHERE approval_id IS NULL;
CREATE UNIQUE INDEX place_of_card ON place (approval_id, chat, channel) WHERE approval_id IS NOT NULL;

-- Append-only. Rows are numbered and chained by one sealer afterwards, so that transactions do not queue for the head.
CREATE TABLE ledger (
    id          bigserial PRIMARY KEY,
    kind        text NOT NULL,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    ticket_id   bigint,
    run_id      uuid,
    approval_id bigint,
    effect_id   uuid,
    actor       text,
    -- One known word; never what somebody wrote.
    word        text,
    -- Salted digest of what it was about.
    digest      text,
    salt        text NOT NULL DEFAULT '',
    number      bigint CONSTRAINT ledger_number UNIQUE,
    hash        text
);
CREATE INDEX ledger_unsealed ON ledger (id) WHERE number IS NULL;

CREATE TABLE article (
    id         text PRIMARY KEY,
    title      text NOT NULL,
    -- Where it stands in the help centre; counts as a heading.
    section    text NOT NULL DEFAULT '',
    body       text NOT NULL,
    language   text NOT NULL DEFAULT '',
    state      text NOT NULL CONSTRAINT article_state CHECK (state IN ('draft', 'published', 'retired')),
    revision   bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE revision (
    article_id  text NOT NULL REFERENCES article (id),
    number      bigint NOT NULL,
    title       text NOT NULL,
    body        text NOT NULL,
    language    text NOT NULL DEFAULT '',
    state       text NOT NULL,
    author      text NOT NULL,
    rationale   text NOT NULL DEFAULT '',
    run_id      uuid,
    approval_id bigint,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT revision_number PRIMARY KEY (article_id, number)
);

-- What search finds: articles and tickets alike, by the tokens that core makes of them.
CREATE TABLE document (
    kind     text NOT NULL CONSTRAINT document_kind CHECK (kind IN ('article', 'ticket')),
    key      text NOT NULL,
    language text NOT NULL DEFAULT '',
    title    text NOT NULL,
    body     text NOT NULL,
    -- Distinct tokens, sorted, and how often each stands in title, headings and body (ten bits each).
    tokens   text[] NOT NULL,
    counts   integer[] NOT NULL,
    -- Tokens in title, headings and body.
    lengths  integer[] NOT NULL,
    CONSTRAINT document_key PRIMARY KEY (kind, key)
);
CREATE INDEX document_tokens ON document USING gin (tokens) WITH (fastupdate = off);

-- In how many documents a token stands, so that a query starts with its rarest ones.
CREATE TABLE token (
    kind      text NOT NULL,
    token     text NOT NULL,
    documents bigint NOT NULL,
    CONSTRAINT token_kind PRIMARY KEY (kind, token)
);

-- Sums over the documents of a kind: how many, and their lengths.
CREATE TABLE collection (
    kind      text PRIMARY KEY,
    documents bigint NOT NULL DEFAULT 0,
    title     bigint NOT NULL DEFAULT 0,
    headings  bigint NOT NULL DEFAULT 0,
    body      bigint NOT NULL DEFAULT 0
);
INSERT INTO collection (kind) VALUES ('article'), ('ticket');

-- Members of groups and roles, as the chat last told them.
CREATE TABLE membership (
    grp       text NOT NULL,
    person    text NOT NULL,
    CONSTRAINT membership_person PRIMARY KEY (grp, person)
);
CREATE TABLE membership_sync (
    grp       text PRIMARY KEY,
    synced_at timestamptz NOT NULL
);
-- Whether a person is a full member of the connected workspace.
CREATE TABLE person (
    person      text PRIMARY KEY,
    full_member boolean NOT NULL,
    synced_at   timestamptz NOT NULL
);

-- Remembered Allows.
CREATE TABLE standing_grant (
    id         bigserial PRIMARY KEY,
    tool       text NOT NULL,
    args       jsonb NOT NULL DEFAULT '{}',
    granted_by text NOT NULL,
    until      timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What commands change at run time: mode.
CREATE TABLE setting (
    name       text PRIMARY KEY,
    value      text NOT NULL,
    set_by     text NOT NULL,
    set_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
