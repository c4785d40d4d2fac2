/**
 * A schema in few lines, for agents: as many levels as fit, and only names that are short and without spaces. Anyone who can send
 * an event chooses the names of its members, so a name that is written as a sentence is not shown. Each payload that the schema accepts is valid.
 */
import type { Json, JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"

const MAX_LEVELS = 4
/** Of the outline's JSON text. A page of event types has 100 of them. */
const MAX_LENGTH = 8_000

const WORD = /^[\p{L}_$][\p{L}\p{N}_.$-]{0,39}$/u

const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map

const outlineOf = (schema: JsonObject, levels: number): JsonObject => {
  const outline = new Map<string, Json>()
  for (const key of ["type", "description"]) if (schema.has(key)) outline.set(key, schema.get(key)!)
  if (levels === 0) return outline
  const inner = (value: Json): Json => (isObject(value) ? outlineOf(value, levels - 1) : value)
  const properties = schema.get("properties")
  const named = isObject(properties) ? [...properties] : []
  const shown = named.filter(([name]) => WORD.test(name))
  if (shown.length > 0) outline.set("properties", new Map(shown.map(([name, value]) => [name, inner(value)])))
  const required = ((schema.get("required") ?? []) as ReadonlyArray<string>).filter((name) => WORD.test(name))
  if (required.length > 0) outline.set("required", required)
  const [rest, items] = [schema.get("additionalProperties"), schema.get("items")]
  // It would also be about the names that are not shown.
  if (rest !== undefined && shown.length === named.length) outline.set("additionalProperties", inner(rest))
  if (items !== undefined) outline.set("items", inner(items))
  return outline
}

/** `schema`: one of `shapeSchema`. */
export const schemaOutline = (schema: JsonObject): JsonObject => {
  for (let levels = MAX_LEVELS; levels > 0; levels--) {
    const outline = outlineOf(schema, levels)
    if (jsonText(outline).length <= MAX_LENGTH) return outline
  }
  return outlineOf(schema, 0)
}
