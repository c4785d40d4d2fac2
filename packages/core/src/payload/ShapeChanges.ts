/** What changed about a source's fields in a period, such as a day. Each change falls into one period alone. */
import { type FieldChange, shapeFields } from "./ShapeFields.ts"
import type { PayloadShape } from "./PayloadShape.ts"

/** The changed fields, by their paths. */
export type ShapeChanges = Readonly<Record<FieldChange, ReadonlyArray<string>>>

const WEEK_MILLIS = 7 * 86_400_000

/**
 * From `from` until before `to`, in milliseconds; null without any. A field that stopped has changed seven days after it came
 * last.
 */
export const shapeChanges = (shape: PayloadShape, from: number, to: number): ShapeChanges | null => {
  const isWithin = (at: number) => at >= from && at < to
  const found: Record<FieldChange, Array<string>> = { new: [], kind_changed: [], missing: [] }
  for (const { path, change, kinds, firstAt, lastAt } of shapeFields(0, shape, to).fields) {
    if (change === null) continue
    const times =
      change === "new"
        ? [Date.parse(firstAt)]
        : change === "missing"
          ? [Date.parse(lastAt) + WEEK_MILLIS]
          : kinds.flatMap((one) => (one.kind === "null" || one.firstAt === firstAt ? [] : Date.parse(one.firstAt)))
    if (times.some(isWithin)) found[change].push(path)
  }
  return Object.values(found).some(({ length }) => length > 0) ? found : null
}
