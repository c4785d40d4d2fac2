-- The trash as a list: what is in it, since when, and who put it there. The trigger that cancels deliveries notes an event
-- here, so that one trashed by a process of the version before is listed, too; whoever lists looks at the event itself.

CREATE TABLE cabinet.trashed_event (
  event_id   bigint PRIMARY KEY,
  source_id  bigint NOT NULL,
  at         timestamptz NOT NULL,
  actor_kind text,
  actor_id   bigint,
  actor_name text
);
CREATE INDEX trashed_event_newest ON cabinet.trashed_event (at, event_id);
CREATE INDEX trashed_event_of_source ON cabinet.trashed_event (source_id, at, event_id);
COMMENT ON TABLE cabinet.trashed_event IS 'Events in the trash, with who put them there; null where that is not known.';

CREATE OR REPLACE FUNCTION cabinet.cancel_deliveries_of_event() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      UPDATE cabinet.delivery SET state = 'cancelled' WHERE event_id = OLD.id AND state = 'due';
      IF TG_OP = 'DELETE' THEN
        DELETE FROM cabinet.trashed_event WHERE event_id = OLD.id;
      ELSE
        INSERT INTO cabinet.trashed_event AS t (event_id, source_id, at) VALUES (NEW.id, NEW.source_id, NEW.deleted_at)
          ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, actor_kind = NULL, actor_id = NULL, actor_name = NULL;
      END IF;
      RETURN NULL;
    END
  $$;

INSERT INTO cabinet.trashed_event (event_id, source_id, at)
  SELECT id, source_id, deleted_at FROM cabinet.event WHERE deleted_at IS NOT NULL AND purged_at IS NULL
  ON CONFLICT DO NOTHING;

-- The first event received at this moment or later, found by halving: numbers and times rise together, but for the moments
-- that concurrent accepts take and a clock that is set back.
CREATE FUNCTION cabinet.first_event_since(moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
  AS $$
    DECLARE
      low   bigint := 0;
      high  bigint;
      mid   bigint;
      found record;
    BEGIN
      SELECT e.id, e.received_at INTO found FROM cabinet.event e ORDER BY e.id DESC LIMIT 1;
      IF found.id IS NULL OR found.received_at < moment THEN RETURN NULL; END IF;
      high := found.id;
      WHILE low < high LOOP
        mid := low + (high - low) / 2;
        SELECT e.id, e.received_at INTO found FROM cabinet.event e WHERE e.id >= mid ORDER BY e.id LIMIT 1;
        IF found.received_at < moment THEN low := found.id + 1; ELSE high := mid; END IF;
      END LOOP;
      RETURN (SELECT e.id FROM cabinet.event e WHERE e.id >= low ORDER BY e.id LIMIT 1);
    END
  $$;
