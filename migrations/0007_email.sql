-- E-mail: what a mail was beyond the comment that it became, how far a mailbox was read, and subscriptions to confirm.
-- Only additions, so that an older binary works on beside a newer one.

CREATE TABLE mail (
    -- The comment's id in its source: the Message-ID, or what stands for it. Written before the comment.
    id          text CONSTRAINT mail_id PRIMARY KEY,
    -- Tells two mails apart that a careless program gave one Message-ID.
    digest      text NOT NULL,
    -- In lower case.
    sender      text NOT NULL,
    -- Set where the ticket is known beforehand.
    ticket_id   bigint,
    -- human, auto_reply, bounce …, and the header or word that said so.
    label       text NOT NULL,
    why         text NOT NULL,
    -- What an answer refers to, oldest first, this mail last. Without brackets.
    refs        text[] NOT NULL,
    -- The text with all that was quoted and signed.
    whole       text NOT NULL,
    -- Names, types and sizes; the content of those that are text.
    attachments jsonb NOT NULL,
    -- Sentences of doubt about the sender.
    doubts      jsonb NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX mail_of_sender ON mail (sender, received_at);
CREATE INDEX mail_of_ticket ON mail (ticket_id, received_at) WHERE ticket_id IS NOT NULL;

-- How far a mailbox was read.
CREATE TABLE mailbox (
    name     text CONSTRAINT mailbox_name PRIMARY KEY,
    -- IMAP's UIDVALIDITY: another one means that all numbers mean something else.
    validity bigint NOT NULL,
    -- Every mail up to this UID is in the inbox.
    seen     bigint NOT NULL
);

-- `confirm`: an address of a service to open once, for a subscription of ours.
ALTER TABLE inbox DROP CONSTRAINT inbox_kind;
ALTER TABLE inbox ADD CONSTRAINT inbox_kind CHECK (kind IN ('delivery', 'click', 'command', 'confirm'));
