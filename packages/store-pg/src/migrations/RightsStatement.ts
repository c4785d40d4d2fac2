/** One statement that checks the privileges of the reader and the author. */
import { OPEN_TO_ALL } from "./CloseDatabase.ts"

/**
 * How many sessions the readers of one cabinet may have in all its processes: three quarters of the server's sessions
 * for users. So reads run out of sessions before intake does, even if a view runs code that never ends.
 */
export const MOST_READER_SESSIONS = `greatest(4, (current_setting('max_connections')::int4
    - current_setting('superuser_reserved_connections')::int4 - coalesce(current_setting('reserved_connections', true), '0')::int4) * 3 / 4)`

/**
 * $1: the reader's name, $2: the author's. Returns one row if both have every privilege that `ensureRoles` grants, and
 * none if either does not exist or lacks one. `alters`: whether this user may change roles, and so limits the author's login.
 */
export const RIGHTS_ARE_COMPLETE = `
  SELECT owner.rolcreaterole OR owner.rolsuper AS alters FROM pg_roles owner, pg_roles reader, pg_roles author
  WHERE owner.rolname = current_user AND reader.rolname = $1::text AND author.rolname = $2::text
    AND reader.rolcanlogin AND NOT reader.rolinherit AND reader.rolconnlimit = ${MOST_READER_SESSIONS} AND author.rolcanlogin AND NOT author.rolinherit
    AND pg_has_role(owner.oid, author.oid, 'USAGE') AND pg_has_role(owner.oid, reader.oid, 'USAGE')
    AND has_database_privilege(reader.oid, current_database(), 'CONNECT')
    AND has_database_privilege(author.oid, current_database(), 'CONNECT')
    AND NOT has_database_privilege(author.oid, current_database(), 'CREATE')
    AND has_database_privilege(author.oid, current_database(), 'TEMPORARY')
    AND (author.rolvaliduntil < 'infinity' OR NOT (owner.rolcreaterole OR owner.rolsuper)) AND author.rolconnlimit > 0
    AND NOT (SELECT ${OPEN_TO_ALL} AND pg_has_role(datdba, 'USAGE') FROM pg_database d WHERE datname = current_database())
    AND has_schema_privilege(reader.oid, 'sources', 'USAGE') AND has_schema_privilege(author.oid, 'sources', 'USAGE')
    AND has_schema_privilege(reader.oid, 'public', 'USAGE') AND has_schema_privilege(author.oid, 'public', 'USAGE')
    AND has_schema_privilege(author.oid, 'public', 'CREATE')
    AND NOT EXISTS (
      SELECT FROM pg_class c
      WHERE c.relnamespace = 'sources'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT (has_table_privilege(reader.oid, c.oid, 'SELECT') AND has_table_privilege(author.oid, c.oid, 'SELECT')))
    AND 2 = (
      SELECT count(*) FROM pg_default_acl d, aclexplode(d.defaclacl) a
      WHERE d.defaclrole = owner.oid AND d.defaclnamespace = 'sources'::regnamespace AND d.defaclobjtype = 'r'
        AND a.privilege_type = 'SELECT' AND a.grantee IN (reader.oid, author.oid))
    AND 2 = (
      SELECT count(*) FROM pg_default_acl d, aclexplode(d.defaclacl) a
      WHERE d.defaclrole = author.oid AND d.defaclnamespace = 0 AND a.grantee = reader.oid
        AND (d.defaclobjtype, a.privilege_type) IN (('r', 'SELECT'), ('n', 'USAGE')))`
