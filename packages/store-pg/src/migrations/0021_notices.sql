-- Notices: what happened to the cabinet, told as events of a source of its own.

CREATE TABLE cabinet.notice_source (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  source_id bigint NOT NULL REFERENCES cabinet.source,
  since     timestamptz NOT NULL,
  round_at  timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.notice_source IS 'Where notices are told; no row until they were switched on. They are on while this source is neither archived nor deleted.';
COMMENT ON COLUMN cabinet.notice_source.since IS 'When they were switched on last: what happened before is not told.';
COMMENT ON COLUMN cabinet.notice_source.round_at IS 'When some process began to look last; one a minute does.';

CREATE TABLE cabinet.notice (
  kind     text NOT NULL,
  subject  bigint NOT NULL,
  instance text NOT NULL,
  since    timestamptz,
  ends     boolean NOT NULL,
  told_at  timestamptz NOT NULL DEFAULT cabinet.now(),
  PRIMARY KEY (kind, subject, instance)
);
COMMENT ON TABLE cabinet.notice IS 'Causes that were told, each in the transaction of its event. One that ends is removed then, so that it is told again when it returns.';

CREATE INDEX notice_ending ON cabinet.notice (kind) WHERE ends;

INSERT INTO cabinet.job_lock (name) VALUES ('notices');

ALTER TABLE cabinet.poll ADD COLUMN failing_since timestamptz;
COMMENT ON COLUMN cabinet.poll.failing_since IS 'The first failed run since the last successful one.';
UPDATE cabinet.poll SET failing_since = cabinet.now() WHERE failures > 0;
