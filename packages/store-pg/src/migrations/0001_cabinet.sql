-- The cabinet's own house: what a source is, what has been accepted, and what remembers a repeat.
-- Ids end at 2^53 - 1, so that every number we print is exact in every JSON reader.

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

-- Epochs -----------------------------------------------------------------------------------------------------------
-- A restore, a point-in-time recovery or a failover may set transaction ids back. Each begins an epoch, and an event's
-- place in the feed is (epoch, xid, id), so that no new event can come to stand below a cursor a client holds.
--
-- An epoch is one life of one server process: whatever sets the counter back, a copy of the files put back in place or a
-- standby promoted, has begun with a start of the server, and there is no reliable mark of it but that. Epochs are
-- numbered by the microsecond since 2026 at which they begin: a database that is set back has forgotten its latest epochs,
-- and must not give their numbers again while clients hold cursors in them.

CREATE TABLE cabinet.epoch (
  epoch             bigint PRIMARY KEY,
  system_identifier text NOT NULL,
  server_started    timestamptz NOT NULL,
  began_at          timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- True when the epoch is of this very server, and its transaction ids are still below the counter.
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

-- Called at every new connection that accepts events, before its first event; begins an epoch if need be. A standby is
-- refused: what it will be after its promotion is not known yet.
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
      -- The fence, alone: no accept of the epoch that ends is under way when the next begins.
      PERFORM pg_advisory_xact_lock(1684235107, 1);
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
-- Refuses, as a server that is going away would, when this server has begun none: then the connection underneath was
-- led to another server without our noticing.
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
  rows_waiting  boolean NOT NULL DEFAULT false,
  version       integer NOT NULL DEFAULT 1
);
COMMENT ON COLUMN cabinet.source.secret_hash IS 'sha256 of the intake secret: what a request is looked up by, so that the comparison takes no time that tells.';
COMMENT ON COLUMN cabinet.source.version IS 'Moves with every change that makes a submission parsed before it void: accept refuses another version.';
COMMENT ON COLUMN cabinet.source.rows_waiting IS 'True while rows of this source wait in cabinet.waiting_row: later rows queue behind them.';

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
  chosen     boolean NOT NULL DEFAULT false,
  event_id   bigint,
  created_at timestamptz NOT NULL DEFAULT cabinet.now(),
  PRIMARY KEY (source_id, name)
);
COMMENT ON COLUMN cabinet.field_column.label IS 'The operator''s own label; null while it is the field''s name.';
COMMENT ON COLUMN cabinet.field_column.chosen IS 'True when an operator chose the type: then a text that spells such a value exactly is taken too.';
COMMENT ON COLUMN cabinet.field_column.event_id IS 'The event that brought the column about.';
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
  original_id bigint,
  deleted_at  timestamptz,
  purged_at   timestamptz,
  channel     text NOT NULL CHECK (channel IN ('webhook', 'file', 'pull')),
  history     boolean NOT NULL,
  empty       boolean NOT NULL,
  payload     json NOT NULL,
  bytes       integer NOT NULL GENERATED ALWAYS AS (octet_length(payload::text)) STORED
);
ALTER SEQUENCE cabinet.event_id OWNED BY cabinet.event.id;
-- Each serves the feed with and without a channel: without one it is merged of three.
CREATE INDEX event_position ON cabinet.event (channel, epoch, xid, id);
CREATE INDEX event_position_of_source ON cabinet.event (source_id, channel, epoch, xid, id);
CREATE INDEX event_repeat ON cabinet.event (repeat_of) WHERE repeat_of IS NOT NULL;
COMMENT ON COLUMN cabinet.event.purged_at IS 'When what was sent was erased for good; the payload is {} since.';
COMMENT ON COLUMN cabinet.event.payload IS 'json, not jsonb: the order of keys and the digits of numbers stay as they were sent.';
COMMENT ON COLUMN cabinet.event.bytes IS 'Of the payload, so that a page of the feed knows its size before it reads one.';

-- Few and long pieces: each argument of concat costs as much as a short value. What nearly every event ends with is one.
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

CREATE TABLE cabinet.original (
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
CREATE SEQUENCE cabinet.original_id OWNED BY cabinet.original.id;
COMMENT ON COLUMN cabinet.original.body IS 'The first 65,536 bytes as received, before any decoding of text.';

-- The first event of a body within the repeat window, by source. Old marks are emptied in small bites, off the hot path.
CREATE TABLE cabinet.repeat_mark (
  source_id   bigint NOT NULL,
  fingerprint bytea NOT NULL,
  first_id    bigint NOT NULL,
  first_at    timestamptz NOT NULL,
  PRIMARY KEY (source_id, fingerprint)
) WITH (fillfactor = 80);
CREATE INDEX repeat_mark_age ON cabinet.repeat_mark USING brin (first_at);

-- Rows of events that were accepted while their table was locked or could not be altered; they follow in order.
CREATE TABLE cabinet.waiting_row (
  event_id  bigint PRIMARY KEY,
  source_id bigint NOT NULL
);
CREATE INDEX waiting_row_of_source ON cabinet.waiting_row (source_id, event_id);

-- Partitions -------------------------------------------------------------------------------------------------------

-- Makes the daily partitions of `parent` from yesterday to `ahead` days ahead; safe to call again and at once. Made and
-- then attached: CREATE TABLE … PARTITION OF would wait for every reader of the parent, and all inserts behind it.
CREATE FUNCTION cabinet.make_partitions(parent regclass, ahead integer DEFAULT 14) RETURNS integer LANGUAGE plpgsql
  AS $$
    DECLARE
      today date := (cabinet.now() AT TIME ZONE 'UTC')::date;
      day   date;
      short text := (SELECT relname FROM pg_class WHERE oid = parent);
      name  text;
      made  integer := 0;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('cabinet.make_partitions', 0));
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
SELECT cabinet.make_partitions('cabinet.original');

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

-- Requests of the current clock minute by whom they are counted for. Unlogged: counts start over after a database crash.
CREATE UNLOGGED TABLE cabinet.rate_window (
  subject text NOT NULL PRIMARY KEY,
  minute  timestamptz NOT NULL,
  count   integer NOT NULL,
  last_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Logins of the reader and the author, made with the database: any process that knows the owner's address can use them.
CREATE TABLE cabinet.login (
  role     text PRIMARY KEY,
  password text NOT NULL
);
