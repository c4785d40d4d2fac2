/**
 * Declares once how an object looks in the JSON of the APIs and of `--json`: its members in their order, each with its
 * description. Its JSON, its JSON Schema and its component of the OpenAPI document follow. The compiler names a member of the
 * type that the declaration leaves out; a member that is not declared is never shown.
 *
 * The program's types stay plain interfaces, which the library publishes. Writing checks nothing: a stored value outside
 * today's range is still shown.
 *
 * Decision: docs/decisions/0082-objects-are-declared-by-shapes.md
 */
import { type Snake, snakeKey } from "./KeyCase.ts"

/** JSON Schema 2020-12, as used by OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Schemas that others refer to by name. */
export type Components = { readonly [name: string]: JsonSchema }

/** How a value of type `A` is written and described. */
export interface Shape<in A> {
  readonly schema: JsonSchema
  /** The named schemas that `schema` refers to, directly or through others. */
  readonly components: Components
  readonly json: (value: A) => unknown
}

/** A member that may be absent. */
export interface OptionalShape<in A> extends Shape<A> {
  readonly optional: true
}

/** The shapes of an object's members, in the order of its JSON. */
export type Members<A> = {
  readonly [K in keyof A]-?: undefined extends A[K] ? OptionalShape<Exclude<A[K], undefined>> : Shape<A[K]>
}

/** The same type with its keys in snake case. */
export type JsonOf<A> =
  A extends ReadonlyArray<infer Item>
    ? ReadonlyArray<JsonOf<Item>>
    : A extends object
      ? { readonly [K in keyof A as Snake<K>]: JsonOf<A[K]> }
      : A

/** A shape with its own type in JSON. */
export interface TypedShape<A, J> extends Shape<A> {
  readonly json: (value: A) => J
}

/** An object's shape, whose JSON has its keys in snake case. */
export interface ObjectShape<A> extends TypedShape<A, JsonOf<A>> {
  /** By their names in JSON, in their order. */
  readonly members: { readonly [name: string]: Shape<never> }
  /** The declared members of a row whose columns are named as in the JSON; values stay unchanged. */
  readonly ofRow: (row: object) => A
}

const asIs = <A>(value: A): A => value

/** A value that is the same in JSON, with its own schema. */
export const leaf = <A>(schema: JsonSchema): Shape<A> => ({ schema, components: {}, json: asIs })

/** With a description, if there is one. */
const described = (schema: JsonSchema, about: string | undefined): JsonSchema =>
  about === undefined ? schema : { ...schema, description: about }

/** Any text. */
export const text = (about?: string) => leaf<string>(described({ type: "string" }, about))

/** True or false. */
export const flag = (about: string) => leaf<boolean>(described({ type: "boolean" }, about))

/** A whole number from 0. */
export const whole = (about?: string) => leaf<number>(described({ type: "integer", minimum: 0 }, about))

/** Ids end at 2^53 - 1, so that every JSON reader holds them exactly. */
export const id = (about: string, example = 1) =>
  leaf<number>({
    type: "integer",
    format: "int64",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: about,
    examples: [example],
  })

/** RFC 3339 in UTC. */
export const time = (about: string) =>
  leaf<string>({
    type: "string",
    format: "date-time",
    description: `${about} RFC 3339 in UTC.`,
    examples: ["2026-11-21T09:30:00Z"],
  })

/** One of these texts. */
export const oneOf = <A extends string>(values: ReadonlyArray<A>, about?: string) =>
  leaf<A>(described({ enum: values }, about))

/** A value with its own members, written unchanged. */
export const open = (about: string) => leaf<object>({ type: "object", additionalProperties: true, description: about })

const nullable = (schema: JsonSchema): JsonSchema => {
  if (schema["$ref"] !== undefined) return { oneOf: [schema, { type: "null" }] }
  const { enum: values, type } = schema
  return values === undefined
    ? { ...schema, type: [type, "null"] }
    : { ...schema, enum: [...(values as ReadonlyArray<unknown>), null] }
}

/** The value or null; its description says when it is null. */
export const orNull = <A>({ schema, components, json }: Shape<A>, about?: string): Shape<A | null> => ({
  schema: described(nullable(schema), about),
  components,
  json: (value) => (value === null ? null : json(value)),
})

/** The value or null as two alternatives, the form in which some objects are published. */
export const eitherOrNull = <A>({ schema, components, json }: Shape<A>, about?: string): Shape<A | null> => ({
  schema: described({ oneOf: [schema, { type: "null" }] }, about),
  components,
  json: (value) => (value === null ? null : json(value)),
})

/** A list of such values. */
export const list = <A>({ schema, components, json }: Shape<A>, about?: string): Shape<ReadonlyArray<A>> => ({
  schema: described({ type: "array", items: schema }, about),
  components,
  json: json === asIs ? asIs : (values) => values.map((value) => json(value)),
})

/** A member that is omitted if undefined. */
export const optional = <A>(shape: Shape<A>): OptionalShape<A> => ({ ...shape, optional: true })

const objectOf = <A extends object>(
  about: string,
  members: object,
  nameOf: (key: string) => string,
): ObjectShape<A> => {
  const declared = Object.entries<Shape<never>>(members as { readonly [key: string]: Shape<never> }).map(
    ([key, shape]) => ({ key, name: nameOf(key), shape, write: shape.json as (value: unknown) => unknown }),
  )
  return {
    schema: {
      type: "object",
      description: about,
      required: declared.filter(({ shape }) => !("optional" in shape)).map(({ name }) => name),
      properties: Object.fromEntries(declared.map(({ name, shape }) => [name, shape.schema])),
    },
    components: Object.fromEntries(declared.flatMap(({ shape }) => Object.entries(shape.components))),
    members: Object.fromEntries(declared.map(({ name, shape }) => [name, shape])),
    json: (value) => {
      const from = value as { readonly [key: string]: unknown }
      const written: Record<string, unknown> = {}
      for (const { key, name, write } of declared) {
        const member = from[key]
        if (member !== undefined) written[name] = write(member)
      }
      return written as JsonOf<A>
    },
    ofRow: (row) => {
      const from = row as { readonly [name: string]: unknown }
      return Object.fromEntries(declared.map(({ key, name }) => [key, from[name]])) as A
    },
  }
}

/** An object with these members. */
export const object = <A extends object>(about: string, members: Members<A>): ObjectShape<A> =>
  objectOf(about, members, snakeKey)

/** An object whose JSON is written elsewhere, and only described here, by the names in that JSON. */
export const describedOnly = (
  about: string,
  members: { readonly [name: string]: Shape<never> },
): ObjectShape<{ readonly [name: string]: never }> => objectOf(about, members, (name) => name)

/** The shape as a component of this name, to which schemas refer. */
export const named = <A>(name: string, shape: ObjectShape<A>): ObjectShape<A> => ({
  schema: { $ref: `#/components/schemas/${name}` },
  components: { ...shape.components, [name]: shape.schema },
  members: shape.members,
  json: shape.json,
  ofRow: shape.ofRow,
})

/** The shape of values that are shown as `of` converts them. */
export const derived = <B, A, J>(
  of: (value: B) => A,
  { schema, components, json }: TypedShape<A, J>,
): TypedShape<B, J> => ({
  schema,
  components,
  json: (value) => json(of(value)),
})
