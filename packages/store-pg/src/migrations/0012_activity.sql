-- What happened in each hour, counted once behind the feed and the log of attempts, so that no screen counts events.

CREATE TABLE cabinet.activity (
  hour          timestamptz NOT NULL,
  source_id     bigint NOT NULL,
  events        bigint NOT NULL,
  repeats       bigint NOT NULL,
  empties       bigint NOT NULL,
  history       bigint NOT NULL,
  last_at       timestamptz NOT NULL,
  last_event_id bigint NOT NULL,
  PRIMARY KEY (hour, source_id)
);
CREATE INDEX activity_of_source ON cabinet.activity (source_id, hour);
COMMENT ON TABLE cabinet.activity IS 'Events by the hour (UTC) that they were received in, trashed and purged ones too.';

CREATE TABLE cabinet.attempt_activity (
  hour       timestamptz NOT NULL,
  address_id bigint NOT NULL,
  within     integer NOT NULL,
  attempts   bigint NOT NULL,
  PRIMARY KEY (hour, address_id, within)
);
COMMENT ON COLUMN cabinet.attempt_activity.within IS 'Milliseconds within which the attempt was delivered, one of a few steps; 0 for failed ones.';

CREATE TABLE cabinet.activity_cursor (
  singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  epoch          bigint NOT NULL,
  xid            bigint NOT NULL,
  id             bigint NOT NULL,
  attempts_until timestamptz
);
COMMENT ON TABLE cabinet.activity_cursor IS 'The last event that is counted, and the time before which attempts are; moved in the transaction that counts.';

INSERT INTO cabinet.activity_cursor (epoch, xid, id) VALUES (0, 0, 0);
