-- A row that the program cannot plan, by a fault of its own, is set aside: its event is whole, the rows behind it go on,
-- doctor names it, and each process that starts tries it again.
--
-- Processes of the version before know nothing of it and leave it alone.

CREATE TABLE cabinet.row_set_aside (
  event_id     bigint PRIMARY KEY,
  source_id    bigint NOT NULL,
  reason       text NOT NULL,
  set_aside_at timestamptz NOT NULL DEFAULT cabinet.now()
);
COMMENT ON TABLE cabinet.row_set_aside IS 'Events whose row could not be planned: tried again when a process starts.';
