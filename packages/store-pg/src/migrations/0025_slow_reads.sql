-- Which reads of tables were slow, by the index that would serve them.

CREATE TABLE cabinet.slow_read (
  schema_name  text NOT NULL,
  table_name   text NOT NULL,
  columns      text[] NOT NULL,
  count        bigint NOT NULL,
  total_millis float8 NOT NULL,
  worst_millis float8 NOT NULL,
  since        timestamptz NOT NULL,
  last_at      timestamptz NOT NULL,
  PRIMARY KEY (schema_name, table_name, columns)
);
COMMENT ON TABLE cabinet.slow_read IS 'Counted from the beginning after a week without any; at most 500.';
COMMENT ON COLUMN cabinet.slow_read.columns IS 'Of the index that would serve such reads. Values are nowhere.';
