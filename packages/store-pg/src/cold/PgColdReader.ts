/**
 * Reads events from the files of cold history.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { type ColdEvent, ColdFailure, ColdFiles, type ColdGroup } from "@data-cabinet/core/cold/ColdFiles"
import { isWithin, mayHaveId } from "@data-cabinet/core/cold/ColdRange"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import { awaiting, unavailable } from "../connection/StoreFailure.ts"
import {
  type ColdList,
  ColdReader,
  type ColdWalk,
  type FoundEvent,
  NO_FILES,
  type ReadableFile,
} from "../feed/ColdReader.ts"
import { type FileRow, LISTED_FILES, VERSION } from "./ColdStatement.ts"
import { toListed } from "./PgColdStore.ts"

/** How long a list is used. Rows are deleted ten minutes after their file is listed, so what a reader combines is whole. */
const LIST_MILLIS = 60_000

/** The most groups that a walk reads: a page of a source that is rare in old history ends early. */
const MOST_GROUPS = 24

/** The longest walk: with slow files it ends with the events that it has. */
const WALK_MILLIS = 3_000

const hasSource = ({ sources }: ColdGroup, wanted: ReadonlyArray<number> | null): boolean =>
  wanted === null || sources === null || sources.some((id) => wanted.includes(id))

const toReadable = (row: FileRow): ReadableFile => ({
  ...toListed(row),
  name: row.name!,
  ids: [row.leastId, row.mostId],
  times: [BigInt(row.fromMicros), BigInt(row.toMicros)],
})

/** A database that was set back assigns the same ids again: only the time distinguishes them. */
const isSame = (place: FeedPlace, event: ColdEvent): boolean =>
  comparePlaces(place, event) === 0 && (place.receivedAt ?? event.receivedAt) === event.receivedAt

/** The wanted events after a place, until there are enough, or until enough groups were read. */
const walkIn = Effect.fnUntraced(function* (
  store: ColdFiles["Service"],
  clock: Clock.Clock,
  { files }: ColdList,
  { after, limit, wants, sources }: ColdWalk,
) {
  const events: Array<ColdEvent> = []
  const begun = clock.currentTimeMillisUnsafe()
  let [groups, bytes] = [0, 0]
  let seen: ColdEvent | undefined
  for (const listed of files) {
    if (comparePlaces(listed.last, after) <= 0) continue
    const file = yield* store.open(listed.name)
    for (const [index, group] of file.groups.entries()) {
      if (comparePlaces(group.last, after) <= 0 || !hasSource(group, sources)) continue
      const isOver = groups++ === MOST_GROUPS || clock.currentTimeMillisUnsafe() - begun > WALK_MILLIS
      if (isOver && seen !== undefined) return { events, upTo: seen }
      for (const event of yield* file.read(index)) {
        if (comparePlaces(event, after) <= 0) continue
        seen = event
        if (!wants(event)) continue
        events.push(event)
        if (events.length > limit || bytes >= PAGE_BYTES) return { events, upTo: event }
        bytes += Buffer.byteLength(event.payload)
      }
    }
  }
  return { events, upTo: null }
})

/** The same files; a read that is late is not the database's fault. */
const timed = (files: ColdFiles["Service"]): ColdFiles["Service"] => {
  const place = `Old events cannot be read: ${files.location ?? "their place"}`
  return {
    ...files,
    open: (name) =>
      Effect.map(awaiting(place, files.open(name)), (file) => ({
        ...file,
        read: (group) => awaiting(place, file.read(group)),
      })),
  }
}

export const layer = Layer.effect(
  ColdReader,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const store = timed(yield* ColdFiles)
    const clock = yield* Clock.Clock
    let known = NO_FILES

    const read = Effect.gen(function* () {
      const rows = yield* sql.unsafe<FileRow & { readonly version: string }>(LISTED_FILES)
      const files = rows.filter(({ name }) => name !== null).map(toReadable)
      known = { version: rows[0]!.version, files, border: files.at(-1)?.last ?? null }
      return known
    })
    const list = (version: string) => (version === known.version ? Effect.succeed(known) : read)
    const current = Effect.flatMap(sql.unsafe<{ readonly version: string }>(VERSION), ([row]) => list(row!.version))

    const reading: ColdReader["Service"]["reading"] = (work, first) =>
      Effect.gen(function* () {
        for (let tries = 0; ; tries++) {
          const listed = tries === 0 && first !== undefined ? first : yield* current
          const begun = clock.currentTimeMillisUnsafe()
          const result = yield* Effect.result(work(listed))
          const isLate = Math.abs(clock.currentTimeMillisUnsafe() - begun) > LIST_MILLIS
          if (result._tag === "Success") {
            if (!isLate) return result.success
            if (tries === 2) return yield* unavailable("Reading old events took too long.")
            continue
          }
          const error: unknown = result.failure
          if (!(error instanceof ColdFailure))
            return yield* Effect.fail(result.failure as Exclude<typeof result.failure, ColdFailure>)
          const isReplaced = error.missing === true && (yield* current).version !== listed.version
          if (!isReplaced || tries === 2) return yield* unavailable(`Old events cannot be read: ${error.message}`)
        }
      })

    const scan: ColdReader["Service"]["scan"] = Effect.fnUntraced(function* ({ files }, wants, visit, back = false) {
      for (const listed of back ? files.toReversed() : files) {
        if (!wants(listed)) continue
        const file = yield* store.open(listed.name)
        const indexes = file.groups.map((_, index) => index)
        for (const index of back ? indexes.toReversed() : indexes) {
          if (wants(file.groups[index]!) && !(yield* visit(yield* file.read(index), listed))) return
        }
      }
    })

    const find = Effect.fnUntraced(function* (listed: ColdList, ids: ReadonlyArray<number>) {
      const left = new Set(ids)
      const found: Array<FoundEvent> = []
      yield* scan(
        listed,
        (group) => left.size > 0 && [...left].some((id) => mayHaveId(group, id)),
        (events, file) =>
          Effect.sync(() => {
            for (const event of events) if (left.delete(event.id)) found.push({ file, event })
            return left.size > 0
          }),
      )
      return found
    })

    const isThere = Effect.fnUntraced(function* (listed: ColdList, place: FeedPlace) {
      const within = listed.files.filter((file) => isWithin(place, file))
      if (within.length === 0) return false
      const found = yield* find({ ...listed, files: within }, [place.id])
      return found.some(({ event }) => isSame(place, event))
    })

    return ColdReader.of({
      list,
      current,
      reading,
      walk: (listed, walk) => walkIn(store, clock, listed, walk),
      find,
      isThere,
      scan,
    })
  }),
)
