-- The inbox of a source whose events are messages: its settings, and the marks that people set on messages.

ALTER TABLE cabinet.source
  ADD COLUMN inbox text CHECK (inbox IN ('on', 'off')),
  ADD COLUMN inbox_name text,
  ADD COLUMN inbox_email text,
  ADD COLUMN inbox_subject text,
  ADD COLUMN inbox_message text;
COMMENT ON COLUMN cabinet.source.inbox IS 'Whether its events are shown as messages; NULL: if they look like a contact form''s.';
COMMENT ON COLUMN cabinet.source.inbox_name IS 'The field with the sender''s name, as those that follow; NULL: guessed.';

CREATE TABLE cabinet.inbox_mark (
  event_id bigint PRIMARY KEY,
  read_at  timestamptz,
  done_at  timestamptz
);
COMMENT ON TABLE cabinet.inbox_mark IS 'What people marked in an inbox; an event without an entry is neither read nor done.';
