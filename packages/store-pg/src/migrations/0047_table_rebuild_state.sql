-- How the latest rebuild of each source's table goes, or how it ended.

CREATE TABLE cabinet.table_rebuild (
  source_id   bigint PRIMARY KEY REFERENCES cabinet.source,
  follower_id bigint NOT NULL,
  state       text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
  step        text NOT NULL,
  done        bigint NOT NULL,
  rows        bigint NOT NULL,
  code        text,
  message     text,
  result      jsonb,
  started_at  timestamptz NOT NULL,
  finished_at timestamptz
);
COMMENT ON TABLE cabinet.table_rebuild IS 'The latest rebuild of each table of a source.';
COMMENT ON COLUMN cabinet.table_rebuild.follower_id IS 'The follower that had its lease. It exists only while the rebuild runs.';
COMMENT ON COLUMN cabinet.table_rebuild.code IS 'Why it failed.';
COMMENT ON COLUMN cabinet.table_rebuild.result IS 'What the new table is, once it has taken the old one''s place.';
