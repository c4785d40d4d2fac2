/**
 * The files of cold history as a process reads and writes them. The ends of files and the groups that were read last are
 * kept, within bounds. Few groups are read at a time, because each occupies the process for some milliseconds: a client that reads
 * old history does not delay the requests of others.
 */
import { setImmediate } from "node:timers/promises"
import {
  type ColdEvent,
  ColdFailure,
  type ColdFile,
  ColdFiles,
  type ColdWriter,
} from "@data-cabinet/core/cold/ColdFiles"
import { type Context, Effect, Layer, Semaphore } from "effect"
import type { BucketPlace, S3Bucket } from "../destination/S3Bucket.ts"
import { PinnedClient } from "../outgoing/PinnedClient.ts"
import { coldBucket } from "./ColdBucket.ts"
import { coldDirectory } from "./ColdDirectory.ts"
import { type ColdFormat, type ColdPlace, MissingFile, UnreachablePlace } from "./ColdPlace.ts"

/** How many ends of files are kept: each takes about 100 KB. */
const KEPT_FILES = 32
/** How many characters of payloads are kept in groups that were read. */
const KEPT_CHARS = 16 * 1_048_576
/** How many groups are read at a time. */
const AT_ONCE = 2

const failureOf = (error: unknown): ColdFailure => {
  const message = error instanceof Error ? error.message : String(error)
  return new ColdFailure(error instanceof MissingFile ? { message, missing: true } : { message })
}

const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

/** The values that were used last, within a total size. */
class Recent<A> {
  readonly #most: number
  readonly #sizeOf: (value: A) => number
  readonly #values = new Map<string, A>()
  #size = 0

  constructor(most: number, sizeOf: (value: A) => number) {
    this.#most = most
    this.#sizeOf = sizeOf
  }

  get(key: string): A | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: A): void {
    this.delete(key)
    this.#values.set(key, value)
    this.#size += this.#sizeOf(value)
    for (const [oldest] of this.#values) {
      if (this.#size <= this.#most || oldest === key) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#size -= this.#sizeOf(value)
  }
}

const charsOf = (events: ReadonlyArray<ColdEvent>): number =>
  events.reduce((sum, { payload }) => sum + payload.length + 200, 0)

const NO_PLACE =
  "A part of the events is in files, and this process has no place for them. Set CABINET_COLD_STORE, as the other processes of the cabinet have it."

/**
 * Runs work when it is its turn. Work that was waiting when the place did not respond fails with the same failure, instead of
 * waiting for one time limit after the other.
 */
const turns = () => {
  const permits = Semaphore.makeUnsafe(AT_ONCE)
  let arrivals = 0
  /** The last failure of a place that did not respond, and how much work had arrived by then. */
  let fault: { readonly failure: ColdFailure; readonly arrivals: number } | null = null
  return <A>(work: () => Promise<A>): Effect.Effect<A, ColdFailure> =>
    Effect.suspend(() => {
      const arrival = ++arrivals
      return permits.withPermit(
        Effect.suspend(() => {
          if (fault !== null && fault.arrivals >= arrival) return Effect.fail(fault.failure)
          return attempt(async () => {
            try {
              return await work()
            } catch (error) {
              if (error instanceof UnreachablePlace) fault = { failure: failureOf(error), arrivals }
              throw error
            }
          })
        }),
      )
    })
}

/** `place`: null if this process has none. */
const coldFiles = (place: ColdPlace | null, format: ColdFormat): ColdFiles["Service"] => {
  const files = new Recent<ColdFile>(KEPT_FILES, () => 1)
  const groups = new Recent<ReadonlyArray<ColdEvent>>(KEPT_CHARS, charsOf)
  const inTurn = turns()
  const placed = <A>(work: (at: ColdPlace) => Promise<A>): Effect.Effect<A, ColdFailure> =>
    place === null ? Effect.fail(new ColdFailure({ message: NO_PLACE })) : attempt(() => work(place))

  const openFile = async (at: ColdPlace, name: string): Promise<ColdFile> => {
    const readable = await at.open(name)
    const decoder = await format.open(readable)
    const file: ColdFile = {
      bytes: readable.byteLength,
      groups: decoder.groups,
      read: (group) => {
        const key = `${group} ${name}`
        return Effect.suspend(() => {
          const kept = groups.get(key)
          if (kept !== undefined) return Effect.succeed(kept)
          return inTurn(async () => {
            const read = groups.get(key)
            if (read !== undefined) return read
            const events = await decoder.read(group)
            groups.set(key, events)
            // Others have their turn before the next group.
            await setImmediate()
            return events
          })
        })
      },
    }
    files.set(name, file)
    return file
  }

  return {
    location: place?.location ?? null,
    create: (name) =>
      Effect.gen(function* () {
        const encoder = yield* attempt(format.encode)
        const writer = yield* Effect.acquireRelease(
          placed((at) => at.create(name)),
          (opened) => Effect.ignore(attempt(opened.abandon)),
        )
        let bytes = 0
        const append = async (piece: Uint8Array) => {
          bytes += piece.length
          await writer.append(piece)
          await setImmediate()
        }
        const created: ColdWriter = {
          add: (events) => attempt(() => append(encoder.add(events))),
          finish: attempt(async () => {
            await append(encoder.finish())
            await writer.finish()
            return bytes
          }),
        }
        return created
      }),
    open: (name) =>
      Effect.suspend(() => {
        const known = files.get(name)
        if (known !== undefined) return Effect.succeed(known)
        return place === null ? placed(() => Promise.reject()) : inTurn(() => openFile(place, name))
      }),
    names: (prefix) => placed((at) => at.names(prefix)),
    remove: (name) =>
      placed(async (at) => {
        files.delete(name)
        await at.remove(name)
      }),
  }
}

/** Where files are: a directory, or a bucket. */
export type ColdLocation = string | BucketPlace

const placeAt = (at: ColdLocation, client: PinnedClient["Service"], context: Context.Context<never>): ColdPlace => {
  if (typeof at === "string") return coldDirectory(at)
  // Loaded only by a cabinet that has such a place.
  let bucket: Promise<S3Bucket> | undefined
  const opened = () => (bucket ??= import("../destination/S3Bucket.ts").then(({ s3Bucket }) => s3Bucket(client, at)))
  return coldBucket(at.location, opened, Effect.runPromiseWith(context))
}

/** `at`: null if this process has no place. */
export const layer = (at: ColdLocation | null, format: ColdFormat) =>
  Layer.effect(
    ColdFiles,
    Effect.gen(function* () {
      const client = yield* PinnedClient
      const context = yield* Effect.context()
      return ColdFiles.of(coldFiles(at === null ? null : placeAt(at, client, context), format))
    }),
  )
