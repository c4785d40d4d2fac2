-- While a table is rebuilt, a trigger on it notes which of its rows change.

CREATE TABLE cabinet.table_rebuild_change (
  source_id bigint NOT NULL,
  event_id  bigint
);
CREATE INDEX table_rebuild_change_of_source ON cabinet.table_rebuild_change (source_id);
COMMENT ON TABLE cabinet.table_rebuild_change IS 'Rows of a table that changed since its rebuild began and are still to be written again.';
COMMENT ON COLUMN cabinet.table_rebuild_change.event_id IS 'NULL: the table was emptied.';

-- The argument is the source. It runs as the role that writes: a rebuild is refused while others than the owner may write.
CREATE FUNCTION cabinet.note_row_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  AS $$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO cabinet.table_rebuild_change (source_id, event_id) VALUES (TG_ARGV[0]::bigint, NULL);
        RETURN NULL;
      END IF;
      IF TG_OP <> 'INSERT' THEN
        INSERT INTO cabinet.table_rebuild_change (source_id, event_id) VALUES (TG_ARGV[0]::bigint, OLD._event_id);
      END IF;
      IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW._event_id <> OLD._event_id THEN
        INSERT INTO cabinet.table_rebuild_change (source_id, event_id) VALUES (TG_ARGV[0]::bigint, NEW._event_id);
      END IF;
      RETURN NULL;
    END
  $$;
REVOKE EXECUTE ON FUNCTION cabinet.note_row_change() FROM PUBLIC;
