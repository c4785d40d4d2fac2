-- The cabinet's own schema: sources, accepted events, and the repeat windows that recognize repeats. Ids end at 2^53 - 1,
-- so that every number we print is exact in every JSON reader.

CREATE SCHEMA IF NOT EXISTS cabinet;
CREATE SCHEMA sources;
REVOKE ALL ON SCHEMA cabinet FROM PUBLIC;

-- Time -------------------------------------------------------------------------------------------------------------

CREATE TABLE cabinet.clock (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  shift interval NOT NULL DEFAULT '0'
);
INSERT INTO cabinet.clock DEFAULT VALUES;
COMMENT ON TABLE cabinet.clock IS 'Moves cabinet.now(), so that days can pass in a test. Always zero in service.';

CREATE FUNCTION cabinet.now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$ SELECT clock_timestamp() + shift FROM cabinet.clock $$;

CREATE FUNCTION cabinet.rfc3339(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE STRICT
  AS $$ SELECT btrim(to_json(at AT TIME ZONE 'UTC')::text, '"') || 'Z' $$;
COMMENT ON FUNCTION cabinet.rfc3339 IS 'A moment in UTC; a fraction of a second only where it is not zero.';

-- Locks and secrets --------------------------------------------------------------------------------------------------
-- Locks that require a privilege. Any role that can log in to a database may take any advisory lock in it, for as long as
-- it likes; a lock on a table or a row requires a privilege on the table, and only the owner has one in this schema.

-- Jobs that one process runs at a time: within a transaction by a row lock, across several until a point in time.
CREATE TABLE cabinet.job_lock (
  name         text PRIMARY KEY,
  locked_until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO cabinet.job_lock (name) VALUES
  ('partitions'), ('source tables'), ('roles'),
  ('old partitions of original_request'), ('old partitions of attempt_delivered'), ('old partitions of attempt_failed');

-- Equal bodies queue on advisory locks, because every other lock assigns a transaction id. Their keys are derived from a
-- secret, so that nobody can take one beforehand. Cursors are signed with a key that moves with the database.
CREATE TABLE cabinet.secret (
  purpose text PRIMARY KEY,
  bytes   bytea NOT NULL
);
INSERT INTO cabinet.secret (purpose, bytes)
  SELECT purpose, sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea)
  FROM unnest(ARRAY['body locks', 'cursors']) purpose;

-- Epochs -----------------------------------------------------------------------------------------------------------
-- A restore, a point-in-time recovery or a failover may set transaction ids back. Each begins an epoch, and an event's
-- position in the feed is (epoch, xid, id), so that no new event can end up below a cursor that a client holds.
--
-- An epoch is one life of one server process: whatever sets the counter back, whether a copy of the files put back in
-- place or the promotion of a standby, involved a start of the server, and that is the only reliable mark of it. Epochs
-- are numbered by the microsecond since 2026 at which they begin: a database that was set back has lost its latest
-- epochs, and must not assign their numbers again while clients hold cursors in them.

CREATE TABLE cabinet.epoch (
  epoch             bigint PRIMARY KEY,
  system_identifier text NOT NULL,
  server_started    timestamptz NOT NULL,
  began_at          timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- True if the epoch belongs to this very server, and its transaction ids are still below the counter.
CREATE FUNCTION cabinet.epoch_holds(known cabinet.epoch) RETURNS boolean LANGUAGE plpgsql VOLATILE
  AS $$
    BEGIN
      RETURN known.epoch IS NOT NULL AND known.server_started = pg_postmaster_start_time()
        AND known.system_identifier = (SELECT system_identifier::text FROM pg_control_system())
        AND NOT EXISTS (
          SELECT FROM unnest(ARRAY['webhook', 'file', 'pull']) c CROSS JOIN LATERAL (
            SELECT e.xid FROM cabinet.event e WHERE e.channel = c AND e.epoch = known.epoch ORDER BY e.xid DESC LIMIT 1
          ) e WHERE e.xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint);
    END
  $$;

-- The fence of the feed: every accept locks it in ROW SHARE mode, by naming it in its statement, and therefore before it
-- has a transaction id. It contains nothing. Neither a dump (ACCESS SHARE) nor VACUUM or ANALYZE conflicts with that
-- lock.
CREATE TABLE cabinet.fence ();
COMMENT ON TABLE cabinet.fence IS 'Empty. Its lock is the fence of the feed.';

-- Holds the fence exclusively until the end of the transaction: no accept is in flight, and none begins.
CREATE FUNCTION cabinet.close_fence() RETURNS void LANGUAGE sql VOLATILE
  AS $$ LOCK TABLE cabinet.fence IN EXCLUSIVE MODE $$;

-- Called on every new connection that accepts events, before its first event; begins an epoch if necessary. A standby is
-- refused: its epoch after a promotion is not known yet.
CREATE FUNCTION cabinet.check_epoch() RETURNS bigint LANGUAGE plpgsql VOLATILE
  AS $$
    DECLARE
      known cabinet.epoch;
    BEGIN
      IF pg_is_in_recovery() THEN
        RAISE 'a standby accepts no events' USING ERRCODE = 'read_only_sql_transaction';
      END IF;
      SELECT * INTO known FROM cabinet.epoch ORDER BY epoch DESC LIMIT 1;
      IF cabinet.epoch_holds(known) THEN RETURN known.epoch; END IF;
      -- No accept of the epoch that ends is under way when the next begins.
      PERFORM cabinet.close_fence();
      SELECT * INTO known FROM cabinet.epoch ORDER BY epoch DESC LIMIT 1;
      IF cabinet.epoch_holds(known) THEN RETURN known.epoch; END IF;
      INSERT INTO cabinet.epoch (epoch, system_identifier, server_started)
        SELECT greatest(coalesce(known.epoch, 0) + 1,
                        (extract(epoch FROM clock_timestamp() - '2026-01-01 00:00:00+00') * 1000000)::bigint),
               system_identifier, pg_postmaster_start_time()
        FROM pg_control_system()
        RETURNING epoch INTO known.epoch;
      RETURN known.epoch;
    END
  $$;

-- The epoch that an accept of this moment belongs to. Volatile, so that it sees one that began while the accept waited.
-- If this server has begun none, it refuses as a server that shuts down would: the connection was then redirected to
-- another server without our noticing.
CREATE FUNCTION cabinet.current_epoch() RETURNS bigint LANGUAGE plpgsql VOLATILE
  AS $$
    DECLARE
      known cabinet.epoch;
    BEGIN
      SELECT * INTO known FROM cabinet.epoch ORDER BY epoch DESC LIMIT 1;
      IF known.server_started IS DISTINCT FROM pg_postmaster_start_time() THEN
        RAISE 'this server has begun no epoch of the feed yet' USING ERRCODE = '57PE0';
      END IF;
      RETURN known.epoch;
    END
  $$;

-- A database may be set back while its server keeps running: clients are directed to a promoted standby and back again,
-- or a machine is restored with its memory. The server cannot notice; the proof is a client's cursor with a position that
-- the database never had. Events accepted after such a proof belong to an epoch of their own.
CREATE TABLE cabinet.setback (
  epoch      bigint PRIMARY KEY REFERENCES cabinet.epoch,
  seen_epoch bigint NOT NULL,
  seen_xid   bigint NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE cabinet.setback IS 'Epochs of the feed that began because a client had a cursor from a future that this database does not know.';

-- Begins an epoch above a position that a client saw, unless one has begun since. Only for a position that this database
-- is known not to have had. Returns true if the server kept running meanwhile: after a restore and a start, a new epoch
-- is expected anyway.
CREATE FUNCTION cabinet.begin_epoch_above(seen_epoch bigint, seen_xid bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE
  AS $$
    DECLARE
      known cabinet.epoch;
      ran_on boolean;
    BEGIN
      -- No accept of the epoch that ends is under way when the next begins.
      PERFORM cabinet.close_fence();
      SELECT * INTO known FROM cabinet.epoch ORDER BY epoch DESC LIMIT 1;
      IF known.epoch > seen_epoch THEN RETURN false; END IF;
      ran_on := coalesce(known.server_started = pg_postmaster_start_time(), false);
      INSERT INTO cabinet.epoch (epoch, system_identifier, server_started)
        SELECT greatest(coalesce(known.epoch, 0) + 1, seen_epoch + 1,
                        (extract(epoch FROM clock_timestamp() - '2026-01-01 00:00:00+00') * 1000000)::bigint),
               system_identifier, pg_postmaster_start_time()
        FROM pg_control_system()
        RETURNING * INTO known;
      IF ran_on THEN
        INSERT INTO cabinet.setback (epoch, seen_epoch, seen_xid) VALUES (known.epoch, seen_epoch, seen_xid);
      END IF;
      RETURN ran_on;
    END
  $$;

-- Sources ----------------------------------------------------------------------------------------------------------

CREATE TABLE cabinet.source (
  id            bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  name          text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT cabinet.now(),
  archived_at   timestamptz,
  deleted_at    timestamptz,
  intake_secret text NOT NULL,
  secret_hash   bytea NOT NULL UNIQUE,
  encoding      text CHECK (encoding IN ('utf-8', 'windows-1251', 'latin-1')),
  thanks_url    text,
  table_name    text UNIQUE,
  rows_deferred  boolean NOT NULL DEFAULT false,
  version       integer NOT NULL DEFAULT 1
);
COMMENT ON COLUMN cabinet.source.secret_hash IS 'sha256 of the intake secret: what a request is looked up by, so that the comparison takes no time that tells.';
COMMENT ON COLUMN cabinet.source.version IS 'Moves with every change that makes a submission parsed before it void: accept refuses another version.';
COMMENT ON COLUMN cabinet.source.rows_deferred IS 'True while rows of this source wait in cabinet.deferred_row: later rows queue behind them.';

CREATE FUNCTION cabinet.bump_source_version() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$;
CREATE TRIGGER bump_version BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name ON cabinet.source
  FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();

CREATE TABLE cabinet.field_column (
  source_id  bigint NOT NULL REFERENCES cabinet.source,
  position   integer NOT NULL,
  field      text NOT NULL,
  name       text NOT NULL,
  type       text NOT NULL CHECK (type IN ('numeric', 'text', 'boolean', 'jsonb', 'date', 'timestamptz')),
  label      text,
  type_pinned boolean NOT NULL DEFAULT false,
  created_by_event_id bigint,
  created_at timestamptz NOT NULL DEFAULT cabinet.now(),
  PRIMARY KEY (source_id, name)
);
COMMENT ON COLUMN cabinet.field_column.label IS 'A label given by hand; null while it is the field''s name.';
COMMENT ON COLUMN cabinet.field_column.type_pinned IS 'True when the type was chosen by hand: then a text that spells such a value exactly is taken too.';
COMMENT ON COLUMN cabinet.field_column.created_by_event_id IS 'The event that brought the column about.';
COMMENT ON TABLE cabinet.field_column IS 'Which column takes which field of a source; a field has one column a type (the later ones are siblings).';

-- Events -----------------------------------------------------------------------------------------------------------

CREATE SEQUENCE cabinet.event_id MAXVALUE 9007199254740991;
CREATE TABLE cabinet.event (
  epoch       bigint NOT NULL,
  xid         bigint NOT NULL,
  id          bigint NOT NULL PRIMARY KEY,
  source_id   bigint NOT NULL,
  received_at timestamptz NOT NULL,
  repeat_of   bigint,
  original_request_id bigint,
  deleted_at  timestamptz,
  purged_at   timestamptz,
  channel     text NOT NULL CHECK (channel IN ('webhook', 'file', 'pull')),
  history     boolean NOT NULL,
  empty       boolean NOT NULL,
  payload     json NOT NULL,
  bytes       integer NOT NULL GENERATED ALWAYS AS (octet_length(payload::text)) STORED
);
ALTER SEQUENCE cabinet.event_id OWNED BY cabinet.event.id;
-- Each serves the feed with and without a channel: without one, three scans are merged.
CREATE INDEX event_position ON cabinet.event (channel, epoch, xid, id);
CREATE INDEX event_position_of_source ON cabinet.event (source_id, channel, epoch, xid, id);
CREATE INDEX event_repeat ON cabinet.event (repeat_of) WHERE repeat_of IS NOT NULL;
COMMENT ON COLUMN cabinet.event.purged_at IS 'When what was sent was erased for good; the payload is {} since.';
COMMENT ON COLUMN cabinet.event.payload IS 'json, not jsonb: the order of keys and the digits of numbers stay as they were sent.';
COMMENT ON COLUMN cabinet.event.bytes IS 'Of the payload, so that a page of the feed knows its size before it reads one.';

-- Few and long pieces: each argument of concat costs as much as a short value. The common ending of nearly every event is
-- one.
CREATE FUNCTION cabinet.event_json(
  id bigint, source text, channel text, received_at timestamptz, payload json,
  repeat_of bigint, history boolean, deleted_at timestamptz
) RETURNS text LANGUAGE sql STABLE
  AS $$
    SELECT concat('{"id":', id, ',"source":', source, ',"channel":"', channel, '","received_at":',
      left(to_json(received_at AT TIME ZONE 'UTC')::text, -1), 'Z","payload":', payload,
      CASE WHEN repeat_of IS NULL AND deleted_at IS NULL AND NOT history
        THEN ',"repeat_of":null,"history":false,"deleted_at":null}'
        ELSE concat(',"repeat_of":', coalesce(repeat_of::text, 'null'), ',"history":', history::text,
          ',"deleted_at":', coalesce('"' || cabinet.rfc3339(deleted_at) || '"', 'null'), '}') END)
  $$;
COMMENT ON FUNCTION cabinet.event_json(bigint, text, text, timestamptz, json, bigint, boolean, timestamptz) IS
  'The Event of the API, for deliveries and for one event alone; Node writes the same text for a page of the feed. The source is given as JSON.';

CREATE FUNCTION cabinet.source_json(id bigint, name text) RETURNS text LANGUAGE sql STABLE
  AS $$ SELECT concat('{"id":', id, ',"name":', to_json(name), '}') $$;

CREATE FUNCTION cabinet.event_json(e cabinet.event, source_name text) RETURNS text LANGUAGE sql STABLE
  AS $$
    SELECT cabinet.event_json(e.id, cabinet.source_json(e.source_id, source_name), e.channel, e.received_at, e.payload,
      e.repeat_of, e.history, e.deleted_at)
  $$;

CREATE TABLE cabinet.original_request (
  id              bigint NOT NULL,
  received_at     timestamptz NOT NULL,
  source_id       bigint NOT NULL,
  body            bytea NOT NULL,
  body_bytes      integer NOT NULL,
  content_type    text,
  ip              text,
  referer         text,
  origin          text,
  user_agent      text,
  accept_language text,
  charset         text NOT NULL,
  charset_from    text NOT NULL,
  replaced        integer NOT NULL,
  PRIMARY KEY (id, received_at)
) PARTITION BY RANGE (received_at);
CREATE SEQUENCE cabinet.original_request_id OWNED BY cabinet.original_request.id;
COMMENT ON COLUMN cabinet.original_request.body IS 'The first 65,536 bytes as received, before any decoding of text.';

-- The first event of a body within the repeat window, by source. Expired ones are deleted in small batches, off the hot
-- path.
CREATE TABLE cabinet.repeat_window (
  source_id   bigint NOT NULL,
  fingerprint bytea NOT NULL,
  first_id    bigint NOT NULL,
  first_at    timestamptz NOT NULL,
  PRIMARY KEY (source_id, fingerprint)
) WITH (fillfactor = 80);
CREATE INDEX repeat_window_age ON cabinet.repeat_window USING brin (first_at);

-- Rows of events that were accepted while their table was locked or could not be altered; they are written later, in
-- order.
CREATE TABLE cabinet.deferred_row (
  event_id  bigint PRIMARY KEY,
  source_id bigint NOT NULL
);
CREATE INDEX deferred_row_of_source ON cabinet.deferred_row (source_id, event_id);

-- A row that the program cannot plan because of a defect is set aside: its event is intact, the rows behind it continue,
-- doctor names it, and each process that starts tries it again.
CREATE TABLE cabinet.row_set_aside (
  event_id     bigint PRIMARY KEY,
  source_id    bigint NOT NULL,
  reason       text NOT NULL,
  set_aside_at timestamptz NOT NULL DEFAULT cabinet.now()
);

-- Partitions -------------------------------------------------------------------------------------------------------

-- Creates the daily partitions of `parent` from yesterday to `ahead` days ahead; safe to repeat and to run concurrently.
-- They are created and then attached: CREATE TABLE … PARTITION OF would wait for every reader of the parent, and all
-- inserts behind it.
CREATE FUNCTION cabinet.make_partitions(parent regclass, ahead integer DEFAULT 14) RETURNS integer LANGUAGE plpgsql
  AS $$
    DECLARE
      today date := (cabinet.now() AT TIME ZONE 'UTC')::date;
      day   date;
      short text := (SELECT relname FROM pg_class WHERE oid = parent);
      name  text;
      made  integer := 0;
    BEGIN
      PERFORM FROM cabinet.job_lock l WHERE l.name = 'partitions' FOR UPDATE;
      FOR day IN SELECT today + n FROM generate_series(-1, ahead) n LOOP
        name := short || '_' || to_char(day, 'YYYYMMDD');
        IF to_regclass(format('cabinet.%I', name)) IS NULL THEN
          EXECUTE format('CREATE TABLE cabinet.%I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', name, parent);
          EXECUTE format('ALTER TABLE %s ATTACH PARTITION cabinet.%I FOR VALUES FROM (%L) TO (%L)', parent, name,
            day::text || ' 00:00:00+00', (day + 1)::text || ' 00:00:00+00');
          made := made + 1;
        END IF;
      END LOOP;
      RETURN made;
    END
  $$;
SELECT cabinet.make_partitions('cabinet.original_request');

-- Keys -------------------------------------------------------------------------------------------------------------

CREATE TABLE cabinet.api_key (
  id              bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  name            text NOT NULL,
  prefix          text NOT NULL,
  fingerprint     bytea NOT NULL UNIQUE,
  created_at      timestamptz NOT NULL DEFAULT cabinet.now(),
  revoked_at      timestamptz,
  last_request_at timestamptz
);
COMMENT ON COLUMN cabinet.api_key.fingerprint IS 'sha256 of the whole key; the key itself is shown once and kept nowhere.';

CREATE TABLE cabinet.upload_token (
  id           bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  name         text NOT NULL,
  prefix       text NOT NULL,
  fingerprint  bytea NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT cabinet.now(),
  revoked_at   timestamptz,
  last_used_at timestamptz
);
COMMENT ON COLUMN cabinet.upload_token.fingerprint IS 'sha256 of the whole token; the token itself is shown once and kept nowhere.';

-- Requests of the current clock minute by subject. Unlogged: counts start over after a database crash.
CREATE UNLOGGED TABLE cabinet.rate_window (
  subject text NOT NULL PRIMARY KEY,
  minute  timestamptz NOT NULL,
  count   integer NOT NULL,
  last_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Deliveries --------------------------------------------------------------------------------------------------------
-- Delivery addresses, pending deliveries, and the outcome of each attempt.
--
-- A delivery that succeeds at its first attempt, as nearly all do, leaves the queue: from then on that attempt holds all
-- of it. So the table of deliveries and its indexes hold only the pending ones and the few that took longer, however much
-- is delivered; settling one adds to none of its indexes; and a completed delivery is dropped with its day of the log.

CREATE TABLE cabinet.address (
  id                    bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  url                   text NOT NULL,
  secret                text NOT NULL,
  previous_secret       text,
  previous_secret_until timestamptz,
  every_source          boolean NOT NULL,
  created_at            timestamptz NOT NULL DEFAULT cabinet.now(),
  paused_at             timestamptz,
  failing_since         timestamptz,
  removed_at            timestamptz
);
COMMENT ON COLUMN cabinet.address.failing_since IS 'Set by a failed attempt, emptied by a delivered one: a failing address is served in a lane of its own, so that it costs the others nothing.';
CREATE TABLE cabinet.address_source (
  address_id bigint NOT NULL REFERENCES cabinet.address,
  source_id  bigint NOT NULL REFERENCES cabinet.source,
  PRIMARY KEY (address_id, source_id)
);

CREATE SEQUENCE cabinet.delivery_id MAXVALUE 9007199254740991;
-- A claim is a lease in a column of its own, which no index contains, and each page has room for a second version of
-- every row: so claiming a delivery touches no index. Each settled one leaves a dead entry at the front of the index of
-- due deliveries, which every claim skips until the table is vacuumed; PostgreSQL's default threshold, a fifth of the
-- table, is far too late for that.
CREATE TABLE cabinet.delivery (
  id         bigint NOT NULL PRIMARY KEY DEFAULT nextval('cabinet.delivery_id'),
  address_id bigint NOT NULL,
  event_id   bigint,
  type       text NOT NULL DEFAULT 'event.received' CHECK (type IN ('event.received', 'ping')),
  state      text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'delivered', 'failed', 'cancelled')),
  attempts   integer NOT NULL DEFAULT 0,
  failures   integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  due_at     timestamptz NOT NULL,
  claimed_at timestamptz,
  leased_until timestamptz
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);
ALTER SEQUENCE cabinet.delivery_id OWNED BY cabinet.delivery.id;
CREATE INDEX delivery_due ON cabinet.delivery (address_id, due_at) WHERE state = 'due';
CREATE INDEX delivery_of_event ON cabinet.delivery (event_id);
CREATE INDEX delivery_age ON cabinet.delivery USING brin (created_at);
COMMENT ON COLUMN cabinet.delivery.attempts IS 'How many attempts were begun. It moves with every claim, so that a worker whose lease ran out cannot settle what another took over.';
COMMENT ON COLUMN cabinet.delivery.failures IS 'Failed attempts since the delivery was made or sent again by hand: what the retry interval grows with.';
COMMENT ON COLUMN cabinet.delivery.due_at IS 'When it may be claimed next.';
COMMENT ON COLUMN cabinet.delivery.leased_until IS 'While it is claimed, the end of the lease: then it may be claimed again. Set and emptied together with claimed_at.';
COMMENT ON COLUMN cabinet.delivery.claimed_at IS 'When the attempt under way was begun; null while there is none.';

-- When an event goes to the trash its deliveries are cancelled, whoever deleted it and however.
CREATE FUNCTION cabinet.cancel_deliveries_of_event() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      UPDATE cabinet.delivery SET state = 'cancelled' WHERE event_id = OLD.id AND state = 'due';
      RETURN NULL;
    END
  $$;
CREATE TRIGGER cancel_deliveries AFTER UPDATE OF deleted_at ON cabinet.event
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION cabinet.cancel_deliveries_of_event();
CREATE TRIGGER cancel_deliveries_of_purged AFTER DELETE ON cabinet.event
  FOR EACH ROW EXECUTE FUNCTION cabinet.cancel_deliveries_of_event();

-- The outcome of each attempt. Failed ones are kept longer, so each kind has its own daily partitions.
CREATE TABLE cabinet.attempt (
  delivery_id bigint NOT NULL,
  number      integer NOT NULL,
  address_id  bigint NOT NULL,
  at          timestamptz NOT NULL,
  delivered   boolean NOT NULL,
  duration_ms integer NOT NULL,
  peer        text,
  status      integer,
  failure     text,
  response_body text,
  next_at     timestamptz,
  event_id    bigint,
  delivery_created_at timestamptz
) PARTITION BY LIST (delivered);
CREATE TABLE cabinet.attempt_delivered PARTITION OF cabinet.attempt FOR VALUES IN (true) PARTITION BY RANGE (at);
CREATE TABLE cabinet.attempt_failed PARTITION OF cabinet.attempt FOR VALUES IN (false) PARTITION BY RANGE (at);
CREATE INDEX attempt_of_address ON cabinet.attempt (address_id, at, delivery_id);
CREATE INDEX attempt_of_delivery ON cabinet.attempt (delivery_id);
CREATE INDEX attempt_of_event ON cabinet.attempt_delivered (event_id);
COMMENT ON COLUMN cabinet.attempt.peer IS 'The address the socket was connected to; null when no connection was made.';
COMMENT ON COLUMN cabinet.attempt.response_body IS 'The first 2,048 bytes of it, as text.';
COMMENT ON COLUMN cabinet.attempt.delivery_created_at IS 'Set, and event_id with it, where the delivery has left the queue: it was delivered by this attempt, its first.';
SELECT cabinet.make_partitions('cabinet.attempt_delivered'), cabinet.make_partitions('cabinet.attempt_failed');

CREATE VIEW cabinet.delivery_all AS
  SELECT id, address_id, event_id, type, state, attempts, created_at, due_at, leased_until FROM cabinet.delivery
  UNION ALL
  SELECT t.delivery_id, t.address_id, t.event_id, CASE WHEN t.event_id IS NULL THEN 'ping' ELSE 'event.received' END,
    'delivered', t.number, t.delivery_created_at, NULL, NULL
  FROM cabinet.attempt_delivered t
  -- One that is in the queue has not left it, or was sent again.
  WHERE NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.id = t.delivery_id);
COMMENT ON VIEW cabinet.delivery_all IS 'What is in the queue and what has left it.';

-- Imports ----------------------------------------------------------------------------------------------------------

CREATE TABLE cabinet.import (
  id          bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  source_id   bigint NOT NULL,
  channel     text NOT NULL CHECK (channel IN ('file', 'pull')),
  history     boolean NOT NULL,
  poll_id     bigint,
  name        text NOT NULL,
  sha256      bytea,
  bytes       bigint NOT NULL DEFAULT 0,
  once        boolean NOT NULL DEFAULT false,
  state       text NOT NULL CHECK (state IN ('staging', 'accepting', 'done', 'failed')),
  staged      bigint NOT NULL DEFAULT 0,
  accepted    bigint NOT NULL DEFAULT 0,
  refused     bigint NOT NULL DEFAULT 0,
  failure     text,
  created_at  timestamptz NOT NULL DEFAULT cabinet.now(),
  finished_at timestamptz,
  lease       text,
  lease_until timestamptz,
  CHECK (accepted <= staged)
) WITH (fillfactor = 50);
COMMENT ON TABLE cabinet.import IS 'One file, or what one poll found new. Rows are staged whole, then accepted in order; accepted says how far.';
COMMENT ON COLUMN cabinet.import.accepted IS 'Moved on by the accept statement itself, in the same transaction as the events: what was accepted and what is counted cannot differ.';
COMMENT ON COLUMN cabinet.import.once IS 'The same file is refused a second time for this source.';
CREATE UNIQUE INDEX import_once ON cabinet.import (source_id, sha256) WHERE once AND state <> 'failed';
CREATE INDEX import_open ON cabinet.import (source_id, id) WHERE state IN ('staging', 'accepting');

-- A row of a file before it becomes an event: n counts from 0. The key identifies a polled item when it appears again.
CREATE TABLE cabinet.staged_row (
  import_id bigint NOT NULL,
  n         bigint NOT NULL,
  empty     boolean NOT NULL,
  key       bytea,
  payload   text NOT NULL,
  PRIMARY KEY (import_id, n)
);

-- Polls ------------------------------------------------------------------------------------------------------------

CREATE TABLE cabinet.poll (
  id            bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  source_id     bigint NOT NULL,
  url           text NOT NULL,
  every_seconds integer NOT NULL CHECK (every_seconds > 0),
  format        text CHECK (format IN ('json', 'ndjson', 'csv')),
  pointer       text NOT NULL DEFAULT '',
  key_field     text,
  headers       json NOT NULL DEFAULT '[]',
  created_at    timestamptz NOT NULL DEFAULT cabinet.now(),
  paused_at     timestamptz,
  removed_at    timestamptz,
  due_at        timestamptz NOT NULL DEFAULT cabinet.now(),
  failures      integer NOT NULL DEFAULT 0,
  first_at      timestamptz,
  etag          text,
  last_modified text,
  lease         text,
  lease_until   timestamptz
);
COMMENT ON COLUMN cabinet.poll.headers IS 'Pairs of name and value. Values are secrets: sent, never listed, never logged.';
COMMENT ON COLUMN cabinet.poll.first_at IS 'When the first run was kept; what it found is history.';
CREATE INDEX poll_due ON cabinet.poll (due_at) WHERE removed_at IS NULL AND paused_at IS NULL;

-- Items that a poll has received. An item seen once never becomes an event again, so marks are kept as long as their
-- poll.
CREATE TABLE cabinet.poll_seen (
  poll_id bigint NOT NULL,
  key     bytea NOT NULL,
  PRIMARY KEY (poll_id, key)
);

CREATE TABLE cabinet.poll_run (
  id          bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  poll_id     bigint NOT NULL,
  at          timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN ('read', 'unchanged', 'failed')),
  status      integer,
  failure     text,
  peer        text,
  bytes       bigint NOT NULL DEFAULT 0,
  items       bigint NOT NULL DEFAULT 0,
  fresh       bigint NOT NULL DEFAULT 0,
  import_id   bigint,
  next_at     timestamptz
);
CREATE INDEX poll_run_of_poll ON cabinet.poll_run (poll_id, id DESC);
CREATE INDEX poll_run_age ON cabinet.poll_run USING brin (at);

-- Roles and cabinets -----------------------------------------------------------------------------------------------

-- Logins of the reader and the author, created with the database: any process that knows the owner's address can use
-- them.
CREATE TABLE cabinet.role_password (
  role     text PRIMARY KEY,
  password text NOT NULL
);

-- The cabinets of a multi-tenant server, by name. Only the server's own database uses this table.

CREATE TABLE cabinet.registered_cabinet (
  name          text PRIMARY KEY CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  database_name text UNIQUE,
  database_url  text UNIQUE,
  created_at    timestamptz NOT NULL DEFAULT cabinet.now(),
  CHECK (num_nonnulls(database_name, database_url) = 1)
);
COMMENT ON COLUMN cabinet.registered_cabinet.database_name IS 'A database made beside the server''s own, reached by the same address: that of an embedded one changes with its socket.';
COMMENT ON COLUMN cabinet.registered_cabinet.database_url IS 'A database anywhere; it may hold a password.';
