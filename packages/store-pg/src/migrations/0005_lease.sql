-- A claim is a lease in a column of its own, which no index holds: to claim a delivery then touches none of them, as long
-- as its page has room for one more version of the row.

ALTER TABLE cabinet.delivery ADD COLUMN leased_until timestamptz;
ALTER TABLE cabinet.delivery SET (fillfactor = 70);
COMMENT ON COLUMN cabinet.delivery.due_at IS 'When it may be claimed next.';
COMMENT ON COLUMN cabinet.delivery.leased_until IS 'While it is claimed, the end of the lease: then it may be claimed again. Set and emptied together with claimed_at.';
