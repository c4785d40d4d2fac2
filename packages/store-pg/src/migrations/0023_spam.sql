-- What is spam by the rules of its source: an event like any other, with no row and no delivery.

ALTER TABLE cabinet.source
  ADD COLUMN honeypot      text,
  ADD COLUMN allow_origins text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN cabinet.source.honeypot IS 'A field that people leave empty; NULL: there is none.';
COMMENT ON COLUMN cabinet.source.allow_origins IS 'The origins of the pages with its form; empty: any.';

CREATE OR REPLACE TRIGGER bump_version
  BEFORE UPDATE OF archived_at, deleted_at, intake_secret, encoding, table_name, keep_headers, header_fields, keep_query,
    verify, verify_secret, verify_old_secret, challenge, challenge_secret, rate, honeypot, allow_origins
  ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.bump_source_version();

ALTER TABLE cabinet.event ADD COLUMN spam text CHECK (spam IN ('honeypot', 'origin'));
COMMENT ON COLUMN cabinet.event.spam IS 'Why it is spam; NULL: it is not, or no longer. It has no row, takes no part in repeats, and is not delivered.';

CREATE OR REPLACE FUNCTION cabinet.event_json(e cabinet.event, source_name text) RETURNS text LANGUAGE sql STABLE
  AS $$
    SELECT CASE WHEN e.verified IS NULL AND e.spam IS NULL THEN j.json
      ELSE concat(left(j.json, -1), ',"verified":' || e.verified::text, CASE WHEN e.spam IS NOT NULL THEN ',"spam":true' END, '}') END
    FROM (
      SELECT cabinet.event_json(e.id, cabinet.source_json(e.source_id, source_name), e.channel, e.received_at, e.payload,
        e.repeat_of, e.history, e.deleted_at) AS json
    ) j
  $$;
