/**
 * Pictures of columns: their shape at a glance, before anybody filters. A whole large table is drawn from the database's
 * statistics, everything else from its first rows, read as the rows themselves are. Each picture says which.
 *
 * Decision: docs/decisions/0097-pictures-of-columns.md
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { cellTokens } from "../row/CellTokens.ts"
import type { Items } from "../pagination/Items.ts"
import type { ReadableColumn, ReadableTable } from "../row/Catalog.ts"
import { ColumnProfile } from "../row/ColumnProfile.ts"
import type { ReadError } from "../row/ReadError.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import { ColumnCounts, type ColumnPicture, pictureOfStatistics } from "./ColumnPicture.ts"
import { SAMPLE_PARAMS, walkSample } from "./SampleWalk.ts"
import type { SelectionError } from "./SelectionError.ts"
import type { ParamPairs } from "./SelectionParams.ts"
import { SelectRows } from "./SelectRows.ts"

/** The most rows read for all pictures at once. A single picture is based on `SAMPLED_ROWS`. */
export const GLANCED_ROWS = 2_000

/** Rows are read up to this many bytes of JSON. */
const SAMPLED_BYTES = 8 * 1024 * 1024

/** What pictures rest on. */
export type PictureBasis =
  /** All rows of the selection: the numbers are exact. */
  | "all"
  /** Its first rows. */
  | "first"
  /** The database's statistics: estimates. */
  | "statistics"

/** The pictures of some columns, and what they rest on. */
export interface Pictures {
  readonly basis: PictureBasis
  /** The number of rows that the pictures stand for; an estimate for statistics. */
  readonly rows: number
  /** When the statistics were made; null if unknown, and for rows. */
  readonly at: string | null
  readonly columns: ReadonlyArray<ColumnPicture>
}

/** Which columns of which rows are drawn. */
export interface PicturesRequest {
  readonly table: ReadableTable
  /** The parameters of the selection; those that only affect the display are ignored. */
  readonly params: ParamPairs
  readonly columns: ReadonlyArray<string>
  /** The most rows read. A table with more has its pictures from statistics. */
  readonly most: number
}

const selecting = (params: ParamPairs): ParamPairs =>
  params.filter(([name]) => SAMPLE_PARAMS.some((known) => known === name))

/** The selection as `columns` of the table, without those that do not exist. */
const columnsOf = ({ table, columns }: PicturesRequest): ReadonlyArray<ReadableColumn> =>
  columns.flatMap((name) => table.columns.find((one) => one.name === name) ?? [])

/**
 * Whether pictures may be drawn unasked: no function that a customer wrote can run. A view's query can, and it may be slow.
 */
export const mayDraw = ({ table, params, columns }: Omit<PicturesRequest, "most">): boolean => {
  if (!table.runsNoUserCode || table.identity === "text") return false
  const names = new Set([...columns, ...table.detail.key])
  for (const [name, value] of params) if (name === "fc" || name === "per") names.add(value)
  const searches = params.some(([name, value]) => name === "q" && value !== "")
  return table.columns.every(({ name, type }) => type.runsNoUserCode || !(searches || names.has(name)))
}

export class PictureColumns extends Context.Service<
  PictureColumns,
  {
    /** Takes at most a second. An interrupted call ends its read. */
    readonly pictures: (
      request: PicturesRequest,
    ) => Effect.Effect<Pictures, SelectionError | ReadError | StoreUnavailable>
  }
>()("@data-cabinet/core/selection/PictureColumns") {
  static readonly layer = Layer.effect(
    PictureColumns,
    Effect.gen(function* () {
      const rows = yield* SelectRows
      const profile = yield* ColumnProfile
      const zone = yield* CabinetTimeZone

      const fromStatistics = Effect.fnUntraced(function* ({ table, params, most }: PicturesRequest, columns: Columns) {
        const estimate = table.detail.rows_estimate ?? 0
        if (estimate <= most || selecting(params).some(([, value]) => value !== "")) return null
        const names = columns.map(({ name }) => name)
        const found = yield* profile.statistics(table, names)
        if (Option.isNone(found)) return null
        const { at, columns: all } = found.value
        const pictures = columns.flatMap((column) => {
          const statistics = all.find((one) => one.column === column.name)
          return statistics === undefined ? [] : [pictureOfStatistics(column, zone, statistics, estimate)]
        })
        return { basis: "statistics" as const, rows: estimate, at, columns: pictures }
      })

      const fromRows = Effect.fnUntraced(function* ({ table, params, most }: PicturesRequest, columns: Columns) {
        const { schema, name } = table.detail
        const counts = columns.map((column) => new ColumnCounts(column))
        let [seen, bytes] = [0, 0]
        const onPage = (items: Items) => {
          seen += items.length
          for (const row of items.texts()) {
            bytes += row.length
            for (const [at, token] of cellTokens(row).entries()) counts[at]?.add(token)
          }
          return bytes < SAMPLED_BYTES
        }
        const request = { schema, name, params: selecting(params) }
        const names = columns.map((one) => one.name)
        const isWhole = yield* walkSample(rows, { request, columns: names, most, onPage })
        // Other requests have their turn between two columns.
        const pictures = yield* Effect.forEach(counts, (one) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => one.picture(zone)),
          ),
        )
        return { basis: isWhole ? ("all" as const) : ("first" as const), rows: seen, at: null, columns: pictures }
      })

      return PictureColumns.of({
        pictures: Effect.fnUntraced(function* (request) {
          const columns = columnsOf(request)
          if (columns.length === 0) return { basis: "all" as const, rows: 0, at: null, columns: [] }
          return (yield* fromStatistics(request, columns)) ?? (yield* fromRows(request, columns))
        }),
      })
    }),
  )
}

type Columns = ReadonlyArray<ReadableColumn>
