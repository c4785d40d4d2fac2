/** Shapes in PostgreSQL. The transaction that learns also moves the follower, so shapes and position cannot differ. */
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { emptyShape, type PayloadShape } from "@data-cabinet/core/payload/PayloadShape"
import {
  type Learn,
  type ShapedEvents,
  SHAPES,
  type ShapeSlice,
  ShapeStore,
} from "@data-cabinet/core/payload/ShapeStore"
import { shapeOfText, shapeText } from "@data-cabinet/core/payload/ShapeText"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { NEXT_DUE } from "../follower/FollowerStatement.ts"
import { followOn } from "../follower/FollowerTransaction.ts"
import { behind } from "../feed/Behind.ts"

type Sql = PgClient.PgClient

/** About how much a row has: a longer text is received in several pieces, and is freed late. */
const ROW_BYTES = 32_768

/**
 * $1 to $3: the event to continue after; $4, $5: the watermark; $6: how many events, $7: how many bytes. An event that is
 * larger than all of them comes alone. A row has many events of a source, because to read a row takes the driver longer
 * than to learn from an event; each names the last event of all. Nulls if its events are erased.
 */
export const NEXT_PAYLOADS = `
WITH came AS MATERIALIZED (
  SELECT w.*, row_number() OVER feed AS n,
    (sum(w.bytes) OVER (feed ROWS UNBOUNDED PRECEDING))::int8 - w.bytes AS before FROM (${behind(
      "e.epoch, e.xid, e.id, e.bytes, e.source_id, e.received_at, e.purged_at, e.payload",
      ["$1::int8", "$2::int8", "$3::int8"],
      " AND (e.epoch, e.xid) < ($4::int8, $5::int8)",
      "$6::int8",
    )}) w WINDOW feed AS (ORDER BY w.epoch, w.xid, w.id) ORDER BY w.epoch, w.xid, w.id LIMIT $6::int8
), pieces AS (
  SELECT c.before / ${ROW_BYTES} AS piece, c.source_id, max(c.n) AS n,
    string_agg(c.payload::text, ',' ORDER BY c.n) FILTER (WHERE c.purged_at IS NULL) AS payloads,
    string_agg(((date_part('epoch', c.received_at) * 1000000)::int8 / 1000)::text, ',' ORDER BY c.n)
      FILTER (WHERE c.purged_at IS NULL) AS times
  FROM came c WHERE c.before < $7::int8 GROUP BY c.before / ${ROW_BYTES}, c.source_id
), last AS MATERIALIZED (
  SELECT c.epoch, c.xid, c.id FROM came c WHERE c.n = (SELECT max(n) FROM pieces)
)
SELECT l.epoch::float8 AS epoch, l.xid::text AS xid, l.id::float8 AS id, p.source_id::float8 AS "sourceId", p.payloads, p.times
FROM pieces p, last l ORDER BY p.piece`

/** $1: sources. */
export const READ_SHAPES = `
SELECT s.source_id::float8 AS "sourceId", s.fields FROM cabinet.shape s WHERE s.source_id = ANY ($1::int8[])`

/** $1: sources; $2: the shape of each. */
export const WRITE_SHAPES = `
INSERT INTO cabinet.shape (source_id, fields) SELECT * FROM unnest($1::int8[], $2::text[])
ON CONFLICT (source_id) DO UPDATE SET fields = excluded.fields`

interface PayloadRow {
  readonly epoch: number
  readonly xid: string
  readonly id: number
  readonly sourceId: number
  readonly payloads: string | null
  /** Separated by commas. */
  readonly times: string | null
}

const toEvents = ({ sourceId, payloads, times }: PayloadRow): ReadonlyArray<ShapedEvents> =>
  payloads === null || times === null ? [] : [{ sourceId, payloads, times: times.split(",").map(Number) }]

const readShapes = (sql: Sql, sourceIds: ReadonlyArray<number>) =>
  Effect.map(
    sql.unsafe<{ readonly sourceId: number; readonly fields: string }>(READ_SHAPES, [sourceIds]),
    (rows) => new Map(rows.map(({ sourceId, fields }) => [sourceId, shapeOfText(fields)])),
  )

const learnInto = Effect.fnUntraced(function* (sql: Sql, learn: Learn, events: ReadonlyArray<ShapedEvents>) {
  if (events.length === 0) return
  const sourceIds = [...new Set(events.map(({ sourceId }) => sourceId))]
  const known = yield* readShapes(sql, sourceIds)
  const shapes = new Map(sourceIds.map((id): [number, PayloadShape] => [id, known.get(id) ?? emptyShape()]))
  yield* learn(shapes, events)
  yield* sql.unsafe(WRITE_SHAPES, [sourceIds, sourceIds.map((id) => shapeText(shapes.get(id)!))])
})

const learnNext = (sql: Sql, learn: Learn, slice: ShapeSlice, held: HeldFollower | null) =>
  followOn(
    sql,
    held ?? { kind: SHAPES, name: SHAPES },
    Effect.fnUntraced(function* ({ epoch, xid, id }, mark) {
      const values = [epoch, xid, id, mark.epoch, mark.bound, slice.events, slice.bytes]
      const came = yield* sql.unsafe<PayloadRow>(NEXT_PAYLOADS, values)
      const last = came.at(-1)
      if (last === undefined) return { place: null, result: false }
      yield* learnInto(sql, learn, came.flatMap(toEvents))
      return { place: { epoch: last.epoch, xid: BigInt(last.xid), id: last.id }, result: true }
    }),
  )

const learnSlice = Effect.fnUntraced(function* (sql: Sql, learn: Learn, slice: ShapeSlice, held: HeldFollower | null) {
  if (held === null) {
    // An idle cabinet is not written to.
    const [due] = yield* sql.unsafe<{ readonly millis: number | null }>(NEXT_DUE, [SHAPES])
    if (due!.millis === null) return false
  }
  const learned = yield* learnNext(sql, learn, slice, held)
  return learned === null ? (held === null ? false : null) : learned.result
})

export const layer = Layer.effect(
  ShapeStore,
  Effect.map(PgClient.PgClient, (sql) =>
    ShapeStore.of({
      learn: (learn, slice, held) => orUnavailable(learnSlice(sql, learn, slice, held)),
      read: (sourceIds) =>
        orUnavailable(
          Effect.gen(function* () {
            const shapes = yield* readShapes(sql, sourceIds)
            const [clock] = yield* sql.unsafe<{ readonly now: number }>(
              "SELECT (extract(epoch FROM cabinet.now()) * 1000)::float8 AS now",
            )
            return { shapes, now: clock!.now }
          }),
        ),
    }),
  ),
)
