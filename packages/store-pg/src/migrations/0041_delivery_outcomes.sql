-- The outcome of a delivery's last attempt, so that failed deliveries are found without reading the log.

ALTER TABLE cabinet.delivery ADD COLUMN last_at timestamptz, ADD COLUMN outcome text;
COMMENT ON COLUMN cabinet.delivery.last_at IS 'When its last attempt began; null before the first, and of those that an older version settled.';
COMMENT ON COLUMN cabinet.delivery.outcome IS 'Of that attempt: delivered, refused (4xx), error (any other status) or no_answer.';

-- Empty as it is made. A settlement that changes last_at also changes what delivery_due holds, so no update is dearer by its kind.
CREATE INDEX delivery_by_outcome ON cabinet.delivery (outcome, last_at, id) WHERE last_at IS NOT NULL;

CREATE OR REPLACE VIEW cabinet.delivery_all AS
  SELECT id, address_id, event_id, type, state, attempts, created_at, due_at, leased_until, last_at, outcome FROM cabinet.delivery
  UNION ALL
  SELECT t.delivery_id, t.address_id, t.event_id, CASE WHEN t.event_id IS NULL THEN 'ping' ELSE 'event.received' END,
    'delivered', t.number, t.delivery_created_at, NULL, NULL, t.at, 'delivered'
  FROM cabinet.attempt_delivered t
  -- One that is in the queue has not left it, or was sent again.
  WHERE NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.id = t.delivery_id);
