ALTER TABLE cabinet.address ADD COLUMN unanswered boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.address.unanswered IS 'Whether an attempt since failing_since got no response at all. Such an address is served in a lane of its own at once; one that responds only once it has failed for a while.';
COMMENT ON COLUMN cabinet.address.failing_since IS 'Set by a failed attempt, emptied by a delivered one.';
