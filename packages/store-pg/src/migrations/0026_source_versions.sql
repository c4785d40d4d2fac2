-- Every change of a source gives it a new version. The earlier trigger named the columns that matter and missed one, so that
-- a running server never noticed it. Only the columns of the service's own bookkeeping are named now: a new setting needs
-- nothing here.

CREATE OR REPLACE FUNCTION cabinet.bump_source_version() RETURNS trigger LANGUAGE plpgsql
  AS $$
    DECLARE
      before cabinet.source := OLD;
    BEGIN
      before.version := NEW.version;
      before.rows_deferred := NEW.rows_deferred;
      -- Compared as stored: json, the type of one setting, has no equality.
      IF NEW *<> before THEN NEW.version := OLD.version + 1; END IF;
      RETURN NEW;
    END
  $$;

CREATE OR REPLACE TRIGGER bump_version BEFORE UPDATE ON cabinet.source
  FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();
