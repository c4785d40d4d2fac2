-- A statement that trashes or deletes many events cancels their deliveries at once: one by one it took most of the time of
-- an undone import. INTERSECT, because a cached join of the two tables might have been planned for a single event. What the
-- statement has listed in the trash by itself stays so, with who trashed it.
CREATE FUNCTION cabinet.cancel_deliveries_of_events() RETURNS trigger LANGUAGE plpgsql
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

-- A trigger with transition tables cannot name columns: other updates end at the empty list.
CREATE OR REPLACE TRIGGER cancel_deliveries AFTER UPDATE ON cabinet.event
  REFERENCING OLD TABLE AS old_events NEW TABLE AS new_events
  FOR EACH STATEMENT EXECUTE FUNCTION cabinet.cancel_deliveries_of_events();
CREATE OR REPLACE TRIGGER cancel_deliveries_of_purged AFTER DELETE ON cabinet.event
  REFERENCING OLD TABLE AS old_events
  FOR EACH STATEMENT EXECUTE FUNCTION cabinet.cancel_deliveries_of_events();
DROP FUNCTION cabinet.cancel_deliveries_of_event();
