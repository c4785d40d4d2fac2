/**
 * The registry of cabinets as one process knows it. A refresh reads the changes since the last one. The whole registry
 * is read in pages, at first and then once in a while: it finds unrecorded changes, such as a row written past the
 * triggers.
 *
 * Two guarantees: no page is older than earlier reads, so nothing older replaces something newer; and the event loop is
 * never blocked for longer than a page.
 */
import { Clock, Effect, Semaphore } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import {
  type RegisteredCabinet,
  type RegistryChanges,
  type RegistryEntry,
  type RegistryPosition,
  RegistryStore,
} from "./RegistryStore.ts"

/** Few enough that steps of microseconds block the event loop for a few milliseconds at most. */
const SLICE = 1_000

/**
 * Calls `step` for each item, and yields between slices; concurrent changes are visible as far as the iterator shows
 * them.
 */
const inSlices = Effect.fnUntraced(function* <A>(items: Iterable<A>, step: (item: A) => void) {
  let left = SLICE
  for (const item of items) {
    if (left-- === 0) {
      left = SLICE
      yield* Effect.yieldNow
    }
    step(item)
  }
})

/**
 * With the number of the full read in or after which it was last seen. A set of all names would be built in one piece.
 */
interface Known extends RegisteredCabinet {
  readonly reading: number
}

export interface KnownCabinets {
  /** By name, as last read; always the same map. */
  readonly all: ReadonlyMap<string, RegisteredCabinet>
  /** Reads the changes, or the whole registry if nothing is known yet or the last read is too long ago. */
  readonly refresh: Effect.Effect<void, StoreUnavailable>
  /** The same, if the last read is longer ago than this. */
  readonly refreshIfOlder: (millis: number) => Effect.Effect<void, StoreUnavailable>
  /** Reads the whole registry; refreshes continue between its pages. */
  readonly readWhole: Effect.Effect<void, StoreUnavailable>
  /** When it was last read, in milliseconds of the clock. */
  readonly readAt: () => number
}

/** Changes are kept for a day, so that a position of an hour ago stays valid whatever the clocks show. */
const MAX_POSITION_MILLIS = 3_600_000

/** The most names in one query for their existence. */
const ASKED = 250

/** `gone` runs for each known cabinet that was removed or now has another database. */
export const knownCabinets = Effect.fnUntraced(function* (gone: (name: string) => Effect.Effect<void>) {
  const store = yield* RegistryStore
  const all = new Map<string, Known>()
  let reading = 0
  let position: RegistryPosition | undefined
  let readAt = Number.NEGATIVE_INFINITY
  const one = yield* Semaphore.make(1)

  const take = Effect.fnUntraced(function* (entries: ReadonlyArray<RegistryEntry>) {
    for (const { name, cabinet } of entries) {
      const before = all.get(name)
      if (cabinet === null) all.delete(name)
      else all.set(name, { ...cabinet, reading })
      if (before !== undefined && before.databaseUrl !== cabinet?.databaseUrl) yield* gone(name)
    }
  })

  /** Each page is read and taken within `alone`. */
  const pages = Effect.fnUntraced(function* (
    alone: (page: Effect.Effect<boolean, StoreUnavailable>) => Effect.Effect<boolean, StoreUnavailable>,
  ) {
    const mine = (reading += 1)
    let after = ""
    const page = Effect.gen(function* () {
      const cabinets = yield* store.page(after)
      after = cabinets.at(-1)?.name ?? after
      yield* take(cabinets.map((cabinet) => ({ name: cabinet.name, cabinet })))
      return cabinets.length > 0
    })
    while (yield* alone(page));
    // They may exist again meanwhile, so they are looked up once more.
    const unseen: Array<string> = []
    yield* inSlices(all.values(), (cabinet) => {
      if (cabinet.reading < mine) unseen.push(cabinet.name)
    })
    while (unseen.length > 0) {
      const names = unseen.splice(0, ASKED)
      yield* alone(Effect.as(Effect.flatMap(store.entries(names), take), true))
    }
  })

  const changes = Effect.fnUntraced(function* (since: RegistryPosition) {
    let from: string | null = null
    let first: RegistryPosition | undefined
    do {
      const read: RegistryChanges = yield* store.changes(since, from)
      if (read.position.life !== since.life) return false
      // Later pages see more; the next refresh reads their own changes again.
      first ??= read.position
      yield* take(read.entries)
      from = read.next
    } while (from !== null)
    position = first
    return true
  })

  const read = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = now - readAt > MAX_POSITION_MILLIS ? undefined : position
    if (since === undefined || !(yield* changes(since))) {
      const begun = yield* store.position
      yield* pages((page) => page)
      position = begun
    }
    readAt = now
  })

  return {
    all,
    refresh: one.withPermit(read),
    refreshIfOlder: (millis) =>
      one.withPermit(Effect.flatMap(Clock.currentTimeMillis, (now) => (now - readAt > millis ? read : Effect.void))),
    // The trigger works for every process: it does no harm if forgetting fails in this one.
    readWhole: Effect.andThen(
      pages((page) => one.withPermit(page)),
      Effect.ignore(store.forget),
    ),
    readAt: () => readAt,
  } satisfies KnownCabinets
})
