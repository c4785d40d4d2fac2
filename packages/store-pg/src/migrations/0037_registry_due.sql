-- When each cabinet of the registry is to be looked at, so that a worker asks here and not in every database.

CREATE TABLE cabinet.registry_due (
  name   text PRIMARY KEY,
  due_at timestamptz NOT NULL
);
CREATE INDEX registry_due_due_at_idx ON cabinet.registry_due (due_at);
COMMENT ON TABLE cabinet.registry_due IS 'A line for each registered cabinet. Kept apart from the registry: it changes often, and no reader of the registry needs it.';
COMMENT ON COLUMN cabinet.registry_due.due_at IS 'No later than its next work, unless a process has the cabinet open: that process moves it ahead every minute.';

CREATE FUNCTION cabinet.note_registry_due() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND NEW.name <> OLD.name THEN
        DELETE FROM cabinet.registry_due WHERE name = OLD.name;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO cabinet.registry_due AS d (name, due_at) VALUES (NEW.name, cabinet.now())
          ON CONFLICT (name) DO UPDATE SET due_at = least(d.due_at, EXCLUDED.due_at);
      END IF;
      RETURN NULL;
    END
  $$;

CREATE TRIGGER note_due AFTER INSERT OR UPDATE OR DELETE ON cabinet.registered_cabinet
  FOR EACH ROW EXECUTE FUNCTION cabinet.note_registry_due();

-- Spread, so that the first worker does not look at all of them at once.
INSERT INTO cabinet.registry_due (name, due_at)
  SELECT name, cabinet.now() + random() * interval '10 minutes' FROM cabinet.registered_cabinet;
