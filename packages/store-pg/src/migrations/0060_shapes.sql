-- What the payloads of sources look like, learned behind the feed by the follower "shapes".

CREATE TABLE cabinet.shape (
  source_id bigint PRIMARY KEY,
  fields    text NOT NULL
);
COMMENT ON TABLE cabinet.shape IS 'Names and kinds of the fields that a source has sent; no values. Written by the transaction that moves the follower.';

-- It begins at the start of the feed, and learns from all events that there are.
INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id) VALUES ('shapes', 'shapes', 0, 0, 0);
