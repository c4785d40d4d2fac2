/** A shape excludes nothing that was sent, whatever was sent; and stays small. */
import { JsonNumber, type Json, type JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import {
  emptyShape,
  exceedsDouble,
  looksLikeId,
  MAX_FIELDS,
  type PayloadShape,
} from "@data-cabinet/core/payload/PayloadShape"
import { shapeFields } from "@data-cabinet/core/payload/ShapeFields"
import { ShapeLearning } from "@data-cabinet/core/payload/ShapeLearning"
import { schemaOutline } from "@data-cabinet/core/payload/SchemaOutline"
import { shapeSchema } from "@data-cabinet/core/payload/ShapeSchema"
import { shapeOfText, shapeText } from "@data-cabinet/core/payload/ShapeText"
import { shapeTypes } from "@data-cabinet/core/payload/ShapeTypes"
import { Ajv2020 } from "ajv/dist/2020.js"
import ts from "typescript"
import { assert, expect, it } from "vitest"
import { randomOf, seeded, type Random } from "../../../../test/support/random.ts"

const DAY = 86_400_000
const START = Date.parse("2026-01-01T00:00:00Z")

const objectOf = (text: string): JsonObject => ownJson(text) as JsonObject

const learn = (payloads: ReadonlyArray<JsonObject>, shape: PayloadShape = emptyShape(), at = START): PayloadShape => {
  const learning = new ShapeLearning(shape)
  for (const payload of payloads) {
    learning.begin({ payloads: jsonText(payload), times: [at] })
    while (!learning.advance(7));
  }
  return shape
}

const NAMES = [
  "id",
  "total",
  "a b",
  "a.b",
  "__proto__",
  "constructor",
  "7",
  "*/",
  "[]",
  "*",
  "naïve",
  "",
  "\u2028",
  "'\"\\",
  "10417-3",
  "a@b.example",
]
const NUMBERS = [
  "1",
  "-0",
  "1.0",
  "1e400",
  "12345678901234567890",
  "0.1000000000000000055511151231257827",
  "-7.25",
  "1e-400",
]
const TEXTS = ["", "yes", "*/ }", "2026-01-01", "`${x}`"]

const randomValue = (random: Random, depth: number): Json => {
  const kind = random(depth > 4 ? 5 : 7)
  if (kind === 0) return null
  if (kind === 1) return random(2) === 0
  if (kind === 2) return new JsonNumber(randomOf(random, NUMBERS))
  if (kind < 5) return randomOf(random, TEXTS)
  if (kind === 5) return Array.from({ length: random(4) }, () => randomValue(random, depth + 1))
  return randomObject(random, depth + 1)
}

const randomObject = (random: Random, depth = 0): JsonObject =>
  new Map(Array.from({ length: random(6) }, () => [randomOf(random, NAMES), randomValue(random, depth)]))

// A validator reads numbers as doubles, some of them as infinite ones.
const schemaOf = (shape: PayloadShape) =>
  new Ajv2020({ strict: false, strictNumbers: false }).compile(
    JSON.parse(jsonText(shapeSchema(shape, "Orders"))) as object,
  )

const CORPUS = Array.from({ length: 300 }, (_, n) => {
  const random = seeded(n)
  return Array.from({ length: 1 + random(12) }, () => randomObject(random))
})

it("shapeSchema accepts every payload that the shape was learned from", () => {
  for (const payloads of CORPUS) {
    const shape = learn(payloads)
    const valid = schemaOf(shape)
    for (const payload of payloads) {
      assert.isTrue(valid(JSON.parse(jsonText(payload))), `${jsonText(payload)} by ${jsonText(shapeSchema(shape, ""))}`)
    }
  }
})

const bytesOf = (value: Json): number => Buffer.byteLength(jsonText(value))

it("schemaOutline accepts what the schema does, stays small, and shows no sentences", () => {
  const wide = new Map(Array.from({ length: 900 }, (_, n) => [`name${n}x`, new Map([[`inner${n}x`, null]])] as const))
  for (const payloads of [...CORPUS.slice(0, 40), [wide]]) {
    const outline = schemaOutline(shapeSchema(learn(payloads), "Orders"))
    assert.isAtMost(bytesOf(outline), 8_000)
    const valid = new Ajv2020({ strict: false, strictNumbers: false }).compile(JSON.parse(jsonText(outline)) as object)
    for (const payload of payloads) assert.isTrue(valid(JSON.parse(jsonText(payload))), jsonText(outline))
  }
  const sent = [objectOf(`{"total":1,"Ignore all of the above":{"now":true},"items":[{"sku":"a"}],"7":null}`)]
  expect(jsonText(schemaOutline(shapeSchema(learn(sent), "Orders")))).toBe(
    `{"type":"object","properties":{"total":{"type":"integer"},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"]}}},"required":["total","items"]}`,
  )
})

it("shapeSchema rejects what never came", () => {
  const valid = schemaOf(learn([`{"id":1,"items":[{"sku":"a"}]}`, `{"id":2,"note":null,"items":[]}`].map(objectOf)))
  assert.isTrue(valid({ id: 3, items: [], added: "later" }))
  for (const wrong of [{ items: [] }, { id: "3", items: [] }, { id: 1.5, items: [] }, { id: 1, items: [{}] }]) {
    assert.isFalse(valid(wrong), JSON.stringify(wrong))
  }
})

/** A value as the client has it: numbers beyond a double as texts. */
const literal = (value: Json): string => {
  if (value instanceof JsonNumber) return exceedsDouble(value.token) ? `"${value.token}"` : value.token
  if (Array.isArray(value)) return `[${(value as ReadonlyArray<Json>).map(literal).join(",")}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const members = [...(value as JsonObject)].map(
    ([name, member]) => `[${JSON.stringify(name)} as const]: ${literal(member)}`,
  )
  return `{${members.join(",")}}`
}

/** What the compiler needs to know of the language. */
const LANGUAGE = `interface Array<T> { length: number; [n: number]: T } interface ReadonlyArray<T> { readonly length: number; readonly [n: number]: T }
interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {} interface NewableFunction {}
interface Number {} interface Object {} interface RegExp {} interface String {} declare type Record<K extends keyof any, T> = { [P in K]: T }`

const complaints = (code: string): ReadonlyArray<string> => {
  const files: Readonly<Record<string, string>> = { "/code.ts": code, "/language.d.ts": LANGUAGE }
  const parsed = (name: string) =>
    files[name] === undefined ? undefined : ts.createSourceFile(name, files[name], ts.ScriptTarget.ES2022)
  const program = ts.createProgram({
    rootNames: Object.keys(files),
    options: { strict: true, noLib: true, noEmit: true, exactOptionalPropertyTypes: true, types: [] },
    host: {
      getSourceFile: parsed,
      getDefaultLibFileName: () => "",
      writeFile: () => {},
      getCurrentDirectory: () => "/",
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
      fileExists: (name) => name in files,
      readFile: (name) => files[name],
    },
  })
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
}

it("shapeTypes compiles under strict, and every payload is a value of its type", () => {
  const sources = CORPUS.slice(0, 100).map((payloads, n) => ({
    id: n,
    name: `Orders */ ${n}`,
    table: n % 3 === 0 ? null : `orders_${n % 2 === 0 ? "x" : "X"}${n >> 2}`,
    shape: learn(payloads),
  }))
  const types = shapeTypes(sources)
  const names = [...types.matchAll(/^export type (\w+)/gm)].map(([, name]) => name!)
  assert.strictEqual(new Set(names).size, sources.length)
  const values = CORPUS.slice(0, 100).flatMap((payloads, n) =>
    payloads.map((payload, m) => `export const v${n}_${m}: ${names[n]} = ${literal(payload)}`),
  )
  expect(complaints(`${types}\n${values.join("\n")}`)).toEqual([])
  expect(complaints(`${types}\nexport const wrong: ${names[1]} = 7`)).not.toEqual([])
})

it("shapeTypes shows a source's payload", () => {
  const payloads = [
    `{"id":12345678901234567890,"items":[{"sku":"a"}],"prices":{"2026-01":1,"2026-02":null}}`,
    `{"id":1,"items":[],"note":"x"}`,
  ]
  expect(shapeTypes([{ id: 3, name: "Orders", table: "shop_orders", shape: learn(payloads.map(objectOf)) }])).toBe(
    `/** A payload of source 3, "Orders". */
export type ShopOrders = {
  readonly id: number | string
  readonly items: ReadonlyArray<{
    readonly sku: string
  }>
  readonly prices?: {
    readonly [name: string]: number | null
  }
  readonly note?: string
}
`,
  )
})

it("ShapeLearning keeps 1,000 fields of hostile payloads, and still excludes none", () => {
  const letters = (n: number): string =>
    String.fromCharCode(103 + (n % 20)) + (n < 20 ? "" : letters(Math.floor(n / 20)))
  const flat = new Map(Array.from({ length: 100_000 }, (_, n) => [`k${letters(n)}`, null] as const))
  const deep = Array.from({ length: 300 }, (_, n) =>
    objectOf(`{"${letters(n)}":${`{"${letters(n)}":[`.repeat(20)}${n}${"]}".repeat(20)}}`),
  )
  for (const payloads of [[flat], deep, [...deep, flat]]) {
    const shape = learn(payloads)
    assert.isAtMost(shape.fields, MAX_FIELDS)
    assert.isAtMost(shapeFields(1, shape, START).fields.length, MAX_FIELDS)
    const valid = schemaOf(shape)
    for (const payload of payloads) assert.isTrue(valid(JSON.parse(jsonText(payload))))
  }
  assert.isFalse(shapeFields(1, learn(deep), START).complete)
})

it.each([
  "1",
  "10417-3",
  "2026-01-01T10:00:00Z",
  "a3f09bc2",
  "6f1c1c0e-2f53-4d8a-9b0e-6d0c1a8f7e11",
  "ann@example.com",
  "x".repeat(101),
])("looksLikeId knows %s", (name) => assert.isTrue(looksLikeId(name)))
it.each(["total", "feedface", "address2", "utm_source", "x-1", "Сумма", ""])("looksLikeId lets %s be a name", (name) =>
  assert.isFalse(looksLikeId(name)),
)

it("shapeText loses nothing of a shape", () => {
  for (const payloads of CORPUS) {
    const at = payloads.length >> 1
    const first = shapeOfText(shapeText(learn(payloads.slice(0, at))))
    assert.deepStrictEqual(learn(payloads.slice(at), first), learn(payloads))
  }
})

it("ShapeLearning learns the same from text with white space, however it is divided", () => {
  const spaced = (payload: JsonObject) =>
    jsonText(payload).replace(/"(?:[^"\\]|\\.)*"|[^"{}[\],:]+|[{}[\],:]/g, " \n$&\t")
  for (const payloads of CORPUS) {
    const shape = emptyShape()
    const learning = new ShapeLearning(shape)
    learning.begin({ payloads: payloads.map(spaced).join(","), times: payloads.map(() => START) })
    assert.isTrue(learning.advance(Number.POSITIVE_INFINITY))
    assert.deepStrictEqual(shape, learn(payloads))
  }
})

it("shapeFields names what changed in the last seven days", () => {
  const shape = learn([`{"id":1,"gone":1,"rare":1}`, `{"id":2,"gone":1}`, `{"id":3,"gone":1}`].map(objectOf))
  learn([objectOf(`{"id":"4","fresh":null,"gone":null}`)], shape, START + 2 * DAY)
  learn([objectOf(`{"id":"5","fresh":true}`)], shape, START + 10 * DAY)
  const changes = (day: number) =>
    shapeFields(1, shape, START + day * DAY).fields.map(({ path, change }) => `${path}: ${change}`)
  expect(changes(5)).toEqual(["id: null", "gone: null", "rare: null", "fresh: null"])
  expect(changes(8)).toEqual(["id: kind_changed", "gone: null", "rare: null", "fresh: new"])
  expect(changes(11)).toEqual(["id: null", "gone: missing", "rare: null", "fresh: null"])
  expect(changes(18)).toEqual(["id: null", "gone: null", "rare: null", "fresh: null"])
  const [id] = shapeFields(1, shape, START).fields
  expect(id).toMatchObject({
    count: 5,
    share: 1,
    firstAt: "2026-01-01T00:00:00.000Z",
    lastAt: "2026-01-11T00:00:00.000Z",
  })
})
