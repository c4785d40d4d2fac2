-- Subscriptions are kept once a statement. Once a row, each of 19,000 new addresses read all earlier versions of one count.

CREATE TABLE cabinet.changed_address (
  address_id bigint NOT NULL
);
COMMENT ON TABLE cabinet.changed_address IS 'The addresses that a statement has changed, from its first row to its end; no other transaction sees them.';

CREATE OR REPLACE FUNCTION cabinet.keep_subscriptions_of_address() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      -- An event is delivered by the filter that is in force at its commit. So none is accepted from here to the commit.
      IF (OLD.filters IS NULL) <> (NEW.filters IS NULL) THEN PERFORM cabinet.close_fence(); END IF;
      INSERT INTO cabinet.changed_address (address_id) VALUES (NEW.id);
      RETURN NULL;
    END
  $$;

CREATE FUNCTION cabinet.keep_subscriptions_of_changed() RETURNS trigger LANGUAGE plpgsql
  AS $$
    DECLARE
      changed bigint[];
    BEGIN
      WITH changes AS (DELETE FROM cabinet.changed_address RETURNING address_id)
      SELECT array_agg(DISTINCT address_id) INTO changed FROM changes;
      IF changed IS NOT NULL THEN PERFORM cabinet.keep_subscriptions(changed); END IF;
      RETURN NULL;
    END
  $$;

CREATE FUNCTION cabinet.keep_subscriptions_of_new() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      PERFORM cabinet.keep_subscriptions(ARRAY(SELECT id FROM made));
      RETURN NULL;
    END
  $$;

-- Most updates of an address are those of its health, which name none of these columns. A trigger that got the changed rows
-- as a table would have no list of columns, and would run for each of them.
DROP TRIGGER keep_subscriptions ON cabinet.address;
CREATE TRIGGER keep_subscriptions AFTER UPDATE OF every_source, filters, removed_at ON cabinet.address FOR EACH ROW
  WHEN (OLD.every_source <> NEW.every_source OR (OLD.filters IS NULL) <> (NEW.filters IS NULL) OR OLD.removed_at IS DISTINCT FROM NEW.removed_at)
  EXECUTE FUNCTION cabinet.keep_subscriptions_of_address();
CREATE TRIGGER keep_subscriptions_changed AFTER UPDATE OF every_source, filters, removed_at ON cabinet.address
  FOR EACH STATEMENT EXECUTE FUNCTION cabinet.keep_subscriptions_of_changed();
CREATE TRIGGER keep_subscriptions_made AFTER INSERT ON cabinet.address
  REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION cabinet.keep_subscriptions_of_new();
