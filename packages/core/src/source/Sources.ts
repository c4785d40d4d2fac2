/**
 * The sources of a cabinet: creates, finds, changes, archives and deletes them. Refuses invalid names, encodings,
 * thank-you URLs and headers, and sources that do not exist.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { changedChallenge } from "./ChangeChallenge.ts"
import { changedProof } from "./ChangeProof.ts"
import { changedVerification } from "./ChangeVerification.ts"
import { PROVIDER_NAMES, settingsFrom } from "./Providers.ts"
import { isLifetime } from "../key/Lifetime.ts"
import { allItems, type IdQuery } from "../pagination/IdPages.ts"
import { readableName } from "../row/ReadableName.ts"
import type { IntakeSource, Source, SourceWithSecret } from "./Source.ts"
import { SourceError } from "./SourceError.ts"
import { DEFAULT_SETTINGS, SOURCE_SETTINGS, type SourceSettings } from "./SourceSettings.ts"
import { type SourceChange, type SourceRemoval, SourceStore, type StoredSourceChange } from "./SourceStore.ts"

export type { SourceChange }

/** A source to create; missing settings are those of `DEFAULT_SETTINGS`. */
export interface NewSource extends SourceChange {
  /** A name for people, from which the table's name is derived. */
  readonly name: string
}

/** How to replace an intake address. */
export interface RotateOptions {
  /** How many seconds the old address is still accepted, a minute to 30 days; null (the default): not at all. */
  readonly keepOldSeconds?: number | null
}

/** No result contains deleted sources. */
export class Sources extends Context.Service<
  Sources,
  {
    /** Creates the source, its secret and its table in one step. */
    readonly create: (source: NewSource) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** All sources, including archived ones, by id. */
    readonly list: Effect.Effect<ReadonlyArray<Source>, StoreUnavailable>
    /** A page of them. */
    readonly page: (query: IdQuery) => Effect.Effect<ReadonlyArray<Source>, StoreUnavailable>
    readonly get: (id: number) => Effect.Effect<Option.Option<Source>, StoreUnavailable>
    readonly reveal: (id: number) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    readonly change: (id: number, change: SourceChange) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly archive: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly restore: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    /** Its intake address responds with 404 for good; its events stay in the feed. */
    readonly remove: (id: number, table: "keep" | "drop") => Effect.Effect<void, SourceError | StoreUnavailable>
    /**
     * Creates a new intake address; the old one responds with 404 at once, or after the given seconds. An address kept
     * by an earlier rotation ends now.
     */
    readonly rotateSecret: (
      id: number,
      options?: RotateOptions,
    ) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** The active source with this intake secret. */
    readonly bySecret: (secret: string) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
    /**
     * The same from the cache, if it was looked up in this process before. It may be outdated: accept refuses an outdated
     * `version`, and the caller then queries the store.
     */
    readonly cached: (secret: string) => IntakeSource | undefined
    /** The same for callers that know the id (the library, imports, polling). */
    readonly forIntake: (id: number) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
  }
>()("@data-cabinet/core/source/Sources") {
  static readonly layer = Layer.effect(
    Sources,
    Effect.map(SourceStore, (store) =>
      Sources.of({
        create: Effect.fnUntraced(function* (source) {
          yield* checkSettings(source)
          const {
            name,
            verify: verification,
            challenge: newChallenge,
            proof: newProof,
            ...given
          } = settingsFrom(source, DEFAULT_SETTINGS)
          const settings = { ...DEFAULT_SETTINGS, ...defined(given) }
          const verify = verification == null ? null : yield* changedVerification(null, verification)
          const challenge = newChallenge == null ? null : yield* changedChallenge(null, newChallenge)
          const proof = newProof == null ? null : yield* changedProof(null, newProof)
          return yield* store.create({
            ...storedSettings(settings),
            name,
            verify,
            challenge,
            proof,
            tableName: tableNameFor(name),
          })
        }),
        list: allItems(store.page),
        page: store.page,
        get: store.get,
        reveal: (id) => existing(id, store.reveal(id)),
        change: Effect.fnUntraced(function* (id, requested) {
          yield* checkSettings(requested)
          const kept = requested.from === undefined ? DEFAULT_SETTINGS : yield* existing(id, store.get(id))
          const { verify, challenge, proof, ...change } = settingsFrom(requested, kept)
          const ends: StoredSourceChange = {
            ...storedSettings(change),
            ...(verify === null ? { verify } : {}),
            ...(challenge === null ? { challenge } : {}),
            ...(proof === null ? { proof } : {}),
          }
          if (verify == null && challenge == null && proof == null) return yield* existing(id, store.change(id, ends))
          const current = yield* existing(id, store.get(id))
          return yield* existing(
            id,
            store.change(id, {
              ...ends,
              ...(verify == null ? {} : { verify: yield* changedVerification(current.verify, verify) }),
              ...(challenge == null ? {} : { challenge: yield* changedChallenge(current.challenge, challenge) }),
              ...(proof == null ? {} : { proof: yield* changedProof(current.proof, proof) }),
            }),
          )
        }),
        archive: (id) => existing(id, store.archive(id)),
        restore: (id) => existing(id, store.restore(id)),
        remove: (id, table) => Effect.flatMap(store.remove(id, table), (removal) => removed(id, removal)),
        rotateSecret: (id, { keepOldSeconds = null } = {}) =>
          Effect.andThen(
            checkKeepOld(keepOldSeconds),
            Effect.suspend(() => existing(id, store.rotateSecret(id, keepOldSeconds))),
          ),
        // The store's own methods: intake calls them for every request.
        bySecret: store.bySecret,
        cached: store.cached,
        forIntake: store.forIntake,
      }),
    ),
  )
}

const refuse = (code: SourceError["code"], message: string) => Effect.fail(new SourceError({ code, message }))

/** Fails with the error for a source that does not exist. */
export const noSuchSource = (id: number) => refuse("no_such_source", `Source ${id} does not exist.`)

const existing = <A>(id: number, found: Effect.Effect<Option.Option<A>, StoreUnavailable>) =>
  Effect.flatMap(found, (one) => (Option.isSome(one) ? Effect.succeed(one.value) : noSuchSource(id)))

/** Drops undefined fields, which a program may pass for missing ones. */
const defined = <A extends object>(fields: A): A =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as A

/** Derives the table's name from the source's. */
const tableNameFor = (name: string) => (taken: ReadonlySet<string>) => readableName(name, taken, "source")

const MAX_KEEP_OLD_SECONDS = 30 * 86_400

/** Refuses a time outside the limits. */
export const checkKeepOld = (seconds: number | null) =>
  seconds === null || (isLifetime(seconds) && seconds <= MAX_KEEP_OLD_SECONDS)
    ? Effect.void
    : refuse("bad_expiry", "The old address can be kept for a minute to 30 days.")

/** The settings in the form in which they are stored. */
const storedSettings = <S extends Partial<SourceSettings>>(settings: S): S => {
  const normalized = SOURCE_SETTINGS.all.flatMap(({ key, setting: { stored } }) =>
    stored === undefined || settings[key] === undefined ? [] : [[key, stored(settings[key] as never)]],
  )
  return { ...settings, ...Object.fromEntries(normalized) }
}

/** Refuses invalid names, settings and senders. */
export const checkSettings = Effect.fnUntraced(function* (settings: SourceChange) {
  const { name, from } = settings
  if (name !== undefined && (name.trim() === "" || name.length > 200)) {
    return yield* refuse("bad_name", "A source needs a name of 1 to 200 characters.")
  }
  if (from !== undefined && !PROVIDER_NAMES.includes(from)) {
    return yield* refuse("bad_from", `from: the sender must be one of ${PROVIDER_NAMES.join(", ")}.`)
  }
  const refused = SOURCE_SETTINGS.refusal(settings)
  if (refused !== null) yield* refuse(refused.code, refused.message)
})

const removed = (id: number, removal: SourceRemoval) => {
  switch (removal.is) {
    case "removed":
      return Effect.void
    case "missing":
      return noSuchSource(id)
    case "depended_on":
      return refuse(
        "table_in_use",
        `Views depend on sources.${removal.table}. Drop them first, or delete the source and keep its table.`,
      )
    case "busy":
      return refuse(
        "table_in_use",
        `sources.${removal.table} is being used and could not be locked within ${removal.seconds} seconds. Try again at a quieter moment.`,
      )
  }
}
