-- The audit log: what somebody set out to do, written before it is done, and what came of it. Kept by day, as attempts are.

CREATE SEQUENCE cabinet.audit_id MAXVALUE 9007199254740991;
CREATE TABLE cabinet.audit (
  id         bigint NOT NULL DEFAULT nextval('cabinet.audit_id'),
  at         timestamptz NOT NULL DEFAULT cabinet.now(),
  actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'token', 'cli', 'program')),
  actor_id   bigint,
  actor_name text NOT NULL,
  role       text NOT NULL,
  client     text,
  request_id text,
  action     text NOT NULL,
  object     text,
  changes    json NOT NULL,
  ended_at   timestamptz,
  outcome    text,
  PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);
ALTER SEQUENCE cabinet.audit_id OWNED BY cabinet.audit.id;
COMMENT ON TABLE cabinet.audit IS 'An entry without an outcome is of an act that is under way, or whose process was killed.';
COMMENT ON COLUMN cabinet.audit.changes IS 'The fields that were asked for, without secrets.';
SELECT cabinet.make_partitions('cabinet.audit');
INSERT INTO cabinet.job_lock (name) VALUES ('old partitions of audit');
