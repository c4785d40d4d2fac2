-- An order begins once the fan-out has written what was accepted before it.

ALTER TABLE cabinet.ordered_delivery ADD COLUMN events_before bigint;
COMMENT ON COLUMN cabinet.ordered_delivery.events_before IS 'Events up to this number were accepted before the order began. Their deliveries, including those that the fan-out is still to write, are finished first; null once they are.';
