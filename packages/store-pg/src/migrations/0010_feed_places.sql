-- Cursors are signed with a key that moves with the database: nobody else can make a place up.
INSERT INTO cabinet.secret (purpose, bytes) VALUES
  ('cursors', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea))
  ON CONFLICT (purpose) DO NOTHING;

-- A database may be set back while its server runs on: clients are led to a promoted standby and back again, or a machine
-- is restored with its memory. The server cannot notice; a client's cursor that names a place the database never had is
-- the proof. What is accepted after such a proof belongs to an epoch of its own.
CREATE TABLE cabinet.setback (
  epoch      bigint PRIMARY KEY REFERENCES cabinet.epoch,
  seen_epoch bigint NOT NULL,
  seen_xid   bigint NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE cabinet.setback IS 'Epochs of the feed that began because a client had a cursor from a future that this database does not know.';

-- Begins an epoch above a place that was seen, unless one has begun since. Only for a place that this database is known
-- not to have had. Answers true when the server ran on meanwhile: after a restore and a start nothing else is to be expected.
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

-- Only for processes of the version before, which believe in clocks; to go when the scripts are folded into one.
-- The first place of an epoch whose event was accepted after a moment: walked to from the end, so that it costs what will
-- be read from there on, and no more. No row where there is none.
CREATE FUNCTION cabinet.first_place_after(of_epoch bigint, moment timestamptz) RETURNS TABLE (xid bigint, id bigint)
  LANGUAGE plpgsql STABLE
  AS $$
    DECLARE
      one  record;
      kind text;
    BEGIN
      FOREACH kind IN ARRAY ARRAY['webhook', 'file', 'pull'] LOOP
        FOR one IN SELECT e.xid, e.id, e.received_at FROM cabinet.event e
                   WHERE e.channel = kind AND e.epoch = of_epoch ORDER BY e.xid DESC, e.id DESC LOOP
          EXIT WHEN one.received_at <= moment;
          IF xid IS NULL OR (one.xid, one.id) < (xid, id) THEN
            xid := one.xid;
            id := one.id;
          END IF;
        END LOOP;
      END LOOP;
      IF xid IS NOT NULL THEN RETURN NEXT; END IF;
    END
  $$;
