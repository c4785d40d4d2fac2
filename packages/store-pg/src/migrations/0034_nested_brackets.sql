-- Whether the fields of forms are nested by the brackets in their names.

ALTER TABLE cabinet.source ADD COLUMN nest_brackets boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.source.nest_brackets IS 'Whether leads[add][0][name] becomes a member of leads.';
