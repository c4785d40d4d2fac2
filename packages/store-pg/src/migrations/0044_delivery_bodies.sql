-- Deliveries whose body is that of a receiver: a CloudEvent, a message of a chat, a form, or one described by a template.

ALTER TABLE cabinet.address ADD COLUMN body json;
COMMENT ON COLUMN cabinet.address.body IS 'What its deliveries carry: kind, template, method and contentType. Null: the body of the contract.';
