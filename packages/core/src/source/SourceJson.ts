/** A source as JSON, for the API and the command line. */
import type { LimitedCount } from "../limit/LimitedRequests.ts"
import { placeOf, type Verification } from "../verification/Verification.ts"
import type { Source, SourceWithSecret } from "./Source.ts"

/** For readers: without its secret and settings. */
export const sourceJson = ({ id, name, archived, table, createdAt }: Source) => ({
  id,
  name,
  archived,
  table: table === null ? null : { schema: table.schema, name: table.name },
  created_at: createdAt,
})

/** For its owner: with its settings. */
export const ownSourceJson = (source: Source) => ({
  ...sourceJson(source),
  encoding: source.encoding,
  thanks_url: source.thanksUrl,
  keep_headers: source.keepHeaders,
  header_fields: source.headerFields,
  keep_query: source.keepQuery,
  nest_brackets: source.nestBrackets,
  honeypot: source.honeypot,
  allow_origins: source.allowOrigins,
  verify: source.verify === null ? null : verificationJson(source.verify),
  challenge: source.challenge === null ? null : { provider: source.challenge.provider },
  rate: source.rate,
  old_secret_until: source.oldSecretUntil,
  limited: source.limited === null ? null : limitedJson(source.limited),
})

const limitedJson = ({ count, since, lastAt }: LimitedCount) => ({ count, since, last_at: lastAt })

const verificationJson = ({ recipe, mode, hmac, keepsOldSecret, ...place }: Verification) => ({
  recipe,
  mode,
  ...placeOf(place),
  hmac:
    hmac === null
      ? null
      : {
          header: hmac.header,
          algorithm: hmac.algorithm,
          encoding: hmac.encoding,
          prefix: hmac.prefix,
          timestamp_header: hmac.timestampHeader,
          tolerance_seconds: hmac.toleranceSeconds,
          ...(hmac.field === undefined ? {} : { field: hmac.field }),
          ...(hmac.value === undefined ? {} : { value: hmac.value }),
          ...(hmac.signed === undefined ? {} : { signed: hmac.signed }),
          ...(hmac.timestampField === undefined ? {} : { timestamp_field: hmac.timestampField }),
          ...(hmac.idHeader === undefined ? {} : { id_header: hmac.idHeader }),
        },
  keeps_old_secret: keepsOldSecret,
})

/** The path of a source's intake address, which contains its secret. */
export const intakePath = (source: SourceWithSecret): string => `/webhook/${source.intakeSecret}`

/** With its intake address. `known`: whether the base address is the configured one, or a guess. */
export const revealedSourceJson = (
  source: SourceWithSecret,
  { url: baseUrl, known }: { readonly url: string; readonly known: boolean },
) => {
  const { id, name, table, ...rest } = ownSourceJson(source)
  const path = intakePath(source)
  return {
    id,
    name,
    intake_url: `${baseUrl}${path}`,
    intake_path: path,
    table,
    rows_url: table === null ? null : `${baseUrl}/api/v1/tables/${table.schema}/${table.name}/rows`,
    base_url_known: known,
    ...rest,
  }
}
