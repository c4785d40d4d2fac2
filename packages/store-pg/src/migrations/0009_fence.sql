-- Locks that need a right. Anybody who can log in to a database may take any advisory lock in it, for as long as they like;
-- a lock on a table needs a right to the table, and nobody but the owner has one in this schema.

-- The fence of the feed: every accept locks it in ROW SHARE mode, by naming it in its statement, and so before it has a
-- transaction id. It holds nothing. Neither a dump (ACCESS SHARE) nor VACUUM or ANALYZE is in its way.
CREATE TABLE cabinet.fence ();
COMMENT ON TABLE cabinet.fence IS 'Empty. Its lock is the fence of the feed.';

-- The fence, alone, until the end of the transaction: no accept is under way, and none begins.
CREATE FUNCTION cabinet.close_fence() RETURNS void LANGUAGE plpgsql VOLATILE
  AS $$
    BEGIN
      LOCK TABLE cabinet.fence IN EXCLUSIVE MODE;
      -- Processes of the version before hold an advisory lock instead. A stranger who holds it can delay this, no more.
      FOR attempt IN 1 .. 100 LOOP
        EXIT WHEN pg_try_advisory_xact_lock(1684235107, 1);
        PERFORM pg_sleep(0.01);
      END LOOP;
    END
  $$;

CREATE OR REPLACE FUNCTION cabinet.check_epoch() RETURNS bigint LANGUAGE plpgsql VOLATILE
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

-- What one process does at a time: within a transaction by a lock on its row, across several until a moment.
CREATE TABLE cabinet.turn (
  name  text PRIMARY KEY,
  until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO cabinet.turn (name) VALUES
  ('partitions'), ('source tables'), ('roles'),
  ('old partitions of original'), ('old partitions of attempt_delivered'), ('old partitions of attempt_failed');

CREATE OR REPLACE FUNCTION cabinet.make_partitions(parent regclass, ahead integer DEFAULT 14) RETURNS integer LANGUAGE plpgsql
  AS $$
    DECLARE
      today date := (cabinet.now() AT TIME ZONE 'UTC')::date;
      day   date;
      short text := (SELECT relname FROM pg_class WHERE oid = parent);
      name  text;
      made  integer := 0;
    BEGIN
      PERFORM FROM cabinet.turn t WHERE t.name = 'partitions' FOR UPDATE;
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

-- Equal bodies queue on advisory locks, since nothing else locks without a transaction id. Their keys are made with a
-- secret, so that nobody can take one beforehand.
CREATE TABLE cabinet.secret (
  purpose text PRIMARY KEY,
  bytes   bytea NOT NULL
);
INSERT INTO cabinet.secret (purpose, bytes) VALUES
  ('body locks', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
