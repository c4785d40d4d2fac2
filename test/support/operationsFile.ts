/** Generates `packages/client/src/generated/Operations.ts` from the description of the management API. */

interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
}

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
}

const members = (entries: ReadonlyArray<readonly [name: string, type: string, required: boolean]>): string =>
  `{ ${entries.map(([name, type, required]) => `readonly ${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required ? "" : "?"}: ${type}`).join("; ")} }`

const ofType = (schema: Schema, type: string): string => {
  if (type === "array") return `ReadonlyArray<${schema.items === undefined ? "unknown" : typeOf(schema.items)}>`
  if (type !== "object") return PRIMITIVES[type] ?? "unknown"
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) return "Readonly<Record<string, unknown>>"
  return members(properties.map(([name, inner]) => [name, typeOf(inner), schema.required?.includes(name) ?? false]))
}

const typeOf = (schema: Schema): string => {
  const { $ref, type, enum: words, oneOf, anyOf, allOf } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf("/") + 1)
  if ("const" in schema) return JSON.stringify(schema.const)
  if (words !== undefined) return words.map((word) => JSON.stringify(word)).join(" | ")
  const union = oneOf ?? anyOf
  if (union !== undefined) return union.map(typeOf).join(" | ")
  // The checks of a type are beside it, in `allOf`.
  if (type === undefined) return allOf?.[0] === undefined ? "unknown" : typeOf(allOf[0])
  return (typeof type === "string" ? [type] : type).map((one) => ofType(schema, one)).join(" | ")
}

const inputOf = ({ parameters, requestBody }: Operation): string => {
  const group = (place: Parameter["in"]) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, schema }) => [name, typeOf(schema), required] as const)
  const [path, query] = [group("path"), group("query")]
  const body = requestBody?.content["application/json"]?.schema
  return members([
    ...(path.length === 0 ? [] : [["path", members(path), true] as const]),
    ...(query.length === 0 ? [] : [["query", members(query), query.some(([, , required]) => required)] as const]),
    ...(body === undefined ? [] : [["body", typeOf(body), true] as const]),
  ])
}

const outputOf = ({ responses }: Operation): string => {
  // With a 201, a 200 is the response to a repeat.
  const success = Object.entries(responses).findLast(([status]) => status.startsWith("2"))?.[1]
  const content = Object.entries(success?.content ?? {})[0]
  if (content === undefined) return "undefined"
  const [type, { schema }] = content
  return type === "application/json" ? typeOf(schema) : "never"
}

const PREFIX = "/manage/v1/"

export const operationsFile = ({ paths, components }: Description): string => {
  const all = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    )
    // Responses other than JSON need a request outside this client.
    .filter(({ operation }) => outputOf(operation) !== "never")
  return `/**
 * The operations of the management API, written from its own description by test/flow/client.test.ts (\`vitest run -u\`). Not
 * to be edited.
 */
${Object.entries(components.schemas)
  .filter(([name]) => name !== "Error")
  .map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  .join("\n")}

/** The parameters and the result of each operation. */
export interface Operations {
${all.map(({ operation }) => `  /** ${operation.summary}. */\n  readonly ${operation.operationId}: { readonly input: ${inputOf(operation)}; readonly output: ${outputOf(operation)} }`).join("\n")}
}

/** Their methods and paths, without what all of them begin with. */
export const OPERATIONS = {
${all.map(({ method, path, operation }) => `  ${operation.operationId}: ${JSON.stringify(`${method} ${path.slice(PREFIX.length)}`)},`).join("\n")}
} as const satisfies Record<keyof Operations, string>
`
}
