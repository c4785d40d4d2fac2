-- Tokens that read only what they list: sources with their tables and events by id, all other objects by oid.

ALTER TABLE cabinet.access_token
  ADD COLUMN only_sources bigint[],
  ADD COLUMN only_objects oid[],
  ADD COLUMN only_in text,
  ADD CHECK (num_nulls(only_sources, only_objects, only_in) IN (0, 3));
COMMENT ON COLUMN cabinet.access_token.only_sources IS 'All three are NULL for a token without a list. Its secret begins with dcr_, which a process of the version before refuses.';
COMMENT ON COLUMN cabinet.access_token.only_in IS 'cabinet.place() where the oids were listed. A copy by pg_dump has other oids: there they name nothing.';

CREATE FUNCTION cabinet.place() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('/', (SELECT system_identifier FROM pg_catalog.pg_control_system()),
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()),
    'cabinet.access_token'::pg_catalog.regclass::pg_catalog.oid)
$$;
COMMENT ON FUNCTION cabinet.place() IS 'Where the oids of this database are valid: another copy of it has another place, but a physical one.';
