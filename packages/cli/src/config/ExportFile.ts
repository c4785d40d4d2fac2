/**
 * The file of a running cabinet: what differs from the defaults, in the order of the ids, so that a difference of two files is
 * readable. Secrets are not in it; applied to the same cabinet it changes nothing.
 */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { Destination } from "@data-cabinet/core/destination/Destination"
import type { Poll } from "@data-cabinet/core/poll/Poll"
import type { Source } from "@data-cabinet/core/source/Source"
import { isDeepStrictEqual } from "node:util"
import { Document, isMap, type YAMLMap } from "yaml"
import type { CabinetState } from "./CabinetState.ts"
import { type ConfigFile, SCHEMA_FILE, SECTIONS } from "./FileSchema.ts"
import { lifetimeOf, ownPeople } from "./PlanAccess.ts"
import { ADDRESS_DEFAULTS, addressJson, type SourceNames } from "./PlanAddresses.ts"
import { destinationJson, PLACE_DEFAULTS } from "./PlanDestinations.ts"
import { POLL_DEFAULTS, pollJson } from "./PlanPolls.ts"
import { DEFAULT_SETTINGS_JSON, settingsJson } from "./PlanSources.ts"
import { proofJson, verificationJson } from "./PlanVerification.ts"

type JsonObject = { readonly [name: string]: unknown }

/** The members that differ from their defaults. */
const own = (values: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, defaults[name])))

/** Without null members of an object, which have defaults. */
const withoutNulls = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))

const sourceEntry = (source: Source): JsonObject => ({
  name: source.name,
  ...own(settingsJson(source), DEFAULT_SETTINGS_JSON),
  ...(source.verify === null ? {} : { verify: verificationEntry(source.verify) }),
  ...(source.challenge === null ? {} : { challenge: { ...source.challenge } }),
  ...(source.proof === null ? {} : { proof: proofJson(source.proof) }),
  ...(source.archived ? { archived: true } : {}),
})

const verificationEntry = (verify: NonNullable<Source["verify"]>): JsonObject => {
  const shown: JsonObject = verificationJson(verify)
  return shown["hmac"] === undefined ? shown : { ...shown, hmac: withoutNulls(shown["hmac"] as JsonObject) }
}

const headersOf = (names: ReadonlyArray<string>) =>
  names.length === 0 ? {} : { headers: names.map((name) => ({ name })) }

const addressEntry = (address: Address, names: SourceNames): JsonObject => {
  const { body, ...settings } = own(addressJson(address, names), ADDRESS_DEFAULTS)
  return {
    url: address.url,
    ...settings,
    ...(body === undefined ? {} : { body: withoutNulls(body as JsonObject) }),
    ...headersOf(address.headerNames),
    // One that was paused by itself may be resumed at any time.
    ...(address.pausedAt !== null && address.pausedBecause === null ? { paused: true } : {}),
  }
}

const pollEntry = (poll: Poll, names: SourceNames): JsonObject => ({
  source: names.get(poll.sourceId) ?? "",
  url: poll.url,
  ...own(pollJson(poll), POLL_DEFAULTS),
  ...headersOf(poll.headerNames),
  ...(poll.paused ? { paused: true } : {}),
})

const destinationEntry = (one: Destination, names: SourceNames): JsonObject => ({
  location: one.location,
  ...own(destinationJson(one, names), PLACE_DEFAULTS),
  ...(one.paused ? { paused: true } : {}),
})

const lifetime = (held: Parameters<typeof lifetimeOf>[0]) => {
  const seconds = lifetimeOf(held)
  return seconds === null ? {} : { expires_in_seconds: seconds }
}

/** What the file says of a cabinet; sections without entries are left out. */
export const fileOf = (state: CabinetState): ConfigFile => {
  const names: SourceNames = new Map(state.sources.map(({ id, name }) => [id, name]))
  const sections: { readonly [S in keyof Required<ConfigFile>]: ReadonlyArray<JsonObject> } = {
    sources: state.sources.map(sourceEntry),
    schemas: state.schemas.map((name) => ({ name })),
    addresses: state.addresses
      .filter(({ subscription }) => subscription === null)
      .map((one) => addressEntry(one, names)),
    polls: state.polls.map((one) => pollEntry(one, names)),
    destinations: state.destinations.map((one) => destinationEntry(one, names)),
    keys: state.keys.map((key) => ({ name: key.name, ...lifetime(key) })),
    tokens: state.tokens.map((token) => ({
      name: token.name,
      role: token.role,
      ...(token.only === null ? {} : { only: token.only }),
      ...lifetime(token),
    })),
    people: ownPeople(state.people).map(({ name, role }) => ({ name, role })),
  }
  return Object.fromEntries(SECTIONS.map((name) => [name, sections[name]]).filter(([, all]) => all!.length > 0))
}

/** Why the cabinet cannot be written as a file, in words; null if it can. */
export const exportMisfit = ({ sources }: CabinetState): string | null => {
  for (const [name, same] of Map.groupBy(sources, (source) => source.name)) {
    if (same.length === 1) continue
    const ids = same.map(({ id }) => id).join(" and ")
    return `The sources ${ids} are both named ${JSON.stringify(name)}, and a file names each source by its name: rename one of them first (cabinet source rename ${same.at(-1)!.id} NAME).`
  }
  return null
}

const HEAD = ` yaml-language-server: $schema=${SCHEMA_FILE}\n A cabinet as a file: cabinet apply FILE. Secrets are not in it.`

/** The key of `altcha` is each cabinet's own. */
const hasSecret = (proof: unknown): boolean =>
  typeof proof === "object" && proof !== null && "kind" in proof && proof.kind !== "altcha"

/** What cannot be exported, said where it is missing. */
const remark = (
  map: YAMLMap,
  {
    verify,
    challenge,
    proof,
    headers,
    withCertificate,
    withCredentials,
  }: {
    readonly verify?: unknown
    readonly challenge?: unknown
    readonly proof?: unknown
    readonly headers?: unknown
    readonly withCertificate: boolean
    readonly withCredentials: boolean
  },
) => {
  const lacking = [
    ...(verify === undefined ? [] : ["verify.secret"]),
    ...(challenge === undefined ? [] : ["challenge.secret"]),
    ...(hasSecret(proof) ? ["proof.secret"] : []),
    ...(headers === undefined ? [] : ["the values of headers"]),
    ...(withCertificate ? ["client_identity"] : []),
    ...(withCredentials ? ["credentials"] : []),
  ]
  if (lacking.length > 0)
    map.commentBefore = ` Not in this file, as for another cabinet they would be: ${lacking.join(", ")} (env:NAME or file:PATH).`
}

/** The text of the file, in YAML. */
export const fileText = (state: CabinetState): string => {
  const file = fileOf(state)
  const document = new Document(file, { version: "1.2", schema: "core" })
  document.commentBefore = HEAD
  const certified = new Set(
    state.addresses.filter(({ clientCertificate }) => clientCertificate !== null).map(({ url }) => url),
  )
  const held = new Set(
    state.destinations.filter(({ hasCredentials }) => hasCredentials).map(({ location }) => location),
  )
  for (const section of ["sources", "addresses", "polls", "destinations"] as const) {
    for (const [index, entry] of (file[section] ?? []).entries()) {
      const map = document.getIn([section, index], true)
      const withCertificate = section === "addresses" && "url" in entry && certified.has(entry.url)
      const withCredentials = section === "destinations" && "location" in entry && held.has(entry.location)
      if (isMap(map)) remark(map, { ...(entry as object), withCertificate, withCredentials })
    }
  }
  return document.toString({ lineWidth: 0 })
}
