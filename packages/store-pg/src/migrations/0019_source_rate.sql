-- How many requests a minute a source takes, if not as many as all.

ALTER TABLE cabinet.source ADD COLUMN rate int CHECK (rate > 0);
COMMENT ON COLUMN cabinet.source.rate IS 'Requests a minute, whoever sends them; NULL: the common limits of a source and of a client address.';

CREATE OR REPLACE TRIGGER bump_version
  BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name, keep_headers, header_fields, keep_query,
    verify, verify_secret, verify_old_secret, challenge, challenge_secret, rate
  ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();
