-- What an import read, but deserves a look. Null: an import of an earlier version, or one without doubts.

ALTER TABLE cabinet.import ADD COLUMN doubts json;
COMMENT ON COLUMN cabinet.import.doubts IS 'A list of kind, count, places and message, as in the report of an import.';
