-- Rows that the database refuses are set aside like those that the program cannot plan, and all of them are retried.

ALTER TABLE cabinet.row_set_aside
  ADD COLUMN refused  boolean NOT NULL DEFAULT false,
  ADD COLUMN partial  boolean NOT NULL DEFAULT false,
  ADD COLUMN attempts integer NOT NULL DEFAULT 1,
  ADD COLUMN retry_at timestamptz NOT NULL DEFAULT cabinet.now();
COMMENT ON COLUMN cabinet.row_set_aside.refused IS 'Whether the database refuses the row; otherwise the program cannot plan it.';
COMMENT ON COLUMN cabinet.row_set_aside.partial IS 'Whether the table has the row without the fields that have no column.';
COMMENT ON COLUMN cabinet.row_set_aside.attempts IS 'How often it was tried; the interval doubles each time, up to an hour.';

CREATE INDEX row_set_aside_due ON cabinet.row_set_aside (retry_at);
