-- The proof of a person that the form of a source demands. Without a valid one, an event is spam.

ALTER TABLE cabinet.source
  ADD COLUMN proof          text CHECK (proof IN ('altcha', 'turnstile', 'hcaptcha')),
  ADD COLUMN proof_site_key text,
  ADD COLUMN proof_secret   text;
COMMENT ON COLUMN cabinet.source.proof_site_key IS 'The public key of the provider''s widget; NULL for altcha.';
COMMENT ON COLUMN cabinet.source.proof_secret IS 'The key of altcha''s challenges, or the provider''s secret key.';

-- Not checked again: every stored reason is one of the first two.
ALTER TABLE cabinet.event DROP CONSTRAINT event_spam_check, ADD CONSTRAINT event_spam_check
  CHECK (spam IN ('honeypot', 'origin', 'no_proof', 'wrong_proof', 'used_proof', 'unchecked_proof')) NOT VALID;

CREATE TABLE cabinet.used_proof (
  id    uuid PRIMARY KEY,
  until timestamptz NOT NULL
);
CREATE INDEX used_proof_until ON cabinet.used_proof (until);
COMMENT ON TABLE cabinet.used_proof IS 'Solved challenges that came with an accepted event. Each is valid once.';
COMMENT ON COLUMN cabinet.used_proof.until IS 'When it has expired everywhere, and is deleted.';
