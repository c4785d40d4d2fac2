-- An owner's own JSON Schema of what a source sends: it marks events, and refuses none.

ALTER TABLE cabinet.source ADD COLUMN schema text;
COMMENT ON COLUMN cabinet.source.schema IS 'A JSON Schema of its payloads: events that do not follow it have the field _valid, which is false; NULL: none.';
