/** The destinations of a file, each named by its location. */
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { checkChange, checkPlace } from "@data-cabinet/core/destination/CheckDestination"
import {
  type Destination,
  DESTINATION_DEFAULTS,
  DestinationAdapters,
  destinationShape,
} from "@data-cabinet/core/destination/Destination"
import type { DestinationError } from "@data-cabinet/core/destination/DestinationError"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import {
  CREDENTIALS_EXPECTED,
  credentialsOf,
  type DestinationCredentials,
  type GivenCredentials,
} from "@data-cabinet/core/destination/DestinationCredentials"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import { S3_SETTINGS, type S3Settings } from "@data-cabinet/core/destination/S3Settings"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { camelFields } from "@data-cabinet/http-node/manage/ManageBodies"
import { Effect, Option, Result } from "effect"
import type { Entry } from "./FileSchema.ts"
import type { KnownSources, SourceNames } from "./PlanAddresses.ts"
import type { Path, Problem } from "./Problem.ts"
import {
  fieldChanges,
  type Made,
  type Pair,
  pairUp,
  pick,
  type Planning,
  repeated,
  SECRET,
  type SectionPlan,
  type Step,
} from "./Step.ts"

type DestinationEntry = Entry<"destinations">

/** What stays as it was added. */
const FIXED = ["format", "sources"]

const SETTINGS = S3_SETTINGS.all.map(({ name }) => name)

/** The defaults of a new destination, under their names in the file. */
export const PLACE_DEFAULTS: { readonly [name: string]: unknown } = {
  format: DESTINATION_DEFAULTS.format,
  sources: "all",
  ...(snakeKeys(S3_SETTINGS.defaults) as object),
}

/** The settings of a destination as a file shows them; its sources by name, in order, without deleted ones. */
export const destinationJson = (one: Destination, names: SourceNames): { readonly [name: string]: unknown } => ({
  ...pick(destinationShape.json(one), Object.keys(PLACE_DEFAULTS)),
  sources: one.sources === null ? "all" : one.sources.flatMap((id) => names.get(id) ?? []).sort(),
})

const settingsOf = (entry: DestinationEntry): S3Settings => {
  const { endpoint, ...others } = { ...S3_SETTINGS.defaults, ...camelFields(pick(entry, SETTINGS)) } as S3Settings
  return { endpoint: S3_SETTINGS.declared.endpoint.stored(endpoint), ...others }
}

/** All that an entry demands, with its defaults, in the form in which it is stored. */
const demanded = (entry: DestinationEntry): { readonly [name: string]: unknown } => {
  const { sources = "all" } = entry
  return {
    ...PLACE_DEFAULTS,
    ...pick(entry, Object.keys(PLACE_DEFAULTS)),
    ...(snakeKeys(settingsOf(entry)) as object),
    sources: sources === "all" ? "all" : [...new Set(sources)].sort(),
  }
}

const PARAMS: { readonly [code: string]: string } = {
  ...Object.fromEntries(S3_SETTINGS.errors.map(({ code, name }) => [code, name])),
  bad_location: "location",
  not_public: "endpoint",
  name_not_found: "endpoint",
  bad_credentials: "credentials",
  credentials_needed: "credentials",
}

const problemOf = ({ code, message }: DestinationError, path: Path): Problem => {
  const member = PARAMS[code]
  return { path: member === undefined ? path : [...path, member], message }
}

/** Everything but the network and the directory is checked here. */
const ANYWHERE = { check: () => Effect.void }

/** In the place of credentials that are there, wherever they are. */
const held = (location: string): DestinationCredentials =>
  isNats(location) ? { token: "held" } : { accessKeyId: "held", secretAccessKey: "held", sessionToken: null }

const checked = (
  entry: DestinationEntry,
  object: Destination | null,
  given: DestinationCredentials | null,
  check: AddressCheck["Service"] = ANYWHERE,
  obstacle: string | null = null,
): Effect.Effect<unknown, DestinationError> => {
  const settings = settingsOf(entry)
  const { location, format = DESTINATION_DEFAULTS.format } = entry
  return object === null
    ? checkPlace(check, { ...settings, location, format, credentials: given }, obstacle)
    : checkChange(check, object, { ...settings, ...(given === null ? {} : { credentials: given }) })
}

const readCredentials = (
  entry: NonNullable<DestinationEntry["credentials"]>,
  path: Path,
  { references }: Planning,
): DestinationCredentials | null => {
  const found = references.problems.length
  const read = Object.entries(entry).map(([name, reference]) => [name, references.read(reference, [...path, name])])
  return references.problems.length > found
    ? null
    : credentialsOf(camelFields(Object.fromEntries(read)) as GivenCredentials)
}

/** Whether the references are those of one kind of credentials. */
const areOneKind = (entry: DestinationEntry): boolean =>
  entry.credentials === undefined || credentialsOf(camelFields(entry.credentials)) !== null

const sourcesOf = (entry: DestinationEntry, made: Made): ReadonlyArray<number> | null =>
  entry.sources === undefined || entry.sources === "all"
    ? null
    : [...new Set(entry.sources)].map((name) => made.sources.get(name)!)

const fixed = (location: string) =>
  `fixed when a destination is added: remove it first (cabinet destination remove ${location}), and move its files elsewhere.`

const planOne = (
  { entry, path, object }: Pair<DestinationEntry, Destination>,
  names: SourceNames,
  planning: Planning,
) => {
  const after = demanded(entry)
  const own = fieldChanges(object === null ? PLACE_DEFAULTS : destinationJson(object, names), after)
  const settings = own.filter(({ name }) => !FIXED.includes(name))
  const moves = settings.some(({ name }) => name === "endpoint")
  const isSent = entry.credentials !== undefined && (object === null || planning.sendSecrets || moves)
  const credentials = isSent ? readCredentials(entry.credentials, [...path, "credentials"], planning) : null
  const wasPaused = object?.paused ?? false
  const { paused = wasPaused } = entry
  const switched = paused === wasPaused ? [] : [{ name: "paused", before: wasPaused, after: paused }]
  const sent = isSent ? [{ name: "credentials", before: object === null ? null : SECRET, after: SECRET }] : []
  const step: Step = {
    section: "destinations",
    action: object === null ? "create" : "change",
    name: entry.location,
    fields: [...own, ...sent, ...switched],
    run: Effect.fnUntraced(function* (made) {
      const destinations = yield* Destinations
      const { location, format = DESTINATION_DEFAULTS.format, from = DESTINATION_DEFAULTS.from } = entry
      const place = settingsOf(entry)
      const added = { location, format, from, sources: sourcesOf(entry, made), ...place, credentials }
      const id = object?.id ?? (yield* destinations.add(added)).id
      if (object !== null && settings.length + sent.length > 0) {
        yield* destinations.change(id, { ...place, ...(credentials === null ? {} : { credentials }) })
      }
      if (switched.length > 0) yield* paused ? destinations.pause(id) : destinations.resume(id)
    }),
  }
  const changes = object === null || settings.length + sent.length > 0
  // Without what the references lead to, which is a problem of its own.
  const given = isSent ? (credentials ?? held(entry.location)) : null
  const result = changes ? Effect.runSync(Effect.result(checked(entry, object, given))) : Result.succeed(null)
  const problems: ReadonlyArray<Problem> = [
    ...(object === null ? [] : own)
      .filter(({ name }) => FIXED.includes(name))
      .map(({ name }) => ({ path: [...path, name], message: fixed(entry.location) })),
    ...(object === null && entry.sources?.length === 0
      ? [{ path: [...path, "sources"], message: "Name at least one source, or leave it out for all." }]
      : []),
    ...(areOneKind(entry) ? [] : [{ path: [...path, "credentials"], message: CREDENTIALS_EXPECTED }]),
    ...(Result.isSuccess(result) ? [] : [problemOf(result.failure, path)]),
  ]
  return { step, problems, isSame: object !== null && step.fields.length === 0 }
}

const removal = ({ id, location }: Destination): Step => ({
  section: "destinations",
  action: "remove",
  name: location,
  fields: [],
  run: () => Destinations.use((destinations) => destinations.remove(id)),
})

/** The steps for the destinations of a file. */
export const planDestinations = (
  entries: ReadonlyArray<DestinationEntry>,
  current: ReadonlyArray<Destination>,
  { names, misfit }: KnownSources,
  planning: Planning,
): SectionPlan => {
  const nameOf = ({ location }: { readonly location: string }) => location
  const { pairs, left } = pairUp("destinations", entries, current, { ofEntry: nameOf, ofObject: nameOf })
  const planned = pairs.map((pair) => planOne(pair, names, planning))
  const strangers = entries.flatMap(({ sources = "all" }, index) =>
    (sources === "all" ? [] : sources).flatMap((name, at): ReadonlyArray<Problem> => {
      const message = misfit(name)
      return message === null ? [] : [{ path: ["destinations", index, "sources", at], message }]
    }),
  )
  return {
    steps: planned.filter(({ isSame }) => !isSame).map(({ step }) => step),
    removals: left.map(removal),
    unchanged: planned.filter(({ isSame }) => isSame).length,
    problems: [...strangers, ...repeated("destinations", entries, nameOf), ...planned.flatMap((one) => one.problems)],
  }
}

/** With direct access to the database, new places are checked before anything changes. A remote cabinet checks each as it is added. */
export const unfitPlaces = Effect.fnUntraced(function* (
  entries: ReadonlyArray<DestinationEntry>,
  current: ReadonlyArray<Destination>,
) {
  const check = yield* Effect.serviceOption(AddressCheck)
  const adapters = yield* Effect.serviceOption(DestinationAdapters)
  if (Option.isNone(check) || Option.isNone(adapters)) return []
  const { directoryObstacle } = adapters.value
  const known = new Set(current.map(({ location }) => location))
  const found = yield* Effect.forEach([...entries.entries()], ([index, entry]) =>
    known.has(entry.location)
      ? Effect.succeed<ReadonlyArray<Problem>>([])
      : Effect.match(
          checked(
            entry,
            null,
            entry.credentials === undefined ? null : held(entry.location),
            check.value,
            directoryObstacle,
          ),
          {
            onSuccess: (): ReadonlyArray<Problem> => [],
            onFailure: (error) => [problemOf(error, ["destinations", index])],
          },
        ),
  )
  return found.flat()
})
