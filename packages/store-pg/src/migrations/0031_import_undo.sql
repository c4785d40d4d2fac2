-- Which events an import has made, so that it can be undone as one; and what became of that.

CREATE TABLE cabinet.import_slice (
  import_id bigint NOT NULL,
  first     bigint NOT NULL,
  rows      bigint NOT NULL,
  epoch     bigint NOT NULL,
  xid       bigint NOT NULL,
  first_id  bigint NOT NULL,
  last_id   bigint NOT NULL,
  PRIMARY KEY (import_id, first)
);
COMMENT ON TABLE cabinet.import_slice IS 'Rows of a file that were accepted together: their events are those of the source with this epoch, transaction and range of ids.';

CREATE TABLE cabinet.import_undo (
  import_id   bigint PRIMARY KEY,
  state       text NOT NULL DEFAULT 'undoing' CHECK (state IN ('undoing', 'undone')),
  position    bigint NOT NULL DEFAULT 0,
  events      bigint NOT NULL DEFAULT 0,
  columns     json NOT NULL DEFAULT '[]',
  kept        json NOT NULL DEFAULT '[]',
  actor_kind  text,
  actor_id    bigint,
  actor_name  text,
  started_at  timestamptz NOT NULL DEFAULT cabinet.now(),
  finished_at timestamptz
);
CREATE INDEX import_undo_open ON cabinet.import_undo (import_id) WHERE state = 'undoing';
COMMENT ON COLUMN cabinet.import_undo.position IS 'The rows of the file before it are gone through; moved in the transaction that moves their events to the trash.';
