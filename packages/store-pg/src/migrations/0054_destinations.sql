-- Destinations: places that get the events of the feed as files. Each is served by a follower.

CREATE TABLE cabinet.destination (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  follower_id   bigint NOT NULL UNIQUE REFERENCES cabinet.follower (id) ON DELETE CASCADE,
  location      text NOT NULL UNIQUE,
  format        text NOT NULL CHECK (format IN ('ndjson', 'parquet')),
  sources       bigint[],
  tag           text NOT NULL,
  created_at    timestamptz NOT NULL,
  paused_at     timestamptz,
  planned_epoch bigint,
  planned_xid   bigint,
  planned_id    bigint
);
COMMENT ON TABLE cabinet.destination IS 'Places that get the events of the feed as files.';
COMMENT ON COLUMN cabinet.destination.location IS 'A directory below the root that each process is set to.';
COMMENT ON COLUMN cabinet.destination.sources IS 'The sources whose events it gets; null for all.';
COMMENT ON COLUMN cabinet.destination.tag IS 'Begins the names of its files.';
COMMENT ON COLUMN cabinet.destination.planned_id IS 'Where the slice ends that was begun last: written before the slice, so that a process that repeats it writes the same one.';
