/**
 * Nests the fields of a form by the brackets in their names, for sources with that setting: `leads[add][0][name]` becomes a
 * member of `leads`, which is then one column. Every value stays: a name that cannot be nested stays as it was sent.
 */
import { isJsonList, type Json, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"

/** Deeper names stay unchanged. */
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

const memberOf = (value: Json | undefined, step: string): Json | undefined => {
  if (value === undefined) return undefined
  if (value instanceof Map) return value.get(step)
  return isJsonList(value) && /^(?:0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined
}

/**
 * The fields that were nested into this object, as they were sent; null if these names do not make exactly this object. `sent`:
 * for each sent field the names that it may have had.
 */
export const flatFields = (nested: JsonObject, sent: ReadonlyArray<ReadonlyArray<string>>): JsonObject | null => {
  const counts = new Map<string, number>()
  for (const names of sent) {
    const name = names.find((one) => nested.has(one) || heldAt(nested, one) !== undefined)
    if (name === undefined) return null
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const byTop = new Map<string, Array<readonly [name: string, value: Json]>>()
  for (const [name, count] of counts) {
    if (nested.has(name)) continue
    const value = heldAt(nested, name)!
    // One value of `tags[]` was made a list.
    const isWrapped = name.endsWith("[]") && count === 1 && isJsonList(value) && value.length === 1
    const top = stepsOf(name)![0]!
    const beside = byTop.get(top) ?? []
    beside.push([name, isWrapped ? value[0]! : value])
    byTop.set(top, beside)
  }
  const flat = new Map([...nested].flatMap(([name, value]) => byTop.get(name) ?? [[name, value] as const]))
  return jsonText(nestedFields(flat)) === jsonText(nested) ? flat : null
}

const heldAt = (nested: JsonObject, name: string): Json | undefined => {
  const steps = stepsOf(name)
  if (steps === null) return undefined
  return (steps.at(-1) === "" ? steps.slice(0, -1) : steps).reduce<Json | undefined>(memberOf, nested)
}
