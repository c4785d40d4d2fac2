/**
 * An example of a shape's payloads, valid by its schema. Its values are made up: a shape keeps none, so an example shows
 * nothing personal.
 */
import { type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { type Field, type Kind, kindsSeen, type PayloadShape } from "./PayloadShape.ts"

const SCALARS: Readonly<Record<Exclude<Kind, "array" | "object">, Json>> = {
  boolean: true,
  integer: new JsonNumber("1"),
  number: new JsonNumber("12.50"),
  string: "text",
  null: null,
}

/** How often a value of this kind came. */
const times = ({ kinds }: Field, kind: Kind): number => kinds.get(kind)?.count ?? 0

/** The usual kind; null only if nothing else came. */
const usualKind = (field: Field): Kind => {
  const kinds = kindsSeen(field).toSorted((one, other) => times(field, other) - times(field, one))
  return kinds.find((kind) => kind !== "null") ?? "null"
}

const objectExample = ({ names }: Field): JsonObject =>
  new Map([...names].map(([name, member]) => [name, valueExample(member.field)]))

const valueExample = (field: Field): Json => {
  const kind = usualKind(field)
  if (kind === "object") return objectExample(field)
  if (kind === "array") return field.items === null ? [] : [valueExample(field.items)]
  return SCALARS[kind]
}

/** A payload with each named field, empty without events. */
export const shapeExample = ({ root }: PayloadShape): JsonObject => objectExample(root)
