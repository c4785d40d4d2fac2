-- What a run of a poll read, but deserves a look. Null: a run of an earlier version, or one without doubts.

ALTER TABLE cabinet.poll_run ADD COLUMN doubts json;
COMMENT ON COLUMN cabinet.poll_run.doubts IS 'A list of kind, count, places and message, as in the report of an import.';
