-- Deliveries of events that were changed are sent again behind the change, in slices.

CREATE TABLE cabinet.resend (
  event_id    bigint PRIMARY KEY,
  at          timestamptz NOT NULL,
  delivery_id bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE cabinet.resend IS 'Events whose successful deliveries the follower "deliveries" is still to make due again.';
COMMENT ON COLUMN cabinet.resend.at IS 'When the event was changed: what was delivered later was delivered as changed.';
COMMENT ON COLUMN cabinet.resend.delivery_id IS 'Deliveries up to this one are due again.';

-- As in 0050, and nothing of these events is sent again.
CREATE OR REPLACE FUNCTION cabinet.cancel_deliveries_of_events() RETURNS trigger LANGUAGE plpgsql
  AS $$
    DECLARE
      gone bigint[];
    BEGIN
      IF TG_OP = 'DELETE' THEN
        gone := ARRAY(SELECT id FROM old_events);
      ELSE
        gone := ARRAY(
          SELECT id FROM new_events WHERE deleted_at IS NOT NULL
          INTERSECT SELECT id FROM old_events WHERE deleted_at IS NULL
          ORDER BY id);
      END IF;
      IF cardinality(gone) = 0 THEN
        RETURN NULL;
      END IF;
      UPDATE cabinet.delivery SET state = 'cancelled' WHERE event_id = ANY (gone) AND state = 'due';
      DELETE FROM cabinet.fan_out WHERE event_id = ANY (gone);
      DELETE FROM cabinet.filtered_fan_out WHERE event_id = ANY (gone);
      DELETE FROM cabinet.resend WHERE event_id = ANY (gone);
      IF TG_OP = 'DELETE' THEN
        DELETE FROM cabinet.trashed_event WHERE event_id = ANY (gone);
      ELSE
        INSERT INTO cabinet.trashed_event AS t (event_id, source_id, at)
          SELECT e.id, e.source_id, e.deleted_at FROM cabinet.event e
          WHERE e.id = ANY (gone) AND NOT EXISTS (
            SELECT FROM cabinet.trashed_event l WHERE l.event_id = e.id AND l.at = e.deleted_at)
          ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, actor_kind = NULL, actor_id = NULL, actor_name = NULL;
      END IF;
      RETURN NULL;
    END
  $$;
