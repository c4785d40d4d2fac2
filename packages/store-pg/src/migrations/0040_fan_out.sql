-- Deliveries of sources with many addresses are written behind the accept, to the addresses that they had at the event.

CREATE TABLE cabinet.subscription (
  source_id   bigint NOT NULL,
  address_id  bigint NOT NULL REFERENCES cabinet.address(id),
  after_event bigint NOT NULL,
  until_event bigint,
  ended_at    timestamptz,
  PRIMARY KEY (source_id, address_id, after_event),
  CHECK (until_event > after_event)
);
CREATE UNIQUE INDEX subscription_now ON cabinet.subscription (source_id, address_id) WHERE until_event IS NULL;
CREATE INDEX subscription_of_address ON cabinet.subscription (address_id);
CREATE INDEX subscription_ended ON cabinet.subscription (ended_at) WHERE ended_at IS NOT NULL;
COMMENT ON TABLE cabinet.subscription IS 'Which events go to which addresses without a filter, kept by triggers. Removed addresses have none.';
COMMENT ON COLUMN cabinet.subscription.source_id IS '0: every source.';
COMMENT ON COLUMN cabinet.subscription.after_event IS 'The last event number that was drawn before it began.';
COMMENT ON COLUMN cabinet.subscription.until_event IS 'The last event that it covers; NULL: it goes on.';

CREATE TABLE cabinet.subscription_count (
  source_id bigint PRIMARY KEY,
  addresses bigint NOT NULL
);
COMMENT ON TABLE cabinet.subscription_count IS 'How many subscriptions a source has now, kept with them: counting 100,000 takes long. 0: every source.';

CREATE TABLE cabinet.fan_out (
  as_of          bigint PRIMARY KEY,
  event_id       bigint NOT NULL,
  source_id      bigint NOT NULL,
  at             timestamptz NOT NULL,
  address_id     bigint NOT NULL DEFAULT 0,
  except_address bigint NOT NULL DEFAULT 0,
  again          boolean NOT NULL DEFAULT false,
  younger        boolean
);
CREATE INDEX fan_out_of_event ON cabinet.fan_out (event_id);
COMMENT ON TABLE cabinet.fan_out IS 'Events whose deliveries the follower "deliveries" is still to write.';
COMMENT ON COLUMN cabinet.fan_out.as_of IS 'An event number: the subscriptions that held at it decide. That of the event, unless its deliveries were called for later.';
COMMENT ON COLUMN cabinet.fan_out.at IS 'When its deliveries are due.';
COMMENT ON COLUMN cabinet.fan_out.address_id IS 'Addresses up to this one have theirs.';
COMMENT ON COLUMN cabinet.fan_out.except_address IS 'The address that the event is about, which is not sent it; 0: none.';
COMMENT ON COLUMN cabinet.fan_out.again IS 'Whether some addresses may have a delivery of the event already.';
COMMENT ON COLUMN cabinet.fan_out.younger IS 'True: only addresses created after the event was received. False: only the others. NULL: all.';

INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id) VALUES ('deliveries', 'deliveries', 0, 0, 0);

ALTER TABLE cabinet.source ADD COLUMN fans_out boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.source.fans_out IS 'Whether a follower writes its deliveries. Any value is correct; kept by triggers.';

-- Gives sources with these subscriptions (0: every source) their way of delivery. One that is locked keeps its own until
-- the next change.
CREATE FUNCTION cabinet.choose_fan_out(changed bigint[]) RETURNS void LANGUAGE plpgsql
  AS $$
    BEGIN
      UPDATE cabinet.source s SET fans_out = NOT s.fans_out FROM (
        SELECT s.id FROM cabinet.source s CROSS JOIN LATERAL (
          SELECT coalesce(sum(n.addresses), 0) > 100 AS many FROM cabinet.subscription_count n WHERE n.source_id IN (0, s.id)
        ) c
        WHERE (0 = ANY (changed) OR s.id = ANY (changed)) AND s.deleted_at IS NULL AND s.fans_out <> c.many
        ORDER BY s.id FOR NO KEY UPDATE OF s SKIP LOCKED
      ) c WHERE s.id = c.id;
    END
  $$;

-- Ends and begins the subscriptions of addresses, so that they are what the addresses say. The number of the last event is
-- read here: what is accepted after the commit has a higher one.
CREATE FUNCTION cabinet.keep_subscriptions(addresses bigint[]) RETURNS void LANGUAGE plpgsql
  AS $$
    DECLARE
      last_event bigint;
      changed bigint[];
    BEGIN
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last_event FROM cabinet.event_id;
      WITH meant AS MATERIALIZED (
        SELECT t.source_id, a.id AS address_id FROM cabinet.address a CROSS JOIN LATERAL (
          SELECT 0::bigint AS source_id WHERE a.every_source
          UNION ALL SELECT s.source_id FROM cabinet.address_source s WHERE s.address_id = a.id AND NOT a.every_source
        ) t
        WHERE a.id = ANY (addresses) AND a.removed_at IS NULL AND a.filters IS NULL
      ), going AS MATERIALIZED (
        SELECT n.source_id, n.address_id, n.after_event, n.until_event IS NULL AS is_open,
          a.removed_at IS NOT NULL OR n.after_event >= last_event AS is_void
        FROM cabinet.subscription n JOIN cabinet.address a ON a.id = n.address_id
        WHERE n.address_id = ANY (addresses) AND (a.removed_at IS NOT NULL OR n.until_event IS NULL
          AND NOT EXISTS (SELECT FROM meant m WHERE m.source_id = n.source_id AND m.address_id = n.address_id))
      ), gone AS (
        DELETE FROM cabinet.subscription n USING going g
        WHERE g.is_void AND n.source_id = g.source_id AND n.address_id = g.address_id AND n.after_event = g.after_event
      ), ended AS (
        UPDATE cabinet.subscription n SET until_event = last_event, ended_at = clock_timestamp() FROM going g
        WHERE NOT g.is_void AND n.source_id = g.source_id AND n.address_id = g.address_id AND n.after_event = g.after_event
      ), begun AS (
        INSERT INTO cabinet.subscription (source_id, address_id, after_event)
        SELECT m.source_id, m.address_id, last_event FROM meant m WHERE NOT EXISTS (
          SELECT FROM cabinet.subscription n
          WHERE n.source_id = m.source_id AND n.address_id = m.address_id AND n.until_event IS NULL)
        RETURNING source_id
      ), counted AS (
        INSERT INTO cabinet.subscription_count AS c (source_id, addresses)
        SELECT m.source_id, sum(m.n) FROM (
          SELECT source_id, -1 AS n FROM going WHERE is_open UNION ALL SELECT source_id, 1 FROM begun
        ) m GROUP BY m.source_id HAVING sum(m.n) <> 0 ORDER BY m.source_id
        ON CONFLICT (source_id) DO UPDATE SET addresses = c.addresses + excluded.addresses
        RETURNING source_id
      )
      SELECT array_agg(source_id) INTO changed FROM counted;
      IF changed IS NOT NULL THEN PERFORM cabinet.choose_fan_out(changed); END IF;
    END
  $$;

CREATE FUNCTION cabinet.keep_subscriptions_of_address() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      -- An event is delivered by the filter that is in force at its commit. So none is accepted from here to the commit.
      IF TG_OP = 'UPDATE' AND (OLD.filters IS NULL) <> (NEW.filters IS NULL) THEN PERFORM cabinet.close_fence(); END IF;
      PERFORM cabinet.keep_subscriptions(ARRAY[NEW.id]);
      RETURN NULL;
    END
  $$;

CREATE FUNCTION cabinet.keep_subscriptions_of_sources() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      PERFORM cabinet.keep_subscriptions(ARRAY(SELECT DISTINCT address_id FROM moved));
      RETURN NULL;
    END
  $$;

CREATE FUNCTION cabinet.begin_fan_out() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      NEW.fans_out := coalesce((SELECT addresses > 100 FROM cabinet.subscription_count WHERE source_id = 0), false);
      RETURN NEW;
    END
  $$;

CREATE TRIGGER keep_subscriptions AFTER INSERT OR UPDATE OF every_source, filters, removed_at ON cabinet.address
  FOR EACH ROW EXECUTE FUNCTION cabinet.keep_subscriptions_of_address();
CREATE TRIGGER keep_subscriptions_begun AFTER INSERT ON cabinet.address_source
  REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION cabinet.keep_subscriptions_of_sources();
CREATE TRIGGER keep_subscriptions_ended AFTER DELETE ON cabinet.address_source
  REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION cabinet.keep_subscriptions_of_sources();
CREATE TRIGGER begin_fan_out BEFORE INSERT ON cabinet.source FOR EACH ROW EXECUTE FUNCTION cabinet.begin_fan_out();

-- Deliveries that are not written yet are cancelled with the others.
CREATE OR REPLACE FUNCTION cabinet.cancel_deliveries_of_event() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      UPDATE cabinet.delivery SET state = 'cancelled' WHERE event_id = OLD.id AND state = 'due';
      DELETE FROM cabinet.fan_out WHERE event_id = OLD.id;
      IF TG_OP = 'DELETE' THEN
        DELETE FROM cabinet.trashed_event WHERE event_id = OLD.id;
      ELSE
        INSERT INTO cabinet.trashed_event AS t (event_id, source_id, at) VALUES (NEW.id, NEW.source_id, NEW.deleted_at)
          ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, actor_kind = NULL, actor_id = NULL, actor_name = NULL;
      END IF;
      RETURN NULL;
    END
  $$;

SELECT cabinet.keep_subscriptions(ARRAY(SELECT id FROM cabinet.address WHERE removed_at IS NULL));
UPDATE cabinet.subscription SET after_event = 0;
