-- The cabinets that a server of many serves, by name. Only the server's own database uses this table.

CREATE TABLE cabinet.served (
  name          text PRIMARY KEY CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  database_name text UNIQUE,
  database_url  text UNIQUE,
  created_at    timestamptz NOT NULL DEFAULT cabinet.now(),
  CHECK (num_nonnulls(database_name, database_url) = 1)
);
COMMENT ON COLUMN cabinet.served.database_name IS 'A database made beside the server''s own, reached by the same address: that of an embedded one changes with its socket.';
COMMENT ON COLUMN cabinet.served.database_url IS 'A database anywhere; it may hold a password.';
