-- Followers of the feed: positions up to which work behind the feed is done, each with a lease for the process that does it.

CREATE TABLE cabinet.follower (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind         text NOT NULL,
  name         text NOT NULL,
  epoch        bigint NOT NULL,
  xid          bigint NOT NULL,
  event_id     bigint NOT NULL,
  moved_at     timestamptz,
  lease        bigint NOT NULL DEFAULT 0,
  holder       text,
  leased_until timestamptz NOT NULL DEFAULT 'epoch',
  not_before   timestamptz NOT NULL DEFAULT 'epoch',
  failures     integer NOT NULL DEFAULT 0,
  error        text,
  UNIQUE (kind, name)
);
COMMENT ON TABLE cabinet.follower IS 'Positions in the feed up to which some work is done. An older program leaves unknown kinds alone.';
COMMENT ON COLUMN cabinet.follower.event_id IS 'The last event whose work is done, with epoch and xid its place in the feed; 0 before the first.';
COMMENT ON COLUMN cabinet.follower.lease IS 'The fencing token of the latest claim: only its holder moves the position.';
COMMENT ON COLUMN cabinet.follower.holder IS 'The process that claimed it last.';
COMMENT ON COLUMN cabinet.follower.not_before IS 'Until then it rests at the end of the feed, or waits after a failure.';

CREATE TABLE cabinet.attempt_count (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  until     timestamptz
);
COMMENT ON TABLE cabinet.attempt_count IS 'The time before which attempts are counted; moved in the transaction that counts.';

-- The row moves, so that a process of the previous version finds none and counts nothing a second time.
WITH old AS (
  DELETE FROM cabinet.activity_cursor RETURNING epoch, xid, id, attempts_until
), attempts AS (
  INSERT INTO cabinet.attempt_count (until) SELECT attempts_until FROM old
)
INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id) SELECT 'activity', 'activity', epoch, xid, id FROM old;
COMMENT ON TABLE cabinet.activity_cursor IS 'Empty: the position is that of the follower "activity", and attempt_count has the time.';
