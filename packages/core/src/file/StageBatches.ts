/** Collects rows into batches that are large enough for a statement, numbers them, and stages them in order. */
import { Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { HeldImport, LeaseLost, ImportStore, StagedRow } from "./ImportStore.ts"

const BATCH_ROWS = 500
const BATCH_CHARS = 250_000

/** A row to stage. */
export interface NewRow {
  readonly payload: string
  readonly empty: boolean
  readonly key?: Uint8Array | null
}

/** Stages rows in batches; `flush` stages the rest. */
export interface Staging {
  readonly add: (rows: ReadonlyArray<NewRow>) => Effect.Effect<void, LeaseLost | StoreUnavailable>
  readonly flush: Effect.Effect<void, LeaseLost | StoreUnavailable>
}

export const stageBatches = (imports: ImportStore["Service"], held: HeldImport): Staging => {
  let waiting: Array<StagedRow> = []
  let chars = 0
  let n = 0
  const flush = Effect.suspend(() => {
    if (waiting.length === 0) return Effect.void
    const rows = waiting
    waiting = []
    chars = 0
    return imports.stage(held, rows)
  })
  const add = Effect.fnUntraced(function* (rows: ReadonlyArray<NewRow>) {
    for (const { payload, empty, key } of rows) {
      waiting.push({ n: n++, payload, empty, key: key ?? null })
      chars += payload.length
      if (waiting.length >= BATCH_ROWS || chars >= BATCH_CHARS) yield* flush
    }
  })
  return { add, flush }
}
