/**
 * Moves old events into files. One round does everything that is due: removes leftovers, deletes rows, writes files again whose
 * events have changed, and writes new files. A round that ends anywhere leaves nothing that the next one cannot continue.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { randomBytes } from "node:crypto"
import { Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"
import { background } from "../runtime/Background.ts"
import { type ColdEvent, ColdFailure, type ColdFile, ColdFiles, type ColdWriter } from "./ColdFiles.ts"
import { ColdDigest, coldName, type ColdRange } from "./ColdRange.ts"
import { type ColdLimits, ColdStore, type ListedFile, type WrittenFile } from "./ColdStore.ts"

/** A file ends after so many events, or so many characters of payloads: a bucket gets it as one body. */
const FILE_EVENTS = 100_000
const FILE_CHARS = 64 * 1_048_576

/** How many rows are deleted in a transaction. */
const DELETED_AT_ONCE = 1_000

const newTag = Effect.sync(() => randomBytes(6).toString("hex"))

type Refused = ColdFailure | StoreUnavailable

/** Writes a file of what `next` returns until it is null, and reads it back. */
const writeFile = (range: ColdRange, next: Effect.Effect<ReadonlyArray<ColdEvent> | null, Refused>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const files = yield* ColdFiles
      const name = coldName(range, yield* newTag)
      yield* ColdStore.use((store) => store.begin(name))
      const writer: ColdWriter = yield* files.create(name)
      const digest = new ColdDigest()
      for (let events = yield* next; events !== null; events = yield* next) {
        digest.add(events)
        yield* writer.add(events)
      }
      const bytes = yield* writer.finish
      const expected = digest.text
      const read = yield* readWhole(name)
      if (read.digest !== expected || read.events !== digest.events || read.bytes !== bytes) {
        return yield* new ColdFailure({ message: `The file ${name} is not as it was written.` })
      }
      const written: WrittenFile = { ...range, ...read, name }
      return written
    }),
  )

/** Reads every event of a file. */
export const readWhole = Effect.fnUntraced(function* (name: string) {
  const file: ColdFile = yield* ColdFiles.use((files) => files.open(name))
  const digest = new ColdDigest()
  let ids: WrittenFile["ids"] | undefined
  let times: WrittenFile["times"] | undefined
  for (const [index, group] of file.groups.entries()) {
    digest.add(yield* file.read(index))
    ids = [Math.min(group.ids[0], ids?.[0] ?? group.ids[0]), Math.max(group.ids[1], ids?.[1] ?? group.ids[1])]
    const [from, to] = group.times
    times = [
      times === undefined || from < times[0] ? from : times[0],
      times === undefined || to > times[1] ? to : times[1],
    ]
  }
  if (ids === undefined || times === undefined) return yield* new ColdFailure({ message: `The file ${name} is empty.` })
  return { events: digest.events, bytes: file.bytes, digest: digest.text, ids, times }
})

const placeOf = ({ epoch, xid, id }: FeedPlace): FeedPlace => ({ epoch, xid, id })

/** Writes the next file above the border, if there is enough for one. Returns whether there may be another. */
const moveNext = Effect.fnUntraced(function* (limits: ColdLimits) {
  const store = yield* ColdStore
  const { fileEvents = FILE_EVENTS } = limits
  const border = (yield* store.files).at(-1)?.last ?? null
  const first = yield* store.next(border, limits)
  if (first.events.length === 0) return false
  // The end of the range is part of the name, so places are read first, without the payloads being kept.
  let last = placeOf(first.events.at(-1)!)
  let [count, chars, hasMore] = [first.events.length, charsOf(first.events), first.hasMore]
  while (hasMore && count < fileEvents && chars < FILE_CHARS) {
    const slice = yield* store.next(last, limits)
    if (slice.events.length === 0) break
    last = placeOf(slice.events.at(-1)!)
    count += slice.events.length
    chars += charsOf(slice.events)
    hasMore = slice.hasMore
  }
  const isFull = count >= fileEvents || chars >= FILE_CHARS
  if (!isFull && !first.isLate) return false
  const range: ColdRange = { first: placeOf(first.events[0]!), last }
  let after: FeedPlace | null = border
  let left = count
  const next = Effect.gen(function* () {
    if (left <= 0) return null
    const { events } = yield* store.next(after, limits)
    const kept = events.slice(0, left)
    left -= kept.length
    if (kept.length === 0) return yield* new ColdFailure({ message: "Events changed while a file was written." })
    after = placeOf(kept.at(-1)!)
    return kept
  })
  const written = yield* writeFile(range, next)
  return (yield* store.list(written, border)) && isFull
})

const charsOf = (events: ReadonlyArray<ColdEvent>): number =>
  events.reduce((sum, { payload }) => sum + payload.length, 0)

/** Writes a file again, with the rows that its range has. */
const writeAgain = Effect.fnUntraced(function* (old: ListedFile) {
  const store = yield* ColdStore
  const file: ColdFile = yield* ColdFiles.use((files) => files.open(old.name!))
  let group = 0
  const next = Effect.gen(function* () {
    if (group >= file.groups.length) return null
    const events = yield* file.read(group++)
    const rows = new Map((yield* store.rowsOf(events.map(({ id }) => id))).map((row) => [row.id, row]))
    return events.map((event) => rows.get(event.id) ?? event)
  })
  const written = yield* writeFile(old, next)
  return yield* store.replace(old, written, true)
})

/** Deletes the rows of a file that equal their copies. */
const empty = Effect.fnUntraced(function* (listed: ListedFile) {
  const store = yield* ColdStore
  const file: ColdFile = yield* ColdFiles.use((files) => files.open(listed.name!))
  for (const index of file.groups.keys()) {
    const events = yield* file.read(index)
    for (let at = 0; at < events.length; at += DELETED_AT_ONCE) {
      if ((yield* store.deleteRows(listed, events.slice(at, at + DELETED_AT_ONCE))) === null) return
      yield* Effect.sleep("5 millis")
    }
  }
  yield* store.emptied(listed)
})

/** Looks after rows that have stayed: those that differ from their copies get a new file, the others are deleted if they can be. */
const lookAgain = Effect.fnUntraced(function* (listed: ListedFile) {
  const store = yield* ColdStore
  const rows = yield* store.rowsIn(listed)
  if (rows.length === 0) return
  const file: ColdFile = yield* ColdFiles.use((files) => files.open(listed.name!))
  const left = new Map(rows.map((row) => [row.id, row.hash]))
  const equal: Array<{ readonly id: number; readonly hash: bigint }> = []
  for (const [index, group] of file.groups.entries()) {
    if (!rows.some(({ id }) => id >= group.ids[0] && id <= group.ids[1])) continue
    for (const { id, hash } of yield* file.read(index)) {
      const now = left.get(id)
      if (now === undefined) continue
      left.delete(id)
      if (now !== hash) return yield* Effect.asVoid(writeAgain(listed))
      equal.push({ id, hash })
    }
  }
  for (let at = 0; at < equal.length; at += DELETED_AT_ONCE) {
    if ((yield* store.deleteRows(listed, equal.slice(at, at + DELETED_AT_ONCE))) === null) return
  }
})

/** Lists the latest whole file of a range in place of one that is missing: a restored database lists a file that was replaced since. */
const adopt = Effect.fnUntraced(function* (missing: ListedFile) {
  const [store, files] = [yield* ColdStore, yield* ColdFiles]
  const prefix = coldName(missing, "").replace(/\.parquet$/, "")
  for (const name of (yield* files.names(prefix)).toReversed()) {
    const read = yield* Effect.option(readWhole(name))
    if (read._tag === "None" || read.value.events !== missing.events) continue
    const later = { ...read.value, first: missing.first, last: missing.last, name }
    if (yield* store.replace(missing, later, false)) return true
  }
  return false
})

/** What is done with each listed file, in its turn. */
const tend = (listed: ListedFile, look: boolean) => {
  if (listed.name === null || listed.thawed || !listed.settled) return Effect.void
  if (!listed.emptied) return empty(listed)
  return look ? lookAgain(listed) : Effect.void
}

/** Every listed file is there, or a later one instead. */
const findMissing = Effect.gen(function* () {
  const [store, files] = [yield* ColdStore, yield* ColdFiles]
  const there = new Set(yield* files.names(""))
  for (const listed of yield* store.files) {
    if (listed.name === null || there.has(listed.name) || (yield* adopt(listed))) continue
    const message = `The file ${listed.name} is missing, with the events from ${listed.from} to ${listed.to}. Put it back from where it was kept.`
    return yield* new ColdFailure({ message })
  }
})

/** One round, unless another process is at work. `look`: whether rows that have stayed are looked after. */
export const moveEvents = Effect.fnUntraced(function* (limits: ColdLimits, look: boolean) {
  const [store, files] = [yield* ColdStore, yield* ColdFiles]
  if (!(yield* store.claim)) return
  const round = Effect.gen(function* () {
    for (const name of yield* store.leftovers) {
      yield* files.remove(name)
      yield* store.removed(name)
    }
    yield* findMissing
    for (const listed of yield* store.files) yield* tend(listed, look)
    while (yield* moveNext(limits));
  })
  yield* round.pipe(
    Effect.tapError(({ message }) => Effect.ignore(store.release(message.slice(0, 500)))),
    Effect.onInterrupt(() => Effect.ignore(store.release(null))),
    Effect.andThen(store.release(null)),
  )
})

/** How many rounds pass until rows that have stayed are looked after again. */
const ROUNDS_TO_LOOK = 6

/** Moves events for as long as the process works. */
export const coldHistory = (limits: ColdLimits) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      let rounds = 0
      const round = Effect.suspend(() => moveEvents(limits, rounds++ % ROUNDS_TO_LOOK === 0))
      return background("cold history", "10 minutes", round, { firstAfter: "2 minutes" })
    }),
  )
