-- What came of the verification of a request: the verdict in its events, for good, and the reason beside the original request.

ALTER TABLE cabinet.event ADD COLUMN verified boolean;
COMMENT ON COLUMN cabinet.event.verified IS 'Whether the source''s sender has sent it; NULL: nobody asked. False: it takes no part in repeats, and is not delivered.';

ALTER TABLE cabinet.original_request
  ADD COLUMN recipe  text,
  ADD COLUMN refusal text;
COMMENT ON COLUMN cabinet.original_request.recipe IS 'What its sender was verified by; NULL: nobody asked.';
COMMENT ON COLUMN cabinet.original_request.refusal IS 'Why its sender could not be verified.';

CREATE OR REPLACE FUNCTION cabinet.event_json(e cabinet.event, source_name text) RETURNS text LANGUAGE sql STABLE
  AS $$
    SELECT CASE WHEN e.verified IS NULL THEN j.json
      ELSE concat(left(j.json, -1), ',"verified":', e.verified::text, '}') END
    FROM (
      SELECT cabinet.event_json(e.id, cabinet.source_json(e.source_id, source_name), e.channel, e.received_at, e.payload,
        e.repeat_of, e.history, e.deleted_at) AS json
    ) j
  $$;
