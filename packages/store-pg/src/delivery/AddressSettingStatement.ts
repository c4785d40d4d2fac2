/** The statements that change one setting of a delivery address. */

/** $1: address, $2: url. */
export const SET_URL = `
  UPDATE cabinet.address SET url = $2::text, failing_since = NULL, unanswered = false WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, $2: every source, $3: sources. */
export const SET_SOURCES = `
  WITH changed AS (
    UPDATE cabinet.address SET every_source = $2::boolean WHERE id = $1::bigint AND removed_at IS NULL RETURNING id
  ), dropped AS (
    DELETE FROM cabinet.address_source s USING changed WHERE s.address_id = changed.id AND s.source_id <> ALL ($3::bigint[])
  )
  INSERT INTO cabinet.address_source (address_id, source_id)
  SELECT DISTINCT changed.id, s.id FROM changed, unnest($3::bigint[]) AS s (id) ON CONFLICT DO NOTHING`

/** $1: address, $2: filters or null. */
export const SET_FILTERS = `
  UPDATE cabinet.address SET filters = $2::json WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, $2: headers as they are stored, or null. */
export const SET_HEADERS = `
  UPDATE cabinet.address SET headers = $2::json WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, then the values of these settings. */
export const settingsStatement = (names: ReadonlyArray<string>) => `
  UPDATE cabinet.address SET ${names.map((name, index) => `${name} = $${index + 2}`).join(", ")}
  WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, whose rate was changed. Deliveries claimed at another rate are sent at that rate. */
export const SET_PACE = `
  WITH unlimited AS (
    DELETE FROM cabinet.address_pace p USING cabinet.address a WHERE a.id = $1::bigint AND p.address_id = a.id AND a.rate IS NULL
  )
  INSERT INTO cabinet.address_pace (address_id, next_at)
  SELECT id, cabinet.now() FROM cabinet.address WHERE id = $1::bigint AND removed_at IS NULL AND rate IS NOT NULL
  ON CONFLICT DO NOTHING`

/** $1: address, $2: its body as it is stored, or null. */
export const SET_BODY = `
  UPDATE cabinet.address SET body = $2::json WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, $2: certificate, $3: key as it is stored, $4: the certificate's end; all of them null for none. */
export const SET_CLIENT_CERTIFICATE = `
  UPDATE cabinet.address SET client_certificate = $2::text, client_key = $3::text, client_certificate_ends_at = $4::timestamptz
  WHERE id = $1::bigint AND removed_at IS NULL`
