-- Which cabinets of the registry changed, so that a process reads those and not the whole registry.

CREATE TABLE cabinet.registry_change (
  id      bigint GENERATED ALWAYS AS IDENTITY,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
  name    text NOT NULL,
  at      timestamptz NOT NULL DEFAULT cabinet.now(),
  PRIMARY KEY (changed, id)
);
COMMENT ON TABLE cabinet.registry_change IS 'Names that were added, changed or removed; kept for a day.';
COMMENT ON COLUMN cabinet.registry_change.changed IS 'The transaction. Numbers of a sequence would not tell what a reader has missed: they are not in the order of commits.';

CREATE FUNCTION cabinet.note_registry_change() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        INSERT INTO cabinet.registry_change (name) VALUES (OLD.name);
      END IF;
      IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.name <> OLD.name THEN
        INSERT INTO cabinet.registry_change (name) VALUES (NEW.name);
      END IF;
      RETURN NULL;
    END
  $$;

CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON cabinet.registered_cabinet
  FOR EACH ROW EXECUTE FUNCTION cabinet.note_registry_change();
