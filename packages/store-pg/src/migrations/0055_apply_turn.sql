-- Only one `cabinet apply` at a time changes the cabinet, whichever connection or server it uses.

CREATE TABLE cabinet.apply_turn (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  holder text NOT NULL,
  until  timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.apply_turn IS 'Which `cabinet apply` changes the cabinet: a lease that its holder renews. No row: none does.';
