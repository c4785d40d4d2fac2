-- The address under which others reach the cabinet, as the server last said that knows it: for commands and programs that
-- were not told.

CREATE TABLE cabinet.base_address (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  url       text NOT NULL,
  noted_at  timestamptz NOT NULL DEFAULT cabinet.now()
);
COMMENT ON TABLE cabinet.base_address IS 'Without a trailing slash; no row until a server knows it.';
