-- What events an address is sent: conditions over the fields of the payload. Whatever changes which filtered addresses a source
-- has, or their filters, gives that source a new version.

ALTER TABLE cabinet.address ADD COLUMN filters json;
COMMENT ON COLUMN cabinet.address.filters IS 'A list of {fc, fo, fv}, all of which must hold; NULL: every event passes.';

CREATE INDEX address_with_filters ON cabinet.address (id) WHERE filters IS NOT NULL AND removed_at IS NULL;

CREATE TABLE cabinet.filtered_events (
  address_id bigint PRIMARY KEY REFERENCES cabinet.address,
  events     bigint NOT NULL
);
COMMENT ON TABLE cabinet.filtered_events IS 'How many events an address was not sent because of its filter; some seconds behind.';
