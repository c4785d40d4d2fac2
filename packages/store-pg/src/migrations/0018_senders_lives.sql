-- An intake address that still works for a while after its rotation, and how many requests were refused because of a rate.

ALTER TABLE cabinet.source
  ADD COLUMN old_secret_hash bytea,
  ADD COLUMN old_secret_until timestamptz,
  ADD CONSTRAINT old_secret_ends CHECK ((old_secret_hash IS NULL) = (old_secret_until IS NULL));
COMMENT ON COLUMN cabinet.source.old_secret_hash IS 'Of the secret before the last rotation: requests to that address are accepted until old_secret_until.';

CREATE INDEX source_by_old_secret ON cabinet.source (old_secret_hash) WHERE old_secret_hash IS NOT NULL;

CREATE TABLE cabinet.limited_requests (
  source_id bigint PRIMARY KEY,
  count     bigint NOT NULL,
  since     timestamptz NOT NULL,
  last_at   timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.limited_requests IS 'Requests refused with 429, by source; counted from the beginning after a day without any.';
