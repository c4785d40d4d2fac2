/** A source as the command shows it, with its intake address. */
import { droppedFields, type KnownSender, unverifiedSender } from "@data-cabinet/core/diagnostics/KnownSender"
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import type { BaseUrl } from "@data-cabinet/core/source/BaseAddress"
import { intakePath } from "@data-cabinet/core/source/SourceShape"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import type { Place } from "@data-cabinet/core/verification/Recipe"
import { placeOf, type Verification } from "@data-cabinet/core/verification/Verification"
import type { LimitedCount } from "@data-cabinet/core/limit/LimitedRequests"
import { counted } from "@data-cabinet/core/text/Counted"
import { card } from "../output/Columns.ts"
import type { Style } from "../output/Style.ts"
import { settingLines } from "./SettingFlags.ts"

/** The qualified name of the source's table. */
export const tableName = ({ table }: Source): string => (table === null ? "none" : `${table.schema}.${table.name}`)

/** Printed beside an intake address whose base URL is not configured. */
export const GUESSED =
  "The cabinet's public base URL is not configured, so this address is a guess: set it with --base-url or BASE_URL."

const placeText = ({ header, query, field }: Place): string => {
  if (header !== undefined) return ` in the header ${header}`
  if (query !== undefined) return ` in the query, as ${query}`
  return field === undefined ? "" : ` in the field ${field}`
}

const verifiedBy = ({ recipe, mode, hmac, keepsOldSecret, ...place }: Verification): string =>
  `${recipe}${hmac === null ? placeText(place) : `, ${hmac.algorithm}${placeText(placeOf({ header: hmac.header ?? undefined, query: undefined, field: hmac.field }))}`}${mode === "mark" ? "; others are marked" : ""}${keepsOldSecret ? "; the old secret also counts" : ""}`

const limitedText = ({ count, since, lastAt }: LimitedCount): string =>
  `${counted(count, "request", "requests")} from ${since} to ${lastAt}, because they exceeded the rate limit`

/** What is known of a source beside its settings. */
export interface AboutSource {
  readonly baseUrl: BaseUrl
  /** The source of notices, whose intake address accepts nothing. */
  readonly isOwn: boolean
  readonly sender: KnownSender | null
}

const senderText = (id: number, { provider, dropsFields }: KnownSender): string =>
  dropsFields ? droppedFields(id, provider) : unverifiedSender(id, provider)

const provenBy = ({ kind, siteKey }: NonNullable<SourceWithSecret["proof"]>): string =>
  siteKey === null ? kind : `${kind}, site key ${siteKey}`

/** The source, line by line. */
export const sourceCard = (
  source: SourceWithSecret,
  { baseUrl: { url, known }, isOwn, sender }: AboutSource,
  style: Style,
): string =>
  card(
    [
      [
        "Source",
        `${source.id}  ${source.name}${source.archived ? "  (archived: its intake address returns 404)" : ""}`,
      ],
      ["Intake address", isOwn ? "none: only the cabinet itself writes to it" : `${url}${intakePath(source)}`],
      ...(known || isOwn ? [] : [["", GUESSED] as const]),
      ["Table", tableName(source)],
      ...settingLines(SOURCE_SETTINGS, source),
      ...(sender === null ? [] : [["Sender", senderText(source.id, sender)] as const]),
      ...(source.verify === null ? [] : [["Verified by", verifiedBy(source.verify)] as const]),
      ...(source.challenge === null ? [] : [["Answers", source.challenge.provider] as const]),
      ...(source.proof === null ? [] : [["Proof of a person", provenBy(source.proof)] as const]),
      ...(source.oldSecretUntil === null ? [] : [["Old address", `accepted until ${source.oldSecretUntil}`] as const]),
      ...(source.limited === null ? [] : [["Refused (429)", limitedText(source.limited)] as const]),
      ["Created", source.createdAt],
    ],
    style,
  )
