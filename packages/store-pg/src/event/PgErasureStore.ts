/** Reads events for an erasure on request, in the order of their numbers. */
import { type ErasureCounts, ErasureStore } from "@data-cabinet/core/event/ErasureStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import {
  COUNT_ERASABLE,
  ERASURE_RANGE,
  LAST_EVENT,
  MAX_ERASABLE_EVENTS,
  READ_ERASABLE,
  READ_ERASABLE_COPIES,
} from "./ErasureStatement.ts"
import { ColdActs } from "../cold/ColdActs.ts"
import { recordsOf } from "../cold/ColdColumns.ts"
import { type ColdList, ColdReader } from "../feed/ColdReader.ts"
import type { ColdEvent } from "@data-cabinet/core/cold/ColdFiles"

/** $1: ids. */
const HAVE_ROWS = "SELECT id::float8 AS id FROM cabinet.event WHERE id = ANY ($1::int8[])"

interface ErasableRow {
  readonly id: number
  readonly payload: string
  readonly firstPayload: string | null
  readonly found: number
}

export const layer = Layer.effect(
  ErasureStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cold = yield* ColdReader
    const acts = yield* ColdActs

    /** The copies of a range of ids, the lowest first: at most as many as a statement takes, and what they repeat. */
    const copiesAfter = Effect.fnUntraced(function* (list: ColdList, after: number, sourceId: number | null) {
      const copies: Array<ColdEvent> = []
      const isWanted = ({ id, sourceId: source, purgedAt }: ColdEvent) =>
        id > after && id <= after + ERASURE_RANGE && purgedAt === null && (sourceId === null || source === sourceId)
      yield* cold.scan(
        list,
        ({ ids: [least, most] }) => most > after && least <= after + ERASURE_RANGE,
        (events) =>
          Effect.sync(() => {
            for (const event of events) if (isWanted(event)) copies.push(event)
            return true
          }),
      )
      const wanted = copies.toSorted((one, other) => one.id - other.id).slice(0, MAX_ERASABLE_EVENTS)
      // A row counts before its copy, and is examined as a row.
      const rows = yield* sql.unsafe<{ readonly id: number }>(HAVE_ROWS, [int8Array(wanted.map(({ id }) => id))])
      const withRow = new Set(rows.map(({ id }) => id))
      const without = wanted.filter(({ id }) => !withRow.has(id))
      const firsts = new Set(without.flatMap(({ repeatOf }) => (repeatOf === null ? [] : [repeatOf])))
      const others = [...firsts].filter((id) => without.every((event) => event.id !== id))
      const found = yield* cold.find(list, others)
      const isCut = copies.length > wanted.length
      return { events: [...without, ...found.map(({ event }) => event)], until: isCut ? wanted.at(-1)!.id : null }
    })

    const readCopies = Effect.fnUntraced(function* (list: ColdList, after: number, sourceId: number | null) {
      const { events, until } = yield* copiesAfter(list, after, sourceId)
      if (events.length === 0) return { events: [], next: until }
      const read = yield* sql.unsafe<ErasableRow>(READ_ERASABLE_COPIES, [after, sourceId, recordsOf(events)])
      const isCut = read.length < (read[0]?.found ?? 0)
      return { events: read, next: isCut ? read.at(-1)!.id : until }
    })

    const readRows = Effect.fnUntraced(function* (after: number, sourceId: number | null) {
      const events = yield* sql.unsafe<ErasableRow>(READ_ERASABLE, [after, sourceId])
      const found = events[0]?.found ?? 0
      const isCut = events.length < found || found === MAX_ERASABLE_EVENTS
      if (isCut) return { events, next: events.at(-1)!.id }
      const [last] = yield* sql.unsafe<{ id: number }>(LAST_EVENT)
      return { events, next: after + ERASURE_RANGE < last!.id ? after + ERASURE_RANGE : null }
    })

    return ErasureStore.of({
      read: Effect.fnUntraced(function* (after, sourceId) {
        const rows = yield* readRows(after, sourceId)
        const list = yield* cold.current
        if (list.border === null) return rows
        const copies = yield* cold.reading((files) => readCopies(files, after, sourceId), list)
        // Both are read up to the lower end, so that what they repeat is erased with them.
        const next = copies.next === null ? rows.next : Math.min(copies.next, rows.next ?? copies.next)
        const events = [...rows.events, ...copies.events].filter(({ id }) => next === null || id <= next)
        return { events: events.toSorted((one, other) => one.id - other.id), next }
      }, orUnavailable),
      count: (events) =>
        acts.needWithRepeats(events).pipe(
          Effect.andThen(sql.unsafe<ErasureCounts>(COUNT_ERASABLE, [int8Array(events)])),
          Effect.map(([counts]) => counts!),
          orUnavailable,
        ),
    })
  }),
)
