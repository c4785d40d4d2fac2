/** An address as stored in its row, and what a change writes there. */
import { randomBytes } from "node:crypto"
import type { Address, AddressSubscription, OrderedPosition, Subscription } from "@data-cabinet/core/delivery/Address"
import { MAX_HEADERS } from "@data-cabinet/core/delivery/AddressSettings"
import { type BodyChoice, type BodySetting, STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import { certificateIn } from "@data-cabinet/core/delivery/ClientCertificate"
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { mergeHeaders } from "@data-cabinet/core/delivery/HeaderChange"
import { COLUMN_SETTINGS, type SendingValues } from "@data-cabinet/core/delivery/SendingSettings"
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Result } from "effect"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { encryptHeaders, type StoredHeader } from "../key/StoredHeaders.ts"
import * as AddressSettingStatement from "./AddressSettingStatement.ts"
import type { AddressRow } from "./AddressStatement.ts"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"

/** 256 random bits, in the form of Standard Webhooks. */
export const newSecret = (cipher: SecretCipher): string =>
  cipher.encrypt("signing secret", `whsec_${randomBytes(32).toString("base64")}`)

/** A secret that cannot be decrypted is shown as stored: one broken secret must not hide the others. */
export const toAddress = (cipher: SecretCipher) => {
  const shown = (stored: string) => Result.getOrElse(cipher.decrypt("signing secret", stored), () => stored)
  return (row: AddressRow): Address => ({
    id: row.id,
    url: row.url,
    secret: shown(row.secret),
    previousSecret:
      row.previous_secret !== null && row.previous_until !== null
        ? { secret: shown(row.previous_secret), until: row.previous_until }
        : null,
    sources: row.sources === null ? "all" : (JSON.parse(row.sources) as ReadonlyArray<number>),
    subscription: row.subscription === null ? null : (JSON.parse(row.subscription) as AddressSubscription),
    filters: row.filters === null ? [] : (JSON.parse(row.filters) as FieldFilters),
    filteredEvents: row.filtered_events,
    headerNames: JSON.parse(row.header_names) as ReadonlyArray<string>,
    clientCertificate: certificateIn(row.client_certificate ?? ""),
    ...COLUMN_SETTINGS.ofRow(row),
    order: row.in_order ? "feed" : "none",
    batch: { max: row.batch_max, wait: row.batch_wait_seconds },
    body: row.body === null ? STANDARD_BODY : (JSON.parse(row.body) as BodySetting),
    position: row.position === null ? null : (JSON.parse(row.position) as OrderedPosition),
    createdAt: row.created_at,
    pausedAt: row.paused_at,
    pausedBecause: row.paused_because,
    failingSince: row.failing_since,
  })
}

/** The sources of a subscription that are stored by name; those of every source are not. */
export const sourcesOf = (sources: Subscription) => (sources === "all" ? [] : sources)

/** A filter as it is stored; null if it has no condition. */
export const storedFilters = (filters: FieldFilters): string | null =>
  filters.length === 0 ? null : JSON.stringify(filters)

/** A checked body as it is stored; null for the contract's own. */
const storedBody = (body: BodyChoice): string | null => (body.kind === "standard" ? null : JSON.stringify(body))

/** Headers as they are stored, their values encrypted. */
export const encrypted = (cipher: SecretCipher, headers: ReadonlyArray<RequestHeader>) =>
  encryptHeaders(cipher, "address header", headers)

/** The stored headers as JSON; null without any. */
export const headersText = (headers: ReadonlyArray<StoredHeader>): string | null =>
  headers.length === 0 ? null : JSON.stringify(headers)
/** A change with its secrets in their stored form. */
export type StoredChange = Omit<AddressChange, "headers" | "setHeaders" | "removeHeaders" | "clientIdentity"> & {
  readonly headers?: string | null
  /** The parameters of its statement. */
  readonly identity?: ReadonlyArray<string | null>
}

/** Whether a change gives, sets or removes headers. */
export const changesHeaders = ({ headers, setHeaders, removeHeaders }: AddressChange): boolean =>
  headers !== undefined || setHeaders !== undefined || removeHeaders !== undefined

/** A change of the address that has these headers, which are not decrypted; none if it would have too many. */
export const storedChange = (cipher: SecretCipher, made: AddressChange, was: string): Option.Option<StoredChange> => {
  const { headers, setHeaders = [], removeHeaders, clientIdentity, ...others } = made
  const settings = {
    ...others,
    ...(clientIdentity === undefined ? {} : { identity: storedIdentity(cipher, clientIdentity) }),
  }
  if (!changesHeaders(made)) return Option.some(settings)
  const all =
    headers === undefined
      ? mergeHeaders(JSON.parse(was) as ReadonlyArray<StoredHeader>, encrypted(cipher, setHeaders), removeHeaders)
      : encrypted(cipher, headers)
  return all.length > MAX_HEADERS ? Option.none() : Option.some({ ...settings, headers: headersText(all) })
}

/** The parameters of a client certificate, of which the key is a secret. */
export const storedIdentity = (cipher: SecretCipher, identity: ClientIdentity | null): ReadonlyArray<string | null> => {
  if (identity === null) return [null, null, null]
  const { certificate, key } = identity
  return [certificate, cipher.encrypt("client key", key), certificateIn(certificate)!.endsAt]
}

type Sending = Pick<StoredChange, keyof SendingValues | "identity" | "body">

/** Writes how requests are sent to an address. */
export const changeSending = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: number, changed: Sending) {
  const { identity, body } = changed
  const given = COLUMN_SETTINGS.all.filter(({ key }) => changed[key] !== undefined)
  if (given.length > 0) {
    const statement = AddressSettingStatement.settingsStatement(given.map(({ name }) => name))
    yield* sql.unsafe(statement, [id, ...given.map(({ key }) => changed[key])])
  }
  if (changed.rate !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_PACE, [id])
  if (body !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_BODY, [id, storedBody(body)])
  if (identity !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_CLIENT_CERTIFICATE, [id, ...identity])
})

/** Writes all parts of a change. */
export const change = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: number, changed: StoredChange) {
  const { url, sources, filters, headers } = changed
  if (url !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_URL, [id, url])
  if (sources !== undefined) {
    yield* sql.unsafe(AddressSettingStatement.SET_SOURCES, [id, sources === "all", sourcesOf(sources)])
  }
  if (filters !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_FILTERS, [id, storedFilters(filters)])
  if (headers !== undefined) yield* sql.unsafe(AddressSettingStatement.SET_HEADERS, [id, headers])
  yield* changeSending(sql, id, changed)
})
