-- What a source keeps of its requests besides the body, the headers that all sources keep, and the client's address.

ALTER TABLE cabinet.source
  ADD COLUMN keep_headers text[] NOT NULL DEFAULT '{}',
  ADD COLUMN header_fields text[] NOT NULL DEFAULT '{}',
  ADD COLUMN keep_query boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.source.keep_headers IS 'Names of headers, or prefixes that end with *.';
COMMENT ON COLUMN cabinet.source.header_fields IS 'Headers that become fields of the event under these names.';

CREATE OR REPLACE TRIGGER bump_version
  BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name, keep_headers, header_fields, keep_query
  ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();

ALTER TABLE cabinet.original_request
  ADD COLUMN headers json,
  ADD COLUMN query text;
COMMENT ON COLUMN cabinet.original_request.headers IS 'The headers that the source keeps, by lower-case name; NULL if there are none.';
COMMENT ON COLUMN cabinet.original_request.query IS 'The query string as sent, where the source keeps it.';
