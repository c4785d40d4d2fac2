/**
 * The notices about what sources send. All changes of a source in one day are in one notice, which is sent after the day has
 * ended, so that a sender of a thousand new names causes one.
 */
import { Effect } from "effect"
import { emptyShape } from "../payload/PayloadShape.ts"
import { shapeChanges } from "../payload/ShapeChanges.ts"
import type { ShapeStore } from "../payload/ShapeStore.ts"
import type { Source } from "../source/Source.ts"
import { counted } from "../text/Counted.ts"
import { type Notice, notice } from "./Notice.ts"
import type { ChangedFields } from "./NoticeFacts.ts"

const DAY_MILLIS = 86_400_000
/** The last events of a day are learned by then. */
const LEARNED_AFTER_MILLIS = 3_600_000
/** Days whose notices are still sent if no process ran at their ends. */
const DAYS = 3
/** The most fields that a notice names for each change. */
const MAX_NAMED = 50
/** Shapes in memory at a time. */
const AT_ONCE = 20

const named = (paths: ReadonlyArray<string>): string =>
  paths.slice(0, MAX_NAMED).join(", ") + (paths.length > MAX_NAMED ? ", …" : "")

/** A day's changes to the fields of a source. */
export const changedFields = ({ sourceId, sourceName, day, changes }: ChangedFields): Notice => {
  const { new: added, kind_changed: changed, missing } = changes
  const parts = [
    added.length > 0 && `${counted(added.length, "new field")}: ${named(added)}`,
    changed.length > 0 && `${counted(changed.length, "field")} with a new kind of value: ${named(changed)}`,
    missing.length > 0 && `${counted(missing.length, "field")} not seen for 7 days: ${named(missing)}`,
  ].filter((part) => part !== false)
  return notice({
    kind: "fields.changed",
    about: ["source", sourceId],
    instance: day,
    since: `${day}T00:00:00Z`,
    message: `What source ${sourceId} (${sourceName}) sends changed on ${day}. ${parts.join("; ")}.`,
    fields: {
      source_id: sourceId,
      source_name: sourceName,
      day,
      count: added.length + changed.length + missing.length,
      new: added.slice(0, MAX_NAMED),
      kind_changed: changed.slice(0, MAX_NAMED),
      missing: missing.slice(0, MAX_NAMED),
    },
  })
}

/** The last day, in UTC, whose events are learned at a time; days are counted from 1970. */
export const lastLearnedDay = (now: number): number => Math.floor((now - LEARNED_AFTER_MILLIS) / DAY_MILLIS) - 1

/** The changes of the last days until this one, but not of days that had begun by `since`, in milliseconds. */
export const changedFieldsOf = Effect.fnUntraced(function* (
  store: ShapeStore["Service"],
  sources: ReadonlyArray<Source>,
  { lastDay, since }: { readonly lastDay: number; readonly since: number },
) {
  const starts = Array.from({ length: DAYS }, (_, n) => (lastDay - n) * DAY_MILLIS).filter((from) => from >= since)
  const found: Array<ChangedFields> = []
  for (let at = 0; at < sources.length && starts.length > 0; at += AT_ONCE) {
    const some = sources.slice(at, at + AT_ONCE)
    const { shapes } = yield* store.read(some.map(({ id }) => id))
    for (const { id, name } of some) {
      const shape = shapes.get(id) ?? emptyShape()
      for (const from of starts) {
        const changes = shapeChanges(shape, from, from + DAY_MILLIS)
        const day = new Date(from).toISOString().slice(0, 10)
        if (changes !== null) found.push({ sourceId: id, sourceName: name, day, changes })
      }
      yield* Effect.yieldNow
    }
  }
  return found
})
