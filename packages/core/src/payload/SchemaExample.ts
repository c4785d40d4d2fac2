/**
 * An example of a source's payloads, valid by the schema that was learned. Its values are made up: neither a shape nor its schema
 * has any, so an example shows nothing personal.
 */
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"

const SCALARS: Readonly<Record<string, Json>> = {
  boolean: true,
  integer: new JsonNumber("1"),
  number: new JsonNumber("12.50"),
  string: "text",
}

/** Parsers of API descriptions take a member of this name for a reference, even in an example. */
const REFERENCE = "$ref"

/** The first kind of a schema; null only if it has no other. */
const kindOf = (schema: JsonObject): string => {
  const type = schema.get("type") ?? null
  const all = isJsonList(type) ? type : [type]
  const kind = all.find((one) => one !== "null")
  return typeof kind === "string" ? kind : "null"
}

const objectExample = (schema: JsonObject): JsonObject => {
  const members = schema.get("properties")
  if (!(members instanceof Map)) return new Map()
  const shown = [...(members as JsonObject)].filter(([name]) => name !== REFERENCE)
  return new Map(shown.map(([name, member]) => [name, valueExample(member)]))
}

const valueExample = (schema: Json | undefined): Json => {
  if (!(schema instanceof Map)) return null
  const kind = kindOf(schema)
  if (kind === "object") return objectExample(schema)
  if (kind !== "array") return SCALARS[kind] ?? null
  return schema.has("items") ? [valueExample(schema.get("items"))] : []
}

/** A payload with each named field, by a schema of `shapeSchema`; empty without events. */
export const schemaExample = (schema: JsonObject): JsonObject => objectExample(schema)
