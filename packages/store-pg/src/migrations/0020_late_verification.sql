-- What came of a verification of a request after it was accepted, beside what came of it at intake.

ALTER TABLE cabinet.original_request
  ADD COLUMN late_recipe       text,
  ADD COLUMN late_refusal      text,
  ADD COLUMN late_at           timestamptz,
  ADD COLUMN late_delivered_at timestamptz;
COMMENT ON COLUMN cabinet.original_request.late_recipe IS 'What its sender was verified by afterwards; NULL: nobody has checked again.';
COMMENT ON COLUMN cabinet.original_request.late_refusal IS 'Why its sender could not be verified even then.';
COMMENT ON COLUMN cabinet.original_request.late_delivered_at IS 'When its events were delivered because they were verified afterwards: that happens once.';
