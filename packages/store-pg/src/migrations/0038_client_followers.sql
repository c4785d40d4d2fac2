-- Followers of clients: positions in the feed that the cabinet keeps for programs with a key, by name.

ALTER TABLE cabinet.api_key ADD COLUMN origin bigint;
COMMENT ON COLUMN cabinet.api_key.origin IS 'The first key that this one replaces by rotation; null for a key that replaces none.';

CREATE TABLE cabinet.client_follower (
  id        bigint PRIMARY KEY DEFAULT nextval('cabinet.follower_id_seq'),
  key_id    bigint REFERENCES cabinet.api_key ON DELETE CASCADE,
  token_id  bigint REFERENCES cabinet.access_token ON DELETE CASCADE,
  name      text NOT NULL,
  source_id bigint,
  channel   text,
  epoch     bigint NOT NULL,
  xid       bigint NOT NULL,
  event_id  bigint NOT NULL,
  position  text NOT NULL,
  resets    bigint NOT NULL DEFAULT 0,
  moved_at  timestamptz NOT NULL DEFAULT cabinet.now(),
  CHECK (num_nonnulls(key_id, token_id) = 1)
);
CREATE UNIQUE INDEX client_follower_of_key ON cabinet.client_follower (key_id, name) WHERE key_id IS NOT NULL;
CREATE UNIQUE INDEX client_follower_of_token ON cabinet.client_follower (token_id, name) WHERE token_id IS NOT NULL;
COMMENT ON TABLE cabinet.client_follower IS 'Positions in the feed that clients acknowledge. Ids are drawn together with those of follower.';
COMMENT ON COLUMN cabinet.client_follower.key_id IS 'The key that it belongs to: the first one, of keys that replaced one another.';
COMMENT ON COLUMN cabinet.client_follower.position IS 'The position with its trail, as cursors have it; epoch, xid and event_id are its place.';
COMMENT ON COLUMN cabinet.client_follower.resets IS 'How often the position was reset: an acknowledgement of a page read before the last reset moves nothing.';
