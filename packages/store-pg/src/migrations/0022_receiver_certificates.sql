-- When the certificates of receivers end, as they were seen last.

CREATE TABLE cabinet.receiver_certificate (
  origin  text PRIMARY KEY,
  ends_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.receiver_certificate IS 'By the origin of the URL; written when another end is seen.';
