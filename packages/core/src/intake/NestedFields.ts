/**
 * Nests the fields of a form by the brackets in their names, for sources with that setting: `leads[add][0][name]` becomes a
 * member of `leads`, which is then one column. Every value stays: a name that cannot be nested stays as it was sent.
 */
import { isJsonList, type Json, type JsonObject } from "../json/Json.ts"

/** Deeper names stay as they are. */
const MAX_STEPS = 16

/** A type of its own, so that a sent value is never mistaken for a branch. */
class Branch {
  readonly members = new Map<string, Branch | Json>()
}

/** The steps of a name with brackets; null for any other name. The last may be empty: `tags[]` is a list. */
const stepsOf = (name: string): ReadonlyArray<string> | null => {
  const first = name.indexOf("[")
  if (first < 1 || !name.endsWith("]")) return null
  const steps = name.slice(first + 1, -1).split("][")
  const isWell = steps.length <= MAX_STEPS && steps.every((step, index) => isStep(step, index === steps.length - 1))
  return isWell && !name.slice(0, first).includes("]") ? [name.slice(0, first), ...steps] : null
}

const isStep = (step: string, isLast: boolean): boolean =>
  (step !== "" || isLast) && !step.includes("[") && !step.includes("]")

/** `fields`: gathered by their names as sent. */
export const nestedFields = (fields: JsonObject): JsonObject => {
  const top = new Branch()
  for (const [name, value] of fields) {
    const steps = stepsOf(name)
    // A field without brackets takes precedence over the tree, whichever was sent first.
    const isNested = steps !== null && !fields.has(steps[0]!) && placed(top, steps, value)
    if (!isNested) top.members.set(name, value)
  }
  return new Map([...top.members].map(([name, member]) => [name, member instanceof Branch ? valueOf(member) : member]))
}

/** Returns false, and changes nothing, if another value blocks the path or has the place. */
const placed = (top: Branch, steps: ReadonlyArray<string>, value: Json): boolean => {
  const isList = steps.length > 1 && steps.at(-1) === ""
  const path = isList ? steps.slice(0, -1) : steps
  let branch: Branch | Json | undefined = top
  for (const step of path.slice(0, -1)) {
    if (!(branch instanceof Branch)) break
    branch = branch.members.get(step)
  }
  const last = path.at(-1)!
  const isBlocked = branch !== undefined && (!(branch instanceof Branch) || branch.members.has(last))
  if (isBlocked) return false
  let parent = top
  for (const step of path.slice(0, -1)) {
    const next = parent.members.get(step) ?? new Branch()
    parent.members.set(step, next)
    parent = next as Branch
  }
  parent.members.set(last, isList && !isJsonList(value) ? [value] : value)
  return true
}

/** A list where the names are 0, 1, 2 and so on, in order. */
const valueOf = ({ members }: Branch): Json => {
  const values = [...members].map(([name, member]): [string, Json] => [
    name,
    member instanceof Branch ? valueOf(member) : member,
  ])
  return values.every(([name], index) => name === String(index)) ? values.map(([, value]) => value) : new Map(values)
}
