-- Tokens with a role. Those issued before were for uploads alone, and stay so. Keys and tokens may expire.

ALTER TABLE cabinet.upload_token RENAME TO access_token;
ALTER TABLE cabinet.access_token
  ADD COLUMN role text NOT NULL DEFAULT 'uploader' CHECK (role IN ('owner', 'editor', 'viewer', 'uploader', 'reader')),
  ADD COLUMN expires_at timestamptz;
COMMENT ON COLUMN cabinet.access_token.role IS 'What it opens: core/key/Role. The default is what a process of the version before issues.';

-- What processes of the version before use until they are replaced. They know neither roles nor an expiry, so they see only
-- the tokens that have neither.
CREATE VIEW cabinet.upload_token AS
  SELECT id, name, prefix, fingerprint, created_at, revoked_at, last_used_at
  FROM cabinet.access_token WHERE role = 'uploader' AND expires_at IS NULL;
COMMENT ON VIEW cabinet.upload_token IS 'The tokens for uploads that do not expire, for processes of the version before.';

ALTER TABLE cabinet.api_key ADD COLUMN expires_at timestamptz;
