-- Chats as a source: what was written where the bot listens, people's names, and files whose text can be read.
-- Only additions, so that an older binary works on beside a newer one.

-- `post`: something written in a channel or thread. It is kept, and given to its ticket once it is known whose words they are.
ALTER TABLE inbox DROP CONSTRAINT inbox_kind;
ALTER TABLE inbox ADD CONSTRAINT inbox_kind CHECK (kind IN ('delivery', 'click', 'command', 'confirm', 'post'));
-- The thread that a post belongs to: within one, none overtakes another.
ALTER TABLE inbox ADD COLUMN talk text NOT NULL DEFAULT '';
CREATE INDEX inbox_talk ON inbox (source, talk, id) WHERE state = 'kept' AND kind = 'post';

-- How a chat calls a person; empty while nobody asked.
ALTER TABLE person ADD COLUMN name text NOT NULL DEFAULT '';

-- A file on a comment whose text can be read, and that text once somebody did.
CREATE TABLE attachment (
    source    text NOT NULL,
    -- The source's id of the file.
    id        text NOT NULL,
    ticket_id bigint NOT NULL REFERENCES ticket (id),
    name      text NOT NULL,
    size      bigint NOT NULL,
    url       text NOT NULL,
    content   text,
    CONSTRAINT attachment_id PRIMARY KEY (ticket_id, source, id)
);
