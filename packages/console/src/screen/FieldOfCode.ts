/** The fields of the console's forms that a refusal is about, by its code; the first that a form has is marked. */
import { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { type AnyNamed, type AnySettings, partsOf } from "@data-cabinet/core/json/Setting"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { ManageCode } from "@data-cabinet/http-node/manage/ManageCode"

const DECLARED: ReadonlyArray<AnySettings> = [
  SOURCE_SETTINGS,
  POLL_SETTINGS,
  SENDING_SETTINGS,
  SECRET_SETTINGS,
  S3_SETTINGS,
]

/** The fields of a value with parts: its document first, in which most errors are. */
const partNames = (named: AnyNamed): ReadonlyArray<string> => {
  const isDocument = ({ setting: { input } }: AnyNamed) => input.kind === "text" && input.is === "document"
  const parts = partsOf(named)
  return [...parts.filter(isDocument), ...parts.filter((part) => !isDocument(part))].map(({ name }) => name)
}

const declaredFields = ({ all, errors }: AnySettings) =>
  errors.map(({ code, name }) => {
    const whole = all.find((named) => named.name === name && named.setting.input.kind === "parts")
    return [code, whole === undefined ? [name.replaceAll("/", "_")] : partNames(whole)] as const
  })

const FIELDS: Readonly<Partial<Record<ManageCode, ReadonlyArray<string>>>> = {
  ...Object.fromEntries(DECLARED.flatMap(declaredFields)),
  bad_columns: ["name", "column"],
  bad_challenge: ["secret", "provider"],
  bad_expiry: ["lifetime", "keep_old"],
  bad_filter: ["fc"],
  bad_fo: ["fo"],
  bad_from: ["from"],
  bad_fv: ["fv"],
  bad_header: ["header_name"],
  bad_location: ["location"],
  bad_label: ["label"],
  bad_name: ["name"],
  bad_notation: ["type"],
  bad_only: ["only", "role"],
  bad_option: ["header_row"],
  bad_password: ["password"],
  bad_period: ["from", "to"],
  bad_proof: ["secret", "site_key", "kind"],
  bad_range: ["from", "to"],
  bad_role: ["role"],
  bad_title: ["title"],
  bad_url: ["url"],
  bad_verify: ["header", "recipe"],
  bad_verify_secret: ["secret"],
  bad_view_name: ["view"],
  certificate_needed: ["client_identity_certificate", "url"],
  headers_needed: ["header_name", "url"],
  last_owner: ["role", "confirm"],
  destination_exists: ["location"],
  name_not_found: ["url", "endpoint"],
  name_taken: ["name"],
  no_such_event: ["event", "preview_event", "confirm"],
  no_such_source: ["source", "source_id"],
  no_such_table: ["only"],
  not_indexable: ["column"],
  not_public: ["url", "endpoint"],
  not_s3: ["endpoint"],
  same_file: ["again"],
  too_many_destinations: ["location"],
  too_many_addresses: ["source", "scope"],
  unknown_column: ["fc"],
  unreadable: ["file"],
  wrong_password: ["current"],
}

/** A named parameter first: it is more exact than the code. */
export const fieldsOf = ({ code, param }: Pick<ManageError, "code" | "param">): ReadonlyArray<string> => {
  const named = typeof param === "string" ? [param.slice(param.lastIndexOf("/") + 1)] : []
  return [...named, ...(FIELDS[code] ?? [])]
}
