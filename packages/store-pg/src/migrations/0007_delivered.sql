-- What its first attempt delivered, which is nearly everything, leaves the queue: that attempt says all of it from then on.
-- So the table of deliveries and its indexes hold what is still to be told and the few that took longer, however much is
-- delivered; to settle one adds to no index of theirs; and what was delivered goes with its day of the log.
--
-- Workers of the version before settle as they did, and what they settled is read as before. What has left the queue they
-- do not see: until they are replaced their lists are short of it, and their purge does not find the answers to it.

ALTER TABLE cabinet.attempt ADD COLUMN event_id bigint, ADD COLUMN delivery_created_at timestamptz;
COMMENT ON COLUMN cabinet.attempt.delivery_created_at IS 'Set, and event_id with it, where the delivery has left the queue: it was delivered by this attempt, its first.';
CREATE INDEX attempt_of_event ON cabinet.attempt_delivered (event_id);
-- Room for every row of a page once more, a claimed one is longer: so a claim adds to no index either.
ALTER TABLE cabinet.delivery SET (fillfactor = 45);

CREATE VIEW cabinet.every_delivery AS
  SELECT id, address_id, event_id, type, state, attempts, created_at, due_at, leased_until FROM cabinet.delivery
  UNION ALL
  SELECT t.delivery_id, t.address_id, t.event_id, CASE WHEN t.event_id IS NULL THEN 'ping' ELSE 'event.received' END,
    'delivered', t.number, t.delivery_created_at, NULL, NULL
  FROM cabinet.attempt_delivered t
  -- One that is in the queue has not left it, or was sent again.
  WHERE NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.id = t.delivery_id);
COMMENT ON VIEW cabinet.every_delivery IS 'What is in the queue and what has left it.';
