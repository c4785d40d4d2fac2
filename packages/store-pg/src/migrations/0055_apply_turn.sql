-- One `cabinet apply` changes the cabinet at a time, over whatever connection or server it comes.

CREATE TABLE cabinet.apply_turn (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  holder text NOT NULL,
  until  timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.apply_turn IS 'Which `cabinet apply` changes the cabinet: a lease that its holder renews. No row: none does.';
