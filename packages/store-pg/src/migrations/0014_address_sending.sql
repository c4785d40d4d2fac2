-- How an address is sent to: headers of its own, the most deliveries a second, and how long an attempt may take.

ALTER TABLE cabinet.address
  ADD COLUMN headers json,
  ADD COLUMN rate int CHECK (rate BETWEEN 1 AND 1000),
  ADD COLUMN timeout_seconds int CHECK (timeout_seconds BETWEEN 1 AND 15);
COMMENT ON COLUMN cabinet.address.headers IS 'A list of [name, value], in which a value that is encrypted is an object; NULL: none.';
COMMENT ON COLUMN cabinet.address.rate IS 'Deliveries a second, of all processes together; NULL: as fast as it takes them.';

CREATE TABLE cabinet.address_pace (
  address_id bigint PRIMARY KEY REFERENCES cabinet.address,
  next_at    timestamptz NOT NULL
);
COMMENT ON TABLE cabinet.address_pace IS 'When the next delivery to an address with a rate may be sent, behind those that were claimed.';
