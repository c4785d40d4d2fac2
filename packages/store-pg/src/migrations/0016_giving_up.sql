-- When an address is paused by itself, and why one is paused.

ALTER TABLE cabinet.address
  ADD COLUMN give_up_after_seconds int CHECK (give_up_after_seconds > 0),
  ADD COLUMN pause_on_gone boolean NOT NULL DEFAULT false,
  ADD COLUMN paused_because text CHECK (paused_because IN ('failing', 'gone'));
COMMENT ON COLUMN cabinet.address.give_up_after_seconds IS 'For how long it may fail without a break; NULL: retries never end.';
COMMENT ON COLUMN cabinet.address.paused_because IS 'NULL: somebody paused it, or it is not paused.';
