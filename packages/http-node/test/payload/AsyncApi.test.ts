/** The AsyncAPI document: it is well formed, whatever senders sent, and accepts what the cabinet sends. */
import { batchBody, deliveryBody } from "@data-cabinet/core/delivery/DeliveryBody"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { asyncApi, type MessageSource, messageSchema } from "@data-cabinet/core/payload/AsyncApi"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { ShapeStore } from "@data-cabinet/core/payload/ShapeStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { emptyShape } from "@data-cabinet/core/payload/PayloadShape"
import { ShapeLearning } from "@data-cabinet/core/payload/ShapeLearning"
import { Ajv, type AnySchemaObject } from "ajv"
import { Effect, Layer } from "effect"
import { assert, expect, it } from "vitest"
import { randomJsonObject, seeded } from "../../../../test/support/random.ts"

const sourceOf = (id: number, typeName: string, payloads: ReadonlyArray<string>): MessageSource => {
  const shape = emptyShape()
  const learning = new ShapeLearning(shape)
  for (const text of payloads) {
    learning.begin({ payloads: text, times: [0] })
    while (!learning.advance(100));
  }
  const name = `Orders ${id} "\\/`
  return { id, name, typeName, schema: messageSchema(shape, name) }
}

const HOSTILE = `{"$ref":"#/nowhere","__proto__":{"type":"x"},"a/b~c":[{"\\u2028":12.50}],"required":1e400,"note":null,"empty":{},"none":[],"deep":{"$ref":1,"7":"x"}}`
const PAYLOADS = [
  [`{"id":1,"items":[{"sku":"a"}]}`, `{"id":2,"items":[],"note":null}`],
  [HOSTILE],
  [],
  Array.from({ length: 40 }, (_, n) => randomJsonObject(seeded(n), n)),
]
const NAMES = ["Orders", "Event", "Source3", "Random"]
const cabinet = {
  baseUrl: "https://data.example.com/shop",
  sources: PAYLOADS.map((payloads, n) => sourceOf(n + 1, NAMES[n]!, payloads)),
  further: 2,
}
const document = JSON.parse(jsonText(asyncApi(cabinet))) as {
  readonly channels: Readonly<Record<string, { readonly messages: object }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, AnySchemaObject>>
    readonly messages: Readonly<Record<string, { readonly payload: object }>>
  }
}

const ajv = new Ajv({ strict: false, strictNumbers: false, formats: { int64: true, "date-time": true } })
ajv.addSchema(document, "all")
const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
const accepts = (name: string, text: string): boolean => {
  const valid = compiled.get(name) ?? ajv.compile({ $ref: `all#/components/schemas/${name}` })
  compiled.set(name, valid)
  return valid(JSON.parse(text)) === true
}

it("asyncApi refers only to what it has", () => {
  const at = (pointer: string) =>
    pointer
      .split("/")
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], document)
  const check = (value: unknown, where: string): number => {
    if (typeof value !== "object" || value === null) return 0
    let found = 0
    for (const [key, inner] of Object.entries(value)) {
      // Parsers take it for a reference wherever it is.
      if (key === "$ref") {
        assert.isString(inner, where)
        assert.isDefined(at((inner as string).slice(1)), `${where}: ${inner}`)
        found++
      } else found += check(inner, `${where}/${key}`)
    }
    return found
  }
  assert.isAbove(check(document, ""), 50)
  for (const part of Object.values(document.components)) {
    for (const key of Object.keys(part)) assert.match(key, /^[\w.-]+$/)
  }
  expect(Object.keys(document.channels["deliveries"]!.messages)).toEqual([
    ...NAMES.map((name) => `${name}.delivery`),
    "delivery",
    "batch",
    "ping",
  ])
  expect(jsonText(asyncApi({ ...cabinet, sources: [], further: 0 }))).not.toContain("further")
})

const eventOf = (id: number, payload: string) =>
  `{"id":7,"source":{"id":${id},"name":"Orders"},"channel":"webhook","received_at":"2026-11-21T09:30:00.125Z","payload":${payload},"repeat_of":null,"history":false,"deleted_at":null}`

it("asyncApi accepts every event and delivery that is sent, and its own examples", () => {
  for (const [n, payloads] of PAYLOADS.entries()) {
    const examples = document.components.schemas[NAMES[n]!]!["examples"] as ReadonlyArray<object>
    assert.lengthOf(examples, 1)
    for (const payload of [...payloads, ...examples.map((example) => JSON.stringify(example))]) {
      const json = eventOf(n + 1, payload)
      const event = { sourceId: n + 1, sourceName: "Orders", json: Buffer.from(json) }
      const item = { id: 3, createdAt: "2026-11-21T09:30:00.200Z", event } as Parameters<typeof batchBody>[0][number]
      const body = Buffer.from(deliveryBody({ ...item, type: "event.received" })).toString()
      for (const name of ["event", `${NAMES[n]!}.event`]) assert.isTrue(accepts(name, json), `${name} ${payload}`)
      for (const name of ["delivery", `${NAMES[n]!}.delivery`]) assert.isTrue(accepts(name, body), `${name} ${payload}`)
      assert.isTrue(accepts("batch", Buffer.from(batchBody([item, item])).toString()))
    }
  }
  const ping = Buffer.from(deliveryBody({ id: 1, type: "ping", createdAt: "2026-11-21T09:30:00.200Z", event: null }))
  assert.isTrue(accepts("ping", ping.toString()))
  assert.isFalse(accepts("Orders.event", eventOf(1, `{"id":"1","items":[]}`)))
  assert.isFalse(accepts("Orders.event", eventOf(2, `{"id":1,"items":[]}`)))
})

it("asyncApi has 1,000 sources and 4 MB of schemas at most, and reads no more shapes than it shows", async () => {
  const wide = emptyShape()
  const learning = new ShapeLearning(wide)
  const names = Array.from(
    { length: 150 },
    (_, n) => `"x${"y".repeat(n % 90)}${"z".repeat(n / 90)}":{"${"w".repeat(99)}":1}`,
  )
  learning.begin({ payloads: `{${names.join()}}`, times: [0] })
  while (!learning.advance(1_000));
  let read = 0
  const store = ShapeStore.of({
    learn: () => Effect.succeed(false),
    read: (ids) => {
      read += ids.length
      return Effect.succeed({ shapes: new Map(ids.map((id) => [id, wide])), now: 0 })
    },
  })
  const list = Array.from({ length: 1_005 }, (_, n) => ({ id: n + 1, name: "S", archived: n < 2, table: null }))
  const sources = { list: Effect.succeed(list) } as unknown as Sources["Service"]
  const layer = Layer.provide(Shapes.layer, [Layer.succeed(ShapeStore, store), Layer.succeed(Sources, sources)])
  const text = await Effect.runPromise(
    Effect.provide(
      Shapes.use((shapes) => shapes.asyncApi("http://127.0.0.1:8080")),
      layer,
    ),
  )
  const { info, channels, components } = JSON.parse(text) as typeof document & {
    readonly info: { description: string }
  }
  assert.include(info.description, "3 further sources")
  assert.lengthOf(Object.keys(channels["feed"]!.messages), 1_001)
  const schemas = Object.entries(components.schemas).filter(
    ([name]) => !/[.]/.test(name) && name !== name.toLowerCase(),
  )
  assert.isBelow(JSON.stringify(schemas).length, 4_100_000)
  assert.isAtLeast(schemas.length, 50)
  assert.isAtMost(read, schemas.length + 20)
})
