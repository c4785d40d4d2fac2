-- Requests of the management API that were sent with an Idempotency-Key, with the response that a repeat of them is given.

INSERT INTO cabinet.secret (purpose, bytes)
  VALUES ('idempotency', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

CREATE TABLE cabinet.idempotency (
  id       bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  actor    text NOT NULL,
  key      bytea NOT NULL,
  request  bytea NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT cabinet.now(),
  response text,
  UNIQUE (actor, key)
);
CREATE INDEX idempotency_oldest ON cabinet.idempotency (begun_at);
COMMENT ON COLUMN cabinet.idempotency.key IS 'HMAC of the key, as request is one of the method, address and body.';
COMMENT ON COLUMN cabinet.idempotency.response IS 'Without secrets; null while the work is under way, or where its process was killed.';
