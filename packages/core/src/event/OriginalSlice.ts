/** Walks through the events of a source whose original requests may still be stored, page by page, oldest first. */
import { Effect } from "effect"
import { type CursorWalk, decodeCursor, encodeCursor } from "../pagination/Cursor.ts"

/** Epoch, transaction id and number of an event. */
export type EventPlace = ReadonlyArray<string>

/** Which events a slice examines: a bounded number after a place. */
export interface SliceQuery {
  readonly sourceId: number
  /** Null begins at the oldest. */
  readonly after: EventPlace | null
  readonly limit: number
}

/** A slice of a source's events, and where the next one begins. */
export interface OriginalSlice {
  /** The examined events whose originals are stored. */
  readonly events: ReadonlyArray<number>
  readonly seen: number
  /** The next slice begins after this; null after the last. */
  readonly next: EventPlace | null
}

/** A page: `work` on the events of the slice after the cursor. Fails with `badCursor` if the cursor is not of this walk. */
export const originalPage = Effect.fnUntraced(function* <Done, E1, E2, E3>(
  { walk, cursor }: { readonly walk: CursorWalk; readonly cursor: string | undefined },
  badCursor: Effect.Effect<never, E1>,
  slice: (after: EventPlace | null) => Effect.Effect<OriginalSlice, E2>,
  work: (events: ReadonlyArray<number>) => Effect.Effect<Done, E3>,
) {
  const after = cursor === undefined ? null : decodeCursor(walk, cursor)?.map((part) => part ?? "")
  if (after === undefined) return yield* badCursor
  const { events, seen, next } = yield* slice(after)
  return { ...(yield* work(events)), seen, nextCursor: next === null ? null : encodeCursor(walk, next) }
})
