-- How a source's sender is verified, and how many requests were refused because of it.

ALTER TABLE cabinet.source
  ADD COLUMN verify json,
  ADD COLUMN verify_secret text,
  ADD COLUMN verify_old_secret text,
  ADD CONSTRAINT verify_has_secret CHECK ((verify IS NULL) = (verify_secret IS NULL)),
  ADD CONSTRAINT verify_has_new_secret CHECK (verify_secret IS NOT NULL OR verify_old_secret IS NULL);
COMMENT ON COLUMN cabinet.source.verify IS 'The recipe and its parameters; NULL: whoever has the intake address may send.';
COMMENT ON COLUMN cabinet.source.verify_old_secret IS 'Counts too while the sender changes from it to the other.';

CREATE OR REPLACE TRIGGER bump_version
  BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name, keep_headers, header_fields, keep_query,
    verify, verify_secret, verify_old_secret
  ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();

CREATE TABLE cabinet.refused_signature (
  source_id bigint NOT NULL,
  reason    text NOT NULL,
  count     bigint NOT NULL,
  since     timestamptz NOT NULL,
  last_at   timestamptz NOT NULL,
  PRIMARY KEY (source_id, reason)
);
COMMENT ON TABLE cabinet.refused_signature IS 'Requests refused because their sender could not be verified; counted from the beginning after a day without any.';
