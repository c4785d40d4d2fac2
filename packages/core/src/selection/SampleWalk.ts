/** Walks the first rows of a selection, page by page, for at most a second. */
import { Clock, Effect, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Items } from "../pagination/Items.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import type { ReadError } from "../row/ReadError.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import type { SelectionError } from "./SelectionError.ts"
import type { ParamPairs } from "./SelectionParams.ts"
import type { RowsRequest, SelectRows } from "./SelectRows.ts"

/** The most rows examined. */
export const SAMPLED_ROWS = 10_000
const SAMPLE_MILLIS = 1_000

/** The parameters that select rows; all others only affect the display. */
export const SAMPLE_PARAMS = ["q", "fc", "fo", "fv", "fj", "per", "from", "to"] as const

export interface SampleWalk {
  readonly request: RowsRequest
  readonly columns: ReadonlyArray<string>
  /** The most rows; without it, `SAMPLED_ROWS`. */
  readonly most?: number
  /** Receives each page, and returns whether to go on. */
  readonly onPage: (items: Items) => boolean
}

/** Passes on the values of these columns, and returns whether they are all. */
export const walkSample = Effect.fnUntraced(function* (
  rows: SelectRows["Service"],
  { request: { schema, name, params, scope = null }, columns, most = SAMPLED_ROWS, onPage }: SampleWalk,
): Effect.fn.Return<boolean, SelectionError | ReadError | StoreUnavailable> {
  const until = (yield* Clock.currentTimeMillis) + SAMPLE_MILLIS
  const shown = columns.map((column) => ["col", column] as const)
  const selecting: ParamPairs = [...params, ...shown, ["limit", String(MAX_LIMIT)]]
  let cursor: string | null = null
  for (let seen = 0; seen < most;) {
    const left = until - (yield* Clock.currentTimeMillis)
    if (left <= 0) return false
    const pageParams: ParamPairs = cursor === null ? selecting : [...selecting, ["cursor", cursor]]
    const read = yield* Effect.timeoutOption(
      fromCall((call) => rows.page({ schema, name, params: pageParams, scope }, call)),
      left,
    )
    if (Option.isNone(read)) return false
    const { items, nextCursor } = read.value
    const goesOn = onPage(items)
    if (nextCursor === null) return true
    if (!goesOn) return false
    seen += items.length
    cursor = nextCursor
  }
  return false
})
