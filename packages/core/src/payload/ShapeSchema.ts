/**
 * A shape as JSON Schema 2020-12. Each payload that it was learned from is valid; new fields are valid too, because senders
 * add them. A member is required if every object had it. Values of payloads appear nowhere.
 */
import type { Json, JsonObject } from "../json/Json.ts"
import { type Field, isAlwaysThere, type Kind, kindsSeen, type PayloadShape } from "./PayloadShape.ts"

const DRAFT = "https://json-schema.org/draft/2020-12/schema"
const LONG = "Some of these numbers have more digits than a double."
const OPEN = "It had more members than are described."
const REST = "Members beyond the named ones, or whose names are ids."

const typesOf = (field: Field): ReadonlyArray<Kind> =>
  kindsSeen(field).filter((kind) => kind !== "integer" || !field.kinds.has("number"))

const describe = (schema: Map<string, Json>, about: string): void => {
  const before = schema.get("description")
  schema.set("description", before === undefined ? about : `${before as string} ${about}`)
}

const schemaOf = (field: Field): Map<string, Json> => {
  const { names, rest, items, open, long } = field
  const schema = new Map<string, Json>()
  const types = typesOf(field)
  if (types.length > 0) schema.set("type", types.length === 1 ? types[0]! : types)
  if (long) describe(schema, LONG)
  if (open) describe(schema, OPEN)
  if (names.size > 0) {
    schema.set("properties", new Map([...names].map(([name, { field: inner }]) => [name, schemaOf(inner)])))
    const required = [...names].flatMap(([name, { field: inner }]) => (isAlwaysThere(field, inner) ? [name] : []))
    if (required.length > 0) schema.set("required", required)
  }
  if (rest !== null) {
    const inner = schemaOf(rest)
    describe(inner, REST)
    schema.set("additionalProperties", inner)
  }
  if (items !== null) schema.set("items", schemaOf(items))
  return schema
}

/** The document for a source of this name. */
export const shapeSchema = ({ root }: PayloadShape, title: string): JsonObject => {
  const schema = schemaOf(root)
  if (!schema.has("type")) schema.set("type", "object")
  return new Map<string, Json>([["$schema", DRAFT], ["title", title], ...schema])
}
