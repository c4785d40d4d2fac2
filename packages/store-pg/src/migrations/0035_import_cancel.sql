-- When an import was cancelled. A cancelled import has failed: the rows it accepted stay, and it can be undone.

ALTER TABLE cabinet.import ADD COLUMN cancelled_at timestamptz;
COMMENT ON COLUMN cabinet.import.cancelled_at IS 'When somebody cancelled it, or acknowledged that it had failed.';
