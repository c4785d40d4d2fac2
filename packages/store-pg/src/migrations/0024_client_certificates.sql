-- With which certificate an address is sent to, where its receiver demands one (mutual TLS).

ALTER TABLE cabinet.address
  ADD COLUMN client_certificate         text,
  ADD COLUMN client_key                 text,
  ADD COLUMN client_certificate_ends_at timestamptz,
  ADD CONSTRAINT address_client_certificate_check CHECK (
    num_nulls(client_certificate, client_key, client_certificate_ends_at) IN (0, 3));
COMMENT ON COLUMN cabinet.address.client_certificate IS 'In PEM, with the chain behind it; NULL: none.';
COMMENT ON COLUMN cabinet.address.client_key IS 'Its key in PEM, perhaps encrypted.';
