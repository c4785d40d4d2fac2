-- Destinations in buckets of S3: how each is reached, and what requests are signed with.

ALTER TABLE cabinet.destination
  ADD COLUMN endpoint    text,
  ADD COLUMN region      text,
  ADD COLUMN url_style   text CHECK (url_style IN ('path', 'virtual-host')),
  ADD COLUMN credentials text;
COMMENT ON COLUMN cabinet.destination.location IS 'A directory below the root that each process is set to, or s3://BUCKET/PREFIX.';
COMMENT ON COLUMN cabinet.destination.endpoint IS 'The URL of the S3 service; null for Amazon''s, and for a directory.';
COMMENT ON COLUMN cabinet.destination.credentials IS 'Of a bucket: JSON, which may be encrypted. Null for a directory.';
