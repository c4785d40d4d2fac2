/** Intake's lookup of a source: by the secret in its address, or by its id. */
import { type FilteredAddress, filteredAddress } from "@data-cabinet/core/delivery/FilteredDeliveries"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { compileSchema, type OwnSchema } from "@data-cabinet/core/schema/OwnSchema"
import type { IntakeProof } from "@data-cabinet/core/proof/FormProof"
import type { IntakeSource, KeptSettings } from "@data-cabinet/core/source/Source"
import type { ChallengeProvider, IntakeChallenge } from "@data-cabinet/core/verification/Challenge"
import type { IntakeVerification } from "@data-cabinet/core/verification/Verification"
import { type Clock, Effect, Option, Result } from "effect"
import type { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, firstRow } from "../connection/StoreFailure.ts"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { settingOf, SOURCE_COLUMNS, type SourceRow } from "./SourceRow.ts"
import { hash, randomBytes } from "node:crypto"

interface IntakeRow extends SourceRow {
  readonly verify_secret: string | null
  readonly verify_old_secret: string | null
  readonly challenge_secret: string | null
  readonly proof_secret: string | null
  readonly filtered: string | null
}

/** A source as intake reads it, with its filtered addresses: an index finds the few that have a filter. */
const INTAKE_COLUMNS = `${SOURCE_COLUMNS}, s.verify_secret, s.verify_old_secret, s.challenge_secret, s.proof_secret, (
  SELECT json_agg(json_build_object('id', a.id, 'filters', a.filters) ORDER BY a.id)::text FROM cabinet.address a
  WHERE a.filters IS NOT NULL AND a.removed_at IS NULL AND (a.every_source OR EXISTS (
    SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = s.id))) AS filtered`

const toIntakeSource =
  (cipher: SecretCipher) =>
  (row: IntakeRow): IntakeSource => ({
    id: Number(row.id),
    version: row.version,
    encoding: row.encoding,
    thanksUrl: row.thanks_url,
    kept: toKept(row),
    verification: toVerification(row, cipher),
    ...(row.nest_brackets ? { nestBrackets: true } : {}),
    ...(row.rate === null ? {} : { rate: row.rate }),
    ...(row.challenge === null ? {} : { challenge: toChallenge(row.challenge, row.challenge_secret, cipher) }),
    ...(row.honeypot === null && row.allow_origins.length === 0
      ? {}
      : { spam: { honeypot: row.honeypot, allowOrigins: row.allow_origins } }),
    ...toProof(row, cipher),
    ...toSchema(row.schema),
    ...(row.filtered === null ? {} : { filtered: toFiltered(row.filtered) }),
  })

const toVerification = (row: IntakeRow, cipher: SecretCipher): IntakeVerification | null => {
  const { verify, verify_secret: secret, verify_old_secret: old } = row
  if (verify === null) return null
  const stored = [secret, old].filter((one) => one !== null)
  const secrets = Result.all(stored.map((one) => cipher.decrypt("verification secret", one)))
  return { ...settingOf(verify), secrets: Result.getOrElse(secrets, () => null) }
}

const toChallenge = (provider: ChallengeProvider, secret: string | null, cipher: SecretCipher): IntakeChallenge => ({
  provider,
  secret: secret === null ? "" : Result.getOrElse(cipher.decrypt("challenge secret", secret), () => null),
})

const toProof = (
  { proof, proof_site_key: siteKey, proof_secret: secret }: IntakeRow,
  cipher: SecretCipher,
): { readonly proof?: IntakeProof } => {
  if (proof === null) return {}
  const read = secret === null ? null : Result.getOrElse(cipher.decrypt("proof secret", secret), () => null)
  return { proof: { kind: proof, siteKey, secret: read } }
}

/** Compiled schemas by their texts. One that is not understood, as after a downgrade, marks nothing. */
const schemas = new Map<string, { readonly schema?: OwnSchema }>()
const MAX_SCHEMAS = 100

const toSchema = (text: string | null): { readonly schema?: OwnSchema } => {
  if (text === null) return {}
  const known = schemas.get(text)
  if (known !== undefined) return known
  if (schemas.size >= MAX_SCHEMAS) schemas.clear()
  const compiled = compileSchema(text)
  const made = Result.isSuccess(compiled) ? { schema: compiled.success } : {}
  schemas.set(text, made)
  return made
}

type StoredFilters = ReadonlyArray<{ readonly id: number; readonly filters: FieldFilters }>

/** The last parsed filters: many sources share the same addresses. */
let last: { readonly json: string; readonly filtered: ReadonlyArray<FilteredAddress> } = { json: "[]", filtered: [] }

const toFiltered = (json: string): ReadonlyArray<FilteredAddress> => {
  if (json !== last.json) {
    const stored = JSON.parse(json) as StoredFilters
    last = { json, filtered: stored.map(({ id, filters }) => filteredAddress(id, filters)) }
  }
  return last.filtered
}

/** Null if the source keeps nothing, so that intake checks a single value. */
const toKept = ({ keep_headers: headers, header_fields: fields, keep_query: query }: SourceRow): KeptSettings | null =>
  headers.length > 0 || fields.length > 0 || query ? { headers, fields, query } : null

/** Maximum number of cached secrets. A stale entry does no harm, because accepting an event refuses an outdated version. */
const MAX_CACHED = 10_000

/**
 * How long a source stays cached. Accepting an event proves that the entry is current, but refusing a request, such as one
 * over the source's rate, does not.
 */
const MAX_AGE_MILLIS = 60_000

interface CachedSource {
  readonly source: IntakeSource
  /** On this process's clock. */
  readonly since: number
}

/** Only the cabinet itself writes to the source of notices. */
const IS_SENT_TO = "NOT EXISTS (SELECT FROM cabinet.notice_source n WHERE n.source_id = s.id)"

/** Intake's lookups, with a cache of sources by their secrets. */
export const intakeLookup = (quick: StatementClient["Service"], cipher: SecretCipher, clock: Clock.Clock) => {
  const intakeSource = toIntakeSource(cipher)
  const cached = new Map<string, CachedSource>()
  return {
    cached: (secret: string) => {
      const known = cached.get(secret)
      if (known === undefined) return undefined
      const age = clock.currentTimeMillisUnsafe() - known.since
      return age >= 0 && age < MAX_AGE_MILLIS ? known.source : undefined
    },
    bySecret: Effect.fnUntraced(function* (secret: string) {
      const [row] = yield* quick.unsafe<IntakeRow & { readonly by_old: boolean }>(
        `SELECT ${INTAKE_COLUMNS}, s.secret_hash <> $1 AS by_old FROM cabinet.source s
         WHERE (s.secret_hash = $1 OR (s.old_secret_hash = $1 AND s.old_secret_until > cabinet.now()))
           AND s.deleted_at IS NULL AND s.archived_at IS NULL AND ${IS_SENT_TO}`,
        [secretHash(secret)],
      )
      if (row === undefined || row.by_old) {
        // An old secret is looked up each time: this process is not notified when it expires.
        cached.delete(secret)
        return row === undefined ? Option.none() : Option.some(intakeSource(row))
      }
      if (cached.size >= MAX_CACHED) cached.clear()
      const source = intakeSource(row)
      cached.set(secret, { source, since: clock.currentTimeMillisUnsafe() })
      return Option.some(source)
    }, orUnavailable),
    forIntake: (id: number) =>
      firstRow(
        quick.unsafe<IntakeRow>(
          `SELECT ${INTAKE_COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL AND s.archived_at IS NULL`,
          [id],
        ),
        intakeSource,
      ),
  }
}

/** The secret in an intake address. It is looked up by its hash. */
export const newSecret = (): string => randomBytes(24).toString("base64url")
export const secretHash = (secret: string): Buffer => hash("sha256", secret, "buffer")
