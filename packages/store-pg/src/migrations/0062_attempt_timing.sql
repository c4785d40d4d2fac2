-- Where the time of an attempt went.

ALTER TABLE cabinet.attempt ADD COLUMN timing integer[];
COMMENT ON COLUMN cabinet.attempt.timing IS 'Milliseconds of its phases: name, connection, TLS, wait, body. NULL in it: a phase that it did not have. NULL: not measured.';
