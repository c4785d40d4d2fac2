-- The provider whose question about the intake address a source answers.

ALTER TABLE cabinet.source
  ADD COLUMN challenge        text CHECK (challenge IN ('meta', 'x', 'graph', 'dropbox')),
  ADD COLUMN challenge_secret text;
COMMENT ON COLUMN cabinet.source.challenge_secret IS 'The verify token of meta, the consumer secret of x; the others have none.';

CREATE OR REPLACE TRIGGER bump_version
  BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name, keep_headers, header_fields, keep_query,
    verify, verify_secret, verify_old_secret, challenge, challenge_secret
  ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();
