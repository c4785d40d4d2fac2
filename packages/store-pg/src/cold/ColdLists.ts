/** Lists of events, newest first, below the border: the events of files, with the rows that count before them. */
import type { ColdEvent, ColdFailure } from "@data-cabinet/core/cold/ColdFiles"
import type { EventFilter, EventPlace } from "@data-cabinet/core/event/EventListStore"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type EventRow, microsOf, toCold } from "./ColdColumns.ts"
import type { ColdList, ColdReader } from "../feed/ColdReader.ts"
import { ROWS_BACK } from "./ColdStatement.ts"

/** The most by which times and positions may disagree. */
const DISORDER_MICROS = 3_600_000_000n

/** The most rows below the border that a chunk has: those that were brought back, or had to stay. */
const MOST_ROWS = 2_000

export const placeText = ({ epoch, xid, id }: FeedPlace): EventPlace => [String(epoch), String(xid), String(id)]

const placeOf = ([epoch, xid, id]: EventPlace): FeedPlace => ({
  epoch: Number(epoch),
  xid: BigInt(xid!),
  id: Number(id),
})

/** The place from which the walk back begins with the last event of the files. */
export const placeAbove = (border: FeedPlace): EventPlace => placeText({ ...border, id: border.id + 1 })

/** Whether a walk back from a place has no more rows above the border. */
export const isUnderBorder = (after: EventPlace, { border }: ColdList): boolean =>
  border !== null && comparePlaces(placeOf(after), { ...border, id: border.id + 1 }) <= 0

/** Some of the events below a place, newest last, and where the walk continues; null at the end. */
interface Chunk {
  readonly events: ReadonlyArray<ColdEvent>
  readonly rest: FeedPlace | null
}

/** The next events of a walk back, at least a group of a file. Files from after the period are passed over. */
export const chunkBelow = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  cold: ColdReader["Service"],
  list: ColdList,
  after: EventPlace,
  { to }: EventFilter,
  examine: number,
): Effect.fn.Return<Chunk, ColdFailure | SqlError.SqlError> {
  const until = placeOf(after)
  const end = to === null ? null : microsOf(to)
  const latest = end === null ? null : end + DISORDER_MICROS
  let copies: ReadonlyArray<ColdEvent> = []
  let isLast = true
  yield* cold.scan(
    list,
    ({ first, times }) => comparePlaces(first, until) < 0 && (latest === null || times[0] <= latest),
    (events) =>
      Effect.sync(() => {
        if (copies.length > 0) {
          isLast = false
          return false
        }
        copies = events.filter((event) => comparePlaces(event, until) < 0)
        return true
      }),
    true,
  )
  const kept = copies.slice(-examine)
  const cut = kept.length < copies.length || !isLast
  const from = cut ? kept[0]! : { epoch: 0, xid: 0n, id: 0 }
  const values = [until, from].flatMap(({ epoch, xid, id }) => [epoch, xid, id])
  const rows = (yield* sql.unsafe<EventRow>(ROWS_BACK, [...values, MOST_ROWS])).map(toCold)
  const events = new Map(kept.map((event) => [event.id, event]))
  for (const row of rows) events.set(row.id, row)
  const all = [...events.values()].toSorted(comparePlaces)
  // With more rows than that, the chunk ends with the last of them.
  const lowest = rows.length === MOST_ROWS ? rows.at(-1)! : cut ? from : null
  const within = lowest === null ? all : all.filter((event) => comparePlaces(event, lowest) >= 0)
  const latestKept = within.slice(-examine)
  return { events: latestKept, rest: latestKept.length < within.length ? latestKept[0]! : lowest }
})
