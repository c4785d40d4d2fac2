-- Cold history: events that have moved into files. It is empty until a place for files is set.

CREATE TABLE cabinet.cold_state (
  singleton    boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  version      bigint NOT NULL DEFAULT 0,
  leased_until timestamptz NOT NULL DEFAULT 'epoch',
  worked_at    timestamptz,
  failures     integer NOT NULL DEFAULT 0,
  error        text
);
INSERT INTO cabinet.cold_state DEFAULT VALUES;
COMMENT ON TABLE cabinet.cold_state IS 'The state of cold history: one row.';
COMMENT ON COLUMN cabinet.cold_state.version IS 'Rises with each change of the list of files; 0: there has never been one.';
COMMENT ON COLUMN cabinet.cold_state.leased_until IS 'Until then one process works on files. It only saves work: any number of them may.';

CREATE TABLE cabinet.cold_file (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text UNIQUE,
  first_epoch bigint NOT NULL,
  first_xid   bigint NOT NULL,
  first_id    bigint NOT NULL,
  last_epoch  bigint NOT NULL,
  last_xid    bigint NOT NULL,
  last_id     bigint NOT NULL,
  least_id    bigint NOT NULL,
  most_id     bigint NOT NULL,
  from_at     timestamptz NOT NULL,
  to_at       timestamptz NOT NULL,
  events      integer NOT NULL,
  bytes       bigint NOT NULL,
  digest      text NOT NULL,
  listed_at   timestamptz NOT NULL,
  deletions   bigint NOT NULL DEFAULT 0,
  emptied_at  timestamptz,
  thawed_at   timestamptz,
  UNIQUE (first_epoch, first_xid, first_id)
);
COMMENT ON TABLE cabinet.cold_file IS 'The files of cold history, each a range of the feed. A row of cabinet.event counts before its copy in a file.';
COMMENT ON COLUMN cabinet.cold_file.name IS 'Null: its events were brought back for good.';
COMMENT ON COLUMN cabinet.cold_file.digest IS 'SHA-256 of its events, in hexadecimal.';
COMMENT ON COLUMN cabinet.cold_file.listed_at IS 'By the clock of the server. Rows are deleted ten minutes later.';
COMMENT ON COLUMN cabinet.cold_file.deletions IS 'How often rows of its range were deleted: a file that was written meanwhile does not replace this one.';
COMMENT ON COLUMN cabinet.cold_file.emptied_at IS 'When the rows were deleted that could be; others follow with the next look.';
COMMENT ON COLUMN cabinet.cold_file.thawed_at IS 'Its events are being brought back, or were; nothing is deleted.';

CREATE TABLE cabinet.cold_leftover (
  name      text PRIMARY KEY,
  remove_at timestamptz NOT NULL,
  claimed   boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE cabinet.cold_leftover IS 'Files to be removed: those that were replaced, and those whose writing has begun, until they are listed.';

CREATE TABLE cabinet.cold_hold (
  event_id bigint PRIMARY KEY,
  until    timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.cold_hold IS 'Events whose rows stay for now, because something is about to be done with them.';
