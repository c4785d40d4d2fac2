/** The list of events in PostgreSQL. */
import { ColdFiles } from "@data-cabinet/core/cold/ColdFiles"
import {
  type DeliveryCounts,
  type EventFilter,
  EventListStore,
  type EventPlace,
  type ListedEvent,
  TextInFiles,
} from "@data-cabinet/core/event/EventListStore"
import { chunkBelow, isUnderBorder, placeAbove, placeText } from "../cold/ColdLists.ts"
import { recordsOf } from "../cold/ColdColumns.ts"
import { type ColdList, ColdReader } from "../feed/ColdReader.ts"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { foldCollation } from "../row/FoldCollation.ts"
import { DELIVERY_COUNTS, type SliceRow, sliceStatement } from "./EventListStatement.ts"

type CountsRow = DeliveryCounts & { readonly id: number }

const NONE: DeliveryCounts = { due: 0, delivered: 0, failed: 0, cancelled: 0 }

const toListed = (row: SliceRow, event: string, counts: ReadonlyMap<number, CountsRow>): ListedEvent => {
  const { due, delivered, failed, cancelled } = counts.get(row.id) ?? NONE
  return {
    event,
    state: row.state,
    spamReason: row.spam_reason,
    empty: row.empty,
    rowWaits: row.row_waits,
    trashedBy: row.actor_kind === null ? null : { kind: row.actor_kind, id: row.actor_id, name: row.actor_name ?? "" },
    deliveries: { due, delivered, failed, cancelled },
  }
}

interface Wanted {
  readonly filter: EventFilter
  readonly after: EventPlace | null
  readonly limit: number
  readonly examine: number
}

export const layer = Layer.effect(
  EventListStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cold = yield* ColdReader
    const { location } = yield* ColdFiles
    const folding = foldCollation(sql)

    /** A slice of the rows, or of events of files in their place. `isEnd`: there is nothing below. */
    const sliceOf = Effect.fnUntraced(function* (
      { filter, after, limit, examine }: Wanted,
      records: string | null,
      border: EventPlace | null,
    ) {
      const given = { filter, after, limit, examine, records, border }
      const { text, values } = sliceStatement({ ...given, foldCollation: yield* folding })
      const rows = yield* sql.unsafe<SliceRow>(text, values)
      const shown = rows.filter(({ event }) => event !== null)
      const counts = new Map<number, CountsRow>()
      if (shown.length > 0) {
        const ids = int8Array(shown.map(({ id }) => id))
        for (const row of yield* sql.unsafe<CountsRow>(DELIVERY_COUNTS, [ids])) counts.set(row.id, row)
      }
      const found = shown.map((row) => toListed(row, row.event!, counts))
      const last = rows.at(-1)
      if (last === undefined || filter.event !== null) return { found, next: null, reached: null, isEnd: true }
      const reached = (row: SliceRow) => (filter.state === "trashed" ? row.place[0]! : row.received_at)
      // A matching event that is not shown did not fit: the next slice begins at the last one shown.
      const full = rows.some(({ matched, event }) => matched && event === null)
      const lastShown = shown.at(-1)
      if (full && lastShown !== undefined) {
        return { found, next: lastShown.place, reached: reached(lastShown), isEnd: false }
      }
      const isEnd = last.walked < examine && last.seen === last.walked
      return { found, next: last.past || isEnd ? null : last.place, reached: reached(last), isEnd: isEnd && !last.past }
    })

    /** A slice of the events in files, and of the rows among them. */
    const coldSlice = Effect.fnUntraced(function* (wanted: Wanted, list: ColdList) {
      const { filter, after, examine } = wanted
      if (filter.text !== null) {
        return yield* new TextInFiles({ since: list.files.at(-1)!.to, location })
      }
      const chunk = yield* chunkBelow(sql, cold, list, after!, filter, examine)
      const slice = yield* sliceOf(wanted, recordsOf(chunk.events), null)
      return slice.isEnd ? { ...slice, next: chunk.rest === null ? null : placeText(chunk.rest) } : slice
    })

    const slice = Effect.fnUntraced(function* (wanted: Wanted) {
      const { filter, after } = wanted
      const list = yield* cold.current
      if (list.border === null || filter.state === "trashed") return yield* sliceOf(wanted, null, null)
      if (filter.event !== null) {
        const ofRow = yield* sliceOf(wanted, null, null)
        if (ofRow.found.length > 0) return ofRow
        const ofFile = yield* cold.reading((files) => cold.find(files, [filter.event!]), list)
        return yield* sliceOf(wanted, ofFile.length === 0 ? null : recordsOf(ofFile.map(({ event }) => event)), null)
      }
      if (after !== null && isUnderBorder(after, list)) {
        return yield* cold.reading((files) => coldSlice(wanted, files), list)
      }
      const ofRows = yield* sliceOf(wanted, null, placeText(list.border))
      // The walk goes on below.
      return ofRows.isEnd ? { ...ofRows, next: placeAbove(list.border) } : ofRows
    })

    return EventListStore.of({
      slice: (wanted) =>
        orUnavailable(Effect.map(slice(wanted), ({ found, next, reached }) => ({ found, next, reached }))),
    })
  }),
)
