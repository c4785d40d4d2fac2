/**
 * Examples in the OpenAPI document for each source that a reader may read: what arrives at its intake address, its events and
 * its deliveries, with the fields that it sends and made-up values.
 */
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { mayReadSource, type ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { schemaExample } from "@data-cabinet/core/payload/SchemaExample"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { SCHEMA_ERROR_FIELD, VALID_FIELD } from "@data-cabinet/core/schema/MarkEvents"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { DELIVERY_EXAMPLE, EVENT_EXAMPLE } from "./Examples.ts"
import type { OpenApiDocument } from "./OpenApiDocument.ts"
import type { MediaTypes, OperationObject } from "./OperationObject.ts"

/** The most sources with examples, and the most characters of all payloads. */
const MOST = { sources: 50, length: 250_000 } as const
const JSON_TYPE = "application/json"
const FEED = "/api/v1/events"
const INTAKE = "/webhook/{intake_secret}"
const RECEIVED = "event.received"

/** The cabinet adds these to an event that violates the source's own schema. */
const MARKS = [VALID_FIELD, SCHEMA_ERROR_FIELD]

/** What a source sends. */
export interface SourceExample {
  readonly source: { readonly id: number; readonly name: string }
  readonly payload: object
}

/** Those of a reader, without archived sources and those that have sent nothing. */
export const sourceExamples = Effect.gen(function* () {
  const shapes = yield* Shapes
  const sources = yield* Sources
  return Effect.fnUntraced(function* (scope: ReadScopeOrAll) {
    const own = (yield* sources.list).filter(({ id, archived }) => !archived && mayReadSource(scope, id))
    const some = own.slice(0, MOST.sources)
    const schemas = yield* shapes.schemas(some.map(({ id }) => id))
    const examples: Array<SourceExample> = []
    let room: number = MOST.length
    for (const { id, name } of some) {
      const schema = schemas.get(id)
      const example = schema === undefined ? new Map() : new Map(schemaExample(schema))
      for (const field of MARKS) example.delete(field)
      const text = jsonText(example)
      if (example.size === 0 || text.length > room) continue
      room -= text.length
      examples.push({ source: { id, name }, payload: JSON.parse(text) as object })
    }
    return examples
  })
})

/** Its media type with these values in place of the one example. */
const shown = (content: MediaTypes, valueOf: (one: SourceExample) => unknown, all: ReadonlyArray<SourceExample>) => {
  const { example: _, ...type } = content[JSON_TYPE]!
  const examples = all.map((one) => [`source_${one.source.id}`, { summary: one.source.name, value: valueOf(one) }])
  return { ...content, [JSON_TYPE]: { ...type, examples: Object.fromEntries(examples) as object } } as MediaTypes
}

const ofBody = (
  operation: OperationObject,
  valueOf: (one: SourceExample) => unknown,
  all: ReadonlyArray<SourceExample>,
): OperationObject => {
  const body = operation.requestBody!
  return { ...operation, requestBody: { ...body, content: shown(body.content, valueOf, all) } }
}

const eventOf = ({ source, payload }: SourceExample) => ({ ...EVENT_EXAMPLE, source, payload })
const deliveryOf = (one: SourceExample) => ({ ...DELIVERY_EXAMPLE, source: one.source, data: eventOf(one) })

/** The document with these examples. */
export const withExamples = (document: OpenApiDocument, all: ReadonlyArray<SourceExample>): OpenApiDocument => {
  const { paths, webhooks } = document
  const [feed, intake, received] = [paths[FEED]!, paths[INTAKE]!, webhooks[RECEIVED]!]
  const page = feed["get"]!.responses["200"]!
  const general = page.content![JSON_TYPE]!.example as object
  const pageOf = (one: SourceExample) => ({ ...general, data: [eventOf(one)] })
  const responses = { ...feed["get"]!.responses, "200": { ...page, content: shown(page.content!, pageOf, all) } }
  return {
    ...document,
    paths: {
      ...paths,
      [FEED]: { ...feed, get: { ...feed["get"]!, responses } },
      [INTAKE]: { ...intake, post: ofBody(intake["post"]!, ({ payload }) => payload, all) },
    },
    webhooks: { ...webhooks, [RECEIVED]: { ...received, post: ofBody(received["post"]!, deliveryOf, all) } },
  }
}
