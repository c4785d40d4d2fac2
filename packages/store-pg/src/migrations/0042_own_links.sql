-- A link that people issue for themselves is no proof of who they are: from a stolen session of an owner, it would replace the password.

ALTER TABLE cabinet.sign_in_link ADD COLUMN self_issued boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.sign_in_link.self_issued IS 'Whether the person issued it, from a session of theirs.';

ALTER TABLE cabinet.session ADD COLUMN self_issued boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN cabinet.session.self_issued IS 'Whether it began with such a link: it then replaces no password without the current one.';
