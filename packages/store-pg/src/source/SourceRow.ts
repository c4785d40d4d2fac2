/** Rows of `cabinet.source`, and the sources that they describe. */
import type { LimitedCount } from "@data-cabinet/core/limit/LimitedRequests"
import type { Snake } from "@data-cabinet/core/json/KeyCase"
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import { SOURCE_SETTINGS, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import type { ProofKind } from "@data-cabinet/core/proof/FormProof"
import type { ChallengeProvider } from "@data-cabinet/core/verification/Challenge"
import { placeOf, type StoredVerification, type Verification } from "@data-cabinet/core/verification/Verification"
import { Result } from "effect"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { LIMITED_OF_SOURCE } from "../limit/PgLimitedRequests.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"

type SettingColumns = { readonly [K in keyof SourceSettings as Snake<K>]: SourceSettings[K] }

export interface SourceRow extends SettingColumns {
  readonly id: string
  readonly name: string
  readonly archived: boolean
  readonly table_name: string | null
  readonly created_at: string
  readonly intake_secret: string
  readonly version: number
  /** JSON text, because not every pool parses JSON. */
  readonly verify: string | null
  readonly keeps_old_secret: boolean
  readonly challenge: ChallengeProvider | null
  readonly proof: ProofKind | null
  readonly proof_site_key: string | null
  readonly old_secret_until: string | null
  readonly limited: string | null
}

/** The value of `cabinet.source.verify`. */
type VerifySetting = Omit<Verification, "keepsOldSecret">

export const SOURCE_COLUMNS = `s.id::text AS id, s.name, s.archived_at IS NOT NULL AS archived, s.table_name,
  cabinet.rfc3339(s.created_at) AS created_at, s.intake_secret, s.version,
  ${SOURCE_SETTINGS.all.map(({ name }) => `s.${name}`).join(", ")}, s.verify::text AS verify, s.verify_old_secret IS NOT NULL AS keeps_old_secret, s.challenge,
  s.proof, s.proof_site_key,
  CASE WHEN s.old_secret_until > cabinet.now() THEN cabinet.rfc3339(s.old_secret_until) END AS old_secret_until,
  ${LIMITED_OF_SOURCE} AS limited`

export const toSource = (row: SourceRow): Source => ({
  id: Number(row.id),
  name: row.name,
  archived: row.archived,
  table: row.table_name === null ? null : { schema: SOURCES_SCHEMA, name: row.table_name },
  createdAt: row.created_at,
  ...SOURCE_SETTINGS.ofRow(row),
  verify: row.verify === null ? null : { ...settingOf(row.verify), keepsOldSecret: row.keeps_old_secret },
  challenge: row.challenge === null ? null : { provider: row.challenge },
  proof: row.proof === null ? null : { kind: row.proof, siteKey: row.proof_site_key },
  oldSecretUntil: row.old_secret_until,
  limited: row.limited === null ? null : (JSON.parse(row.limited) as LimitedCount),
})

/** Settings stored before modes existed lack one. */
export const settingOf = (verify: string): VerifySetting => {
  const { mode = "reject", ...setting } = JSON.parse(verify) as Omit<VerifySetting, "mode"> & Partial<VerifySetting>
  return { ...setting, mode }
}

/** A secret that cannot be decrypted is shown as stored; requests are still found by its hash. */
export const toSourceWithSecret =
  (cipher: SecretCipher) =>
  (row: SourceRow): SourceWithSecret => ({
    ...toSource(row),
    intakeSecret: Result.getOrElse(cipher.decrypt("intake secret", row.intake_secret), () => row.intake_secret),
  })

export const settingJson = ({ recipe, mode, hmac, ...place }: StoredVerification): string =>
  JSON.stringify({ recipe, mode, hmac, ...placeOf(place) } satisfies VerifySetting)
