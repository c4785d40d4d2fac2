/**
 * Encrypts all secrets that are not encrypted with the first key, when a cabinet is opened: this is how keys are
 * introduced, replaced and abandoned. Any number of processes may do it at once, and each change is made only if
 * nothing else was.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import { type SecretCipher, type SecretPurpose, type Undecryptable, undecryptableWords } from "./SecretCipher.ts"
import { decryptHeaders, encryptHeaders, type HeaderPurpose, type StoredHeader } from "./StoredHeaders.ts"

/** The cabinet is not opened, because it could neither deliver nor poll without the key. */
export class SecretKeyMissing extends Schema.TaggedError<SecretKeyMissing>()("SecretKeyMissing", {
  message: Schema.String,
}) {}

/** How many rows are read at a time. */
const BATCH_ROWS = 500

/** $1: the prefix of values that are already as required; null if they should not be encrypted. */
const isOther = (value: string) =>
  `CASE WHEN $1::text IS NULL THEN starts_with(${value}, 'enc.v1.') ELSE NOT starts_with(${value}, $1) END`

/** A secret and its predecessor, as columns of a table. */
const pair = (purpose: SecretPurpose, table: string, secret: string, previous: string) => ({
  purpose,
  read: `
  SELECT id::text AS id, ${secret} AS secret, ${previous} AS previous FROM ${table}
  WHERE id > $2::int8 AND (${isOther(secret)} OR ${isOther(previous)}) ORDER BY id LIMIT ${BATCH_ROWS}`,
  set: `
  UPDATE ${table} SET ${secret} = $2, ${previous} = $3
  WHERE id = $1::int8 AND ${secret} = $4 AND ${previous} IS NOT DISTINCT FROM $5`,
})

/** A secret without a predecessor. */
const single = (purpose: SecretPurpose, table: string, secret: string) => ({
  purpose,
  read: `
  SELECT id::text AS id, ${secret} AS secret, NULL AS previous FROM ${table}
  WHERE id > $2::int8 AND ${isOther(secret)} ORDER BY id LIMIT ${BATCH_ROWS}`,
  set: `
  UPDATE ${table} SET ${secret} = $2
  WHERE id = $1::int8 AND ${secret} = $4 AND $3::text IS NULL AND $5::text IS NULL`,
})

const PAIRS = [
  pair("signing secret", "cabinet.address", "secret", "previous_secret"),
  pair("verification secret", "cabinet.source", "verify_secret", "verify_old_secret"),
  single("challenge secret", "cabinet.source", "challenge_secret"),
  single("proof secret", "cabinet.source", "proof_secret"),
  single("intake secret", "cabinet.source", "intake_secret"),
  single("client key", "cabinet.address", "client_key"),
  single("signing secret", "cabinet.address", "subscription_secret"),
  single("destination credentials", "cabinet.destination", "credentials"),
]

/** The headers of a table's rows. */
const headersOf = (purpose: HeaderPurpose, table: string) => ({
  purpose,
  read: `
  SELECT t.id::text AS id, t.headers::text AS headers FROM ${table} t
  WHERE t.id > $2::int8 AND EXISTS (
    SELECT FROM json_array_elements(t.headers) h
    WHERE (json_typeof(h->1) = 'object') <> ($1::text IS NOT NULL) OR NOT starts_with(h->1->>'encrypted', $1)
  ) ORDER BY t.id LIMIT ${BATCH_ROWS}`,
  set: `UPDATE ${table} SET headers = $2::json WHERE id = $1::int8 AND headers::text = $3`,
})

const HEADERS = [headersOf("address header", "cabinet.address"), headersOf("poll header", "cabinet.poll")]

/** Whether anything is to be done at all: a start asks once, not once a column. */
const ANYTHING = `SELECT ${[...PAIRS, ...HEADERS].map(({ read }) => `EXISTS (${read})`).join(" OR ")} AS found`

interface PairRow {
  readonly id: string
  readonly secret: string
  readonly previous: string | null
}

interface HeadersRow {
  readonly id: string
  readonly headers: string
}

/** Damaged values stay unchanged: their deliveries or requests fail with the reason until the secret is rotated. */
const refuseMissing = <A>(result: Result.Result<A, Undecryptable>): Effect.Effect<A | null, SecretKeyMissing> => {
  if (Result.isSuccess(result)) return Effect.succeed(result.success)
  if (result.failure === "damaged") return Effect.succeed(null)
  const words = undecryptableWords(result.failure)
  return Effect.fail(
    new SecretKeyMissing({
      message: `In this database ${words}. Add that key to CABINET_SECRET_KEY, after the one to be used.`,
    }),
  )
}

export const reencryptSecrets = (cipher: SecretCipher) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [any] = yield* sql.unsafe<{ readonly found: boolean }>(ANYTHING, [cipher.prefix, "0"])
    if (any?.found !== true) return
    const again = (purpose: SecretPurpose, stored: string) =>
      Effect.map(refuseMissing(cipher.decrypt(purpose, stored)), (text) =>
        text === null ? stored : cipher.encrypt(purpose, text),
      )
    for (const { purpose, read, set } of PAIRS) {
      for (let after = "0"; ;) {
        const rows = yield* sql.unsafe<PairRow>(read, [cipher.prefix, after])
        for (const { id, secret, previous } of rows) {
          const next = [yield* again(purpose, secret), previous === null ? null : yield* again(purpose, previous)]
          yield* sql.unsafe(set, [id, ...next, secret, previous])
        }
        if (rows.length < BATCH_ROWS) break
        after = rows.at(-1)!.id
      }
    }
    for (const { purpose, read, set } of HEADERS) {
      for (let after = "0"; ;) {
        const rows = yield* sql.unsafe<HeadersRow>(read, [cipher.prefix, after])
        for (const { id, headers } of rows) {
          const stored = JSON.parse(headers) as ReadonlyArray<StoredHeader>
          const plain = yield* refuseMissing(decryptHeaders(cipher, purpose, stored))
          if (plain === null) continue
          yield* sql.unsafe(set, [id, JSON.stringify(encryptHeaders(cipher, purpose, plain)), headers])
        }
        if (rows.length < BATCH_ROWS) break
        after = rows.at(-1)!.id
      }
    }
  })
