/** The delivery addresses of a file. */
import { type Address, addressShape } from "@data-cabinet/core/delivery/Address"
import type { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { checkBatch, checkBody, checkBodyFits, checkSettings } from "@data-cabinet/core/delivery/AddressSettings"
import { parseAddressUrl } from "@data-cabinet/core/delivery/AddressUrl"
import { STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import { certificateIn } from "@data-cabinet/core/delivery/ClientCertificate"
import { checkFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"
import { NO_BATCHES, SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import type { Source } from "@data-cabinet/core/source/Source"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { ADDRESS_PARAMS, bodyOf, changeOf } from "@data-cabinet/http-node/delivery/AddressBodies"
import { Effect, Result } from "effect"
import type { Entry } from "./FileSchema.ts"
import { planHeaders } from "./PlanHeaders.ts"
import type { Path, Problem } from "./Problem.ts"
import {
  fieldChanges,
  type FieldChange,
  type Made,
  type Pair,
  pairUp,
  pick,
  type Planning,
  SECRET,
  type SectionPlan,
  type Step,
} from "./Step.ts"

type AddressEntry = Entry<"addresses">

/** The defaults of a new address, under their names in the file. */
export const ADDRESS_DEFAULTS = {
  sources: "all" as unknown,
  filters: [] as unknown,
  ...(snakeKeys(SENDING_SETTINGS.defaults) as { readonly [name: string]: unknown }),
}

const NAMES = Object.keys(ADDRESS_DEFAULTS)

/** The names of sources by id. */
export type SourceNames = ReadonlyMap<number, string>

/** The settings of an address as a file shows them; its sources by name, in order. */
export const addressJson = (address: Address, names: SourceNames): { readonly [name: string]: unknown } => ({
  ...pick(addressShape.json(address), NAMES),
  sources: address.sources === "all" ? "all" : address.sources.map((id) => names.get(id) ?? `source ${id}`).sort(),
})

/** The settings that an entry demands, with their defaults, in the form in which they are stored. */
const demanded = (entry: AddressEntry) => {
  const { sources = "all", body } = entry
  const order = entry.order ?? "none"
  const whole = body === undefined ? STANDARD_BODY : Result.getOrElse(checkBody(bodyOf(body)), () => STANDARD_BODY)
  return {
    ...ADDRESS_DEFAULTS,
    ...pick(entry, NAMES),
    batch: order === "feed" ? (entry.batch ?? NO_BATCHES) : NO_BATCHES,
    sources: sources === "all" ? "all" : [...new Set(sources)].sort(),
    body: snakeKeys(whole),
  }
}

const hrefOf = (url: string): string =>
  Result.match(parseAddressUrl(url), { onSuccess: ({ href }) => href, onFailure: () => url })

const settingsProblems = (entry: AddressEntry, path: Path): ReadonlyArray<Problem> => {
  const { sources: _, headers: __, client_identity: ___, paused: ____, ...settings } = entry
  const change = changeOf(settings)
  const checked = Result.gen(function* () {
    const url = yield* parseAddressUrl(entry.url)
    yield* checkFilters(change.filters ?? [])
    yield* checkSettings(change)
    yield* checkBatch(change.order ?? "none", change.batch ?? NO_BATCHES)
    const body = yield* checkBody(change.body ?? STANDARD_BODY)
    yield* checkBodyFits(body, url.href, change.batch ?? NO_BATCHES)
  })
  return Result.isSuccess(checked) ? [] : [problemOf(checked.failure, path)]
}

const problemOf = ({ code, message }: AddressError, path: Path): Problem => {
  const steps = (ADDRESS_PARAMS[code as keyof typeof ADDRESS_PARAMS] ?? "").split("/").slice(1)
  return { path: [...path, ...steps], message }
}

interface PlannedIdentity {
  readonly fields: ReadonlyArray<FieldChange>
  readonly change: Pick<AddressChange, "clientIdentity">
  readonly problems: ReadonlyArray<Problem>
}

/** A certificate has no secret, so another one in its file is noticed; the key goes with it. */
const planIdentity = (entry: AddressEntry, object: Address | null, path: Path, planning: Planning): PlannedIdentity => {
  const wanted = entry.client_identity
  const current = object?.clientCertificate ?? null
  const none: PlannedIdentity = { fields: [], change: {}, problems: [] }
  if (wanted === undefined || (wanted === null && current === null)) return none
  if (wanted === null) {
    const fields = [{ name: "client_identity", before: current?.fingerprint, after: null }]
    return { ...none, fields, change: { clientIdentity: null } }
  }
  const { references, sendSecrets } = planning
  const peeked = references.peek(wanted.certificate)
  const fingerprint = peeked === null ? null : (certificateIn(peeked)?.fingerprint ?? null)
  if (current !== null && !sendSecrets && (peeked === null || fingerprint === current.fingerprint)) return none
  const at = [...path, "client_identity"]
  const found = references.problems.length
  const clientIdentity = {
    certificate: references.read(wanted.certificate, [...at, "certificate"]),
    key: references.read(wanted.key, [...at, "key"]),
  }
  if (references.problems.length > found) return none
  const checked = checkSettings({ clientIdentity })
  if (Result.isFailure(checked)) return { ...none, problems: [problemOf(checked.failure, path)] }
  const fields = [
    { name: "client_identity", before: current?.fingerprint ?? null, after: fingerprint },
    { name: "client_identity.key", before: current === null ? null : SECRET, after: SECRET },
  ]
  return { fields, change: { clientIdentity }, problems: [] }
}

const pausing = (entry: { readonly paused?: boolean }, before: boolean): ReadonlyArray<FieldChange> =>
  entry.paused === undefined || entry.paused === before ? [] : [{ name: "paused", before, after: entry.paused }]

/** The ids of the sources that an entry names. They exist by then. */
const sourcesOf = (sources: AddressEntry["sources"], made: Made) =>
  sources === undefined || sources === "all"
    ? ("all" as const)
    : [...new Set(sources)].map((name) => made.sources.get(name)!)

const planOne = ({ entry, path, object }: Pair<AddressEntry, Address>, names: SourceNames, planning: Planning) => {
  const url = hrefOf(entry.url)
  const after = demanded(entry)
  const before = object === null ? ADDRESS_DEFAULTS : addressJson(object, names)
  const own = fieldChanges(before, after)
  const headers = planHeaders(entry.headers, object?.headerNames ?? [], { path, replacesAll: false, planning })
  const identity = planIdentity(entry, object, path, planning)
  const switched = pausing(entry, object?.pausedAt != null)
  const changed = pick(
    after,
    own.map(({ name }) => name),
  )
  const changesOwn = own.length + headers.fields.length + identity.fields.length > 0
  const step: Step = {
    section: "addresses",
    action: object === null ? "create" : "change",
    name: url,
    fields: [...own, ...headers.fields, ...identity.fields, ...switched],
    run: Effect.fnUntraced(function* (made) {
      const addresses = yield* Addresses
      const { sources: _, ...settings } = changed as Parameters<typeof changeOf>[0]
      const sources = sourcesOf(entry.sources, made)
      const sent = { ...changeOf(settings), ...identity.change }
      const id = object?.id ?? (yield* addresses.create({ ...sent, headers: headers.set, url: entry.url, sources })).id
      if (object !== null && changesOwn) {
        yield* addresses.set(id, {
          ...sent,
          ...("sources" in changed ? { sources } : {}),
          ...(headers.set.length > 0 ? { setHeaders: headers.set } : {}),
          ...(headers.removed.length > 0 ? { removeHeaders: headers.removed } : {}),
        })
      }
      if (switched.length > 0) yield* entry.paused === true ? addresses.pause(id) : addresses.resume(id)
    }),
  }
  const problems = [...settingsProblems(entry, path), ...headers.problems, ...identity.problems]
  return { step, problems, isSame: object !== null && step.fields.length === 0 }
}

const removal = ({ id, url }: Address): Step => ({
  section: "addresses",
  action: "remove",
  name: url,
  fields: [],
  run: () => Addresses.use((addresses) => addresses.remove(id)),
})

/** Entries that name a source which is neither in the file nor in the cabinet, or more than one. */
const unknownSources = (entries: ReadonlyArray<AddressEntry>, isKnown: (name: string) => string | null) =>
  entries.flatMap(({ sources }, index) =>
    sources === undefined || sources === "all"
      ? []
      : sources.flatMap((name, at): ReadonlyArray<Problem> => {
          const message = isKnown(name)
          return message === null ? [] : [{ path: ["addresses", index, "sources", at], message }]
        }),
  )

/** What a plan of addresses needs to know of the sources. */
export interface KnownSources {
  readonly names: SourceNames
  /** Why the name names no source, or more than one; null if it names one. */
  readonly misfit: (name: string) => string | null
}

/** The sources that stay, those of the file, and `all` of the cabinet, which have names even if they are removed. */
export const knownSources = (
  staying: ReadonlyArray<Source>,
  added: ReadonlyArray<string>,
  all: ReadonlyArray<Source>,
): KnownSources => {
  const byName = Map.groupBy(staying, ({ name }) => name)
  const names = new Set([...byName.keys(), ...added])
  return {
    names: new Map(all.map(({ id, name }) => [id, name])),
    misfit: (name) => {
      const called = JSON.stringify(name)
      if (!names.has(name)) return `There is no source named ${called}, neither in the file nor in the cabinet.`
      return (byName.get(name)?.length ?? 1) > 1
        ? `More than one source is named ${called}: rename one of them first (cabinet source rename).`
        : null
    },
  }
}

/** The steps for the addresses of a file. Subscriptions of agents are theirs, and stay. */
export const planAddresses = (
  entries: ReadonlyArray<AddressEntry>,
  current: ReadonlyArray<Address>,
  { names, misfit }: KnownSources,
  planning: Planning,
): SectionPlan => {
  const own = current.filter(({ subscription }) => subscription === null)
  const { pairs, left, problems } = pairUp("addresses", entries, own, {
    ofEntry: ({ url }) => hrefOf(url),
    ofObject: ({ url }) => url,
  })
  const planned = pairs.map((pair) => planOne(pair, names, planning))
  return {
    steps: planned.filter(({ isSame }) => !isSame).map(({ step }) => step),
    removals: left.map(removal),
    unchanged: planned.filter(({ isSame }) => isSame).length,
    problems: [...unknownSources(entries, misfit), ...problems, ...planned.flatMap((one) => one.problems)],
  }
}
