-- Subscriptions of agents: addresses in order that a client made with its key or token, for a limited time.

ALTER TABLE cabinet.address
  ADD COLUMN subscription text,
  ADD COLUMN subscription_event text,
  ADD COLUMN subscription_source bigint,
  ADD COLUMN subscription_secret text,
  ADD COLUMN subscription_ends_at timestamptz,
  ADD COLUMN subscriber_key bigint,
  ADD COLUMN subscriber_token bigint;
COMMENT ON COLUMN cabinet.address.subscription IS 'The number that an agent knows its subscription by; NULL: an address of the owner.';
COMMENT ON COLUMN cabinet.address.subscription_event IS 'The name of its event type.';
COMMENT ON COLUMN cabinet.address.subscription_source IS 'The source of its event type; NULL: every source.';
COMMENT ON COLUMN cabinet.address.subscription_secret IS 'Given by the agent. The column secret has one that nobody knows: a server of the previous version signs with that, and the agent refuses what it sends.';
COMMENT ON COLUMN cabinet.address.subscription_ends_at IS 'From then on nothing is sent, unless the agent has renewed it.';
COMMENT ON COLUMN cabinet.address.subscriber_key IS 'The key that made it: the first one, if another has replaced it.';
COMMENT ON COLUMN cabinet.address.subscriber_token IS 'The access token that made it.';
CREATE UNIQUE INDEX address_of_subscription ON cabinet.address (subscription) WHERE subscription IS NOT NULL AND removed_at IS NULL;

-- Removes these addresses. A process that is sending loses its lease with the follower.
CREATE FUNCTION cabinet.end_subscriptions(addresses bigint[]) RETURNS void LANGUAGE sql
  AS $$
    DELETE FROM cabinet.follower f USING cabinet.ordered_delivery o WHERE o.follower_id = f.id AND o.address_id = ANY (addresses);
    DELETE FROM cabinet.ordered_delivery WHERE address_id = ANY (addresses);
    DELETE FROM cabinet.address_rule WHERE address_id = ANY (addresses);
    UPDATE cabinet.delivery SET state = 'cancelled' WHERE address_id = ANY (addresses) AND state = 'due';
    UPDATE cabinet.address SET removed_at = cabinet.now(), subscription_secret = NULL, previous_secret = NULL
      WHERE id = ANY (addresses) AND removed_at IS NULL;
  $$;

-- A key that another has replaced keeps its subscriptions as long as one of them is live.
CREATE FUNCTION cabinet.end_subscriptions_of_holder() RETURNS trigger LANGUAGE plpgsql
  AS $$
    BEGIN
      IF TG_TABLE_NAME = 'api_key' THEN
        PERFORM cabinet.end_subscriptions(ARRAY(
          SELECT a.id FROM cabinet.address a
          WHERE a.subscription IS NOT NULL AND a.removed_at IS NULL AND a.subscriber_key = coalesce(NEW.origin, NEW.id)
            AND NOT EXISTS (SELECT FROM cabinet.api_key k WHERE coalesce(k.origin, k.id) = a.subscriber_key AND k.revoked_at IS NULL)));
      ELSE
        PERFORM cabinet.end_subscriptions(ARRAY(
          SELECT a.id FROM cabinet.address a
          WHERE a.subscription IS NOT NULL AND a.removed_at IS NULL AND a.subscriber_token = NEW.id));
      END IF;
      RETURN NULL;
    END
  $$;

-- At the end of the statement: a rotation revokes the old key before it writes the new one.
CREATE TRIGGER end_subscriptions AFTER UPDATE OF revoked_at ON cabinet.api_key
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION cabinet.end_subscriptions_of_holder();
CREATE TRIGGER end_subscriptions AFTER UPDATE OF revoked_at ON cabinet.access_token
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION cabinet.end_subscriptions_of_holder();
