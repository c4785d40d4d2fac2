-- Destinations in streams of NATS JetStream: they have the same columns as buckets.

COMMENT ON TABLE cabinet.destination IS 'Places that get the events of the feed, as files or as messages.';
COMMENT ON COLUMN cabinet.destination.location IS 'A directory below the root that each process is set to, s3://BUCKET/PREFIX, or nats://STREAM/SUBJECT.';
COMMENT ON COLUMN cabinet.destination.tag IS 'Begins the names of its files and the ids of its messages.';
COMMENT ON COLUMN cabinet.destination.endpoint IS 'The URL of the S3 service, or those of brokers; null for Amazon''s, and for a directory.';
COMMENT ON COLUMN cabinet.destination.credentials IS 'Of a bucket or a broker: JSON, which may be encrypted. Null without.';
