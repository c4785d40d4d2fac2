-- Addresses that get their events in the order of the feed: followers whose work lies outside the database.

ALTER TABLE cabinet.address
  ADD COLUMN in_order           boolean NOT NULL DEFAULT false,
  ADD COLUMN batch_max          integer NOT NULL DEFAULT 1,
  ADD COLUMN batch_wait_seconds integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN cabinet.address.in_order IS 'Its events come in the order of the feed, from its follower. Accepts then find no subscription of it: its sources are in address_rule.';
COMMENT ON COLUMN cabinet.address.batch_max IS 'The most events in one request of an address in order; 1: each has its own.';
COMMENT ON COLUMN cabinet.address.batch_wait_seconds IS 'How long the first event of a batch waits for more.';

CREATE TABLE cabinet.address_rule (
  address_id   bigint NOT NULL REFERENCES cabinet.address (id),
  epoch        bigint NOT NULL,
  xid          bigint NOT NULL,
  every_source boolean NOT NULL,
  sources      bigint[] NOT NULL,
  filters      json,
  PRIMARY KEY (address_id, epoch, xid)
);
COMMENT ON TABLE cabinet.address_rule IS 'From which place of the feed an address in order has which sources and filter. A change is made between two accepts, so each event has one rule.';

CREATE TABLE cabinet.ordered_delivery (
  address_id   bigint PRIMARY KEY REFERENCES cabinet.address (id),
  follower_id  bigint NOT NULL UNIQUE,
  rows_before  bigint,
  event_ids    bigint[] NOT NULL DEFAULT '{}',
  delivery_ids bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
COMMENT ON TABLE cabinet.ordered_delivery IS 'What the follower of an address in order needs besides its position. It stays after the order ends until its last event is delivered.';
COMMENT ON COLUMN cabinet.ordered_delivery.rows_before IS 'Deliveries up to this number were due when the order began, and are finished first; null once they are.';
COMMENT ON COLUMN cabinet.ordered_delivery.event_ids IS 'The events of its last page, with their numbers in delivery_ids: a repeat has the same number.';

-- A line of an address in order may stand for many events.
ALTER TABLE cabinet.attempt ADD COLUMN events integer;
COMMENT ON COLUMN cabinet.attempt.events IS 'How many events it brought, event_id being the last of them; null: one.';
