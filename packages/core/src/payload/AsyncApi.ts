/**
 * What a cabinet sends, as an AsyncAPI 3.0 document: the deliveries to an address and the stream of the feed, with a message
 * for each source. Payloads have the schema of the source's shape. Senders choose names of fields, which are only keys of
 * `properties` and texts of `required` here.
 *
 * Its schemas are AsyncAPI's own, a superset of JSON Schema draft 7, because few tools take a later draft.
 */
import { deliveryHeaders, batchSchema, PING_SCHEMA, receivedSchema } from "../delivery/DeliveryShape.ts"
import { eventShape } from "./EventShape.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import type { JsonSchema } from "../json/Shape.ts"
import { ownJson } from "../json/ParseJson.ts"
import { type Field, nameMember, type PayloadShape } from "./PayloadShape.ts"
import { schemaExample } from "./SchemaExample.ts"
import { shapeSchema } from "./ShapeSchema.ts"

/** A source, as its messages describe it. */
export interface MessageSource {
  /** A name of `typeNames`. */
  readonly typeName: string
  readonly id: number
  readonly name: string
  /** A `messageSchema`; null if the document has no room for it. */
  readonly schema: JsonObject | null
}

/** Parsers take every member of this name for a reference, even among the properties of a schema. */
const REFERENCE = "$ref"

const withoutReferences = (field: Field): Field => {
  const { names, rest, items, open } = field
  const has = names.has(REFERENCE)
  const copy: Field = {
    ...field,
    names: new Map(),
    members: [],
    rest: has || rest === null ? null : withoutReferences(rest),
    items: items === null ? null : withoutReferences(items),
    open: open || has,
  }
  for (const [name, member] of names) {
    if (name !== REFERENCE) nameMember(copy, name, withoutReferences(member.field))
  }
  return copy
}

/** The schema of a source's payloads, in draft 7 and with an example. */
export const messageSchema = ({ root, fields }: PayloadShape, title: string): JsonObject => {
  const shape = { root: withoutReferences(root), fields }
  const learned = shapeSchema(shape, title)
  const schema = [...learned].filter(([key]) => key !== "$schema")
  return new Map<string, Json>([...schema, ["examples", [schemaExample(learned)]]])
}

/** A cabinet, as the document describes it. */
export interface AsyncCabinet {
  /** Its address, without a trailing slash. */
  readonly baseUrl: string
  readonly sources: ReadonlyArray<MessageSource>
  /** The number of sources that have no message of their own. */
  readonly further: number
}

const ref = (...path: ReadonlyArray<string>) => ({ $ref: `#/${path.join("/")}` })
const schemaRef = (name: string) => ref("components", "schemas", name)

const RECEIVED = "event.received"
// Type names begin with an upper-case letter, so these are never one.
const EVENT = "event"
const DELIVERY = "delivery"
const BATCH = "batch"
const PING = "ping"

const DELIVERIES =
  "A signed request for each new event, to each subscribed address. Delivery is at least once: tolerate the same `id` again. Bodies of another kind than `standard` are not described."
const FEED =
  "Server-sent events of `GET /api/v1/events` with `Accept: text/event-stream`: `data` is an event, and `id` the cursor after it. To continue, send the last id in `Last-Event-ID`. Without a cursor the stream begins with the first event."

const headersSchema = (type: Parameters<typeof deliveryHeaders>[0]): JsonSchema => {
  const headers = deliveryHeaders(type)
  return {
    type: "object",
    required: headers.map(({ name }) => name),
    properties: Object.fromEntries(
      headers.map(({ name, description, schema, example }) => [name, { ...schema, description, examples: [example] }]),
    ),
  }
}

const deliveryMessage = (name: Parameters<typeof deliveryHeaders>[0], title: string, schema: string) => ({
  name,
  title,
  headers: schemaRef(`${name}.headers`),
  payload: schemaRef(schema),
})

const feedMessage = (title: string, schema: string) => ({
  name: "event",
  title,
  headers: schemaRef("stream.headers"),
  payload: schemaRef(schema),
})

/** `schema`, with what is known if the event is of this source. */
const narrowed = (schema: string, id: number, inside: JsonSchema): JsonSchema => ({
  allOf: [schemaRef(schema), { properties: { source: { properties: { id: { const: id } } }, ...inside } }],
})

const STREAM_HEADERS: JsonSchema = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", description: "The cursor after the event." } },
}

const STREAM_QUERY: JsonSchema = {
  type: "object",
  properties: {
    source_id: { type: "integer", minimum: 1, description: "Only events of this source." },
    channel: { enum: ["webhook", "file", "pull"], description: "Only events of this channel." },
    cursor: { type: "string", description: "Where to begin." },
  },
}

const servers = (baseUrl: string) => {
  const { host, protocol, pathname } = new URL(baseUrl)
  return {
    cabinet: {
      host,
      protocol: protocol.slice(0, -1),
      ...(pathname === "/" ? {} : { pathname }),
      description: "The cabinet.",
      security: [ref("components", "securitySchemes", "bearer"), ref("components", "securitySchemes", "apiKey")],
    },
    receiver: {
      host: "{host}",
      protocol: "https",
      pathname: "/{path}",
      description: "The server of a delivery address.",
      variables: { host: { description: "Its host." }, path: { description: "The path of the address." } },
    },
  }
}

const http = (method: "GET" | "POST", query?: JsonSchema) => ({
  http: { method, ...(query === undefined ? {} : { query }), bindingVersion: "0.3.0" },
})

const channelsOf = (sources: ReadonlyArray<MessageSource>) => {
  const names = (kind: string, others: ReadonlyArray<string>) => [
    ...sources.map(({ typeName }) => `${typeName}.${kind}`),
    ...others,
  ]
  const messages = (all: ReadonlyArray<string>) =>
    Object.fromEntries(all.map((name) => [name, ref("components", "messages", name)]))
  return {
    deliveries: {
      address: null,
      title: "Deliveries",
      description: DELIVERIES,
      servers: [ref("servers", "receiver")],
      messages: messages(names(DELIVERY, [DELIVERY, BATCH, PING])),
    },
    feed: {
      address: "/api/v1/events",
      title: "The feed",
      description: FEED,
      servers: [ref("servers", "cabinet")],
      messages: messages(names(EVENT, [EVENT])),
    },
  }
}

const messagesOf = (sources: ReadonlyArray<MessageSource>) => ({
  [DELIVERY]: deliveryMessage(RECEIVED, "An event of any source", DELIVERY),
  [BATCH]: deliveryMessage("events.received", "Events in batches", BATCH),
  [PING]: deliveryMessage("ping", "A check of the address", PING),
  [EVENT]: feedMessage("An event of any source", EVENT),
  ...Object.fromEntries(
    sources.flatMap(({ typeName, name }) => [
      [`${typeName}.delivery`, deliveryMessage(RECEIVED, name, `${typeName}.delivery`)],
      [`${typeName}.event`, feedMessage(name, `${typeName}.event`)],
    ]),
  ),
})

const schemasOf = (sources: ReadonlyArray<MessageSource>): Readonly<Record<string, JsonSchema>> => ({
  [EVENT]: eventShape.schema,
  [DELIVERY]: receivedSchema(schemaRef(EVENT)),
  [BATCH]: batchSchema(schemaRef(DELIVERY)),
  [PING]: PING_SCHEMA,
  "stream.headers": STREAM_HEADERS,
  ...Object.fromEntries(
    ([RECEIVED, "events.received", "ping"] as const).map((type) => [`${type}.headers`, headersSchema(type)]),
  ),
  ...Object.fromEntries(
    sources.flatMap(({ typeName, id, schema }) => [
      [`${typeName}.event`, narrowed(EVENT, id, schema === null ? {} : { payload: schemaRef(typeName) })],
      [`${typeName}.delivery`, narrowed(DELIVERY, id, { data: schemaRef(`${typeName}.event`) })],
    ]),
  ),
})

const about = (further: number): string =>
  `What this cabinet sends. Schemas of payloads are learned from what came; senders may add fields at any time.${further === 0 ? "" : ` ${further} further sources have no message of their own.`}`

const asJson = (value: object): Map<string, Json> => ownJson(JSON.stringify(value)) as Map<string, Json>

/** The document. */
export const asyncApi = ({ baseUrl, sources, further }: AsyncCabinet): JsonObject => {
  const operations = {
    deliver: { action: "send", channel: ref("channels", "deliveries"), bindings: http("POST") },
    streamFeed: { action: "send", channel: ref("channels", "feed"), bindings: http("GET", STREAM_QUERY) },
  }
  const schemas = asJson(schemasOf(sources))
  for (const { typeName, schema } of sources) {
    if (schema !== null) schemas.set(typeName, schema)
  }
  const components = asJson({
    messages: messagesOf(sources),
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "An API key of the cabinet, or an access token." },
      apiKey: { type: "httpApiKey", in: "header", name: "X-Api-Key", description: "The same key in its own header." },
    },
  })
  return asJson({
    asyncapi: "3.0.0",
    info: { title: "Data Cabinet", version: "1", description: about(further) },
    defaultContentType: "application/json",
    servers: servers(baseUrl),
    channels: channelsOf(sources),
    operations,
  }).set("components", components.set("schemas", schemas))
}
