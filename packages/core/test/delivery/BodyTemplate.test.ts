/** A template of a body: what is refused, and that whatever an event has stays a value. */
import { compileTemplate, formText, MAX_RENDERED, renderTemplate } from "@data-cabinet/core/delivery/BodyTemplate"
import { JsonNumber, type Json, type JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson, parseJson } from "@data-cabinet/core/json/ParseJson"
import { Result } from "effect"
import { assert, expect, it } from "vitest"
import { randomOf, seeded, type Random } from "../../../../test/support/random.ts"

const eventOf = (payload: string): JsonObject =>
  ownJson(
    `{"id":7,"source":{"id":5,"name":"Orders"},"channel":"webhook","received_at":"2026-11-27T10:00:00Z","payload":${payload}}`,
  ) as JsonObject

const render = (template: string, payload: string): string =>
  Result.getOrThrow(renderTemplate(Result.getOrThrow(compileTemplate(template, "json")), eventOf(payload)))

it.each([
  [`{"n": "{{payload.n}}"}`, `{"n":12345678901234567890.10}`, `{"n": 12345678901234567890.10}`],
  [`{"t":"n={{payload.n}}!"}`, `{"n":1.0}`, `{"t":"n=1.0!"}`],
  [`["{{payload}}"]`, `{"b":[1,{"7":1e400,"1":null}]}`, `[{"b":[1,{"7":1e400,"1":null}]}]`],
  [`"{{payload.b}}, {{payload.c}}"`, `{"b":[1.0],"c":true}`, `"[1.0], true"`],
  [`"{{ payload.items.1.sku }}"`, `{"items":[{"sku":"a"},{"sku":"b"}]}`, `"b"`],
  [`"{{payload.a.b}}"`, `{"a.b":3}`, `3`],
  [`"{{payload."a.b}}|"}}"`, `{"a.b}}|":3}`.replace("|", "|"), `3`],
  [`"{{payload.name|nobody}}"`, `{}`, `"nobody"`],
  [`"Dear {{payload.name | nobody}}"`, `{"name":""}`, `"Dear nobody"`],
  [`"{{payload.name}}"`, `{}`, `null`],
  [`"Dear {{payload.name}}!"`, `{"name":null}`, `"Dear !"`],
  [`"\\u007b{payload.n}}\\t{{id}} {{source.name}}"`, `{"n":2}`, `"2\\t7 Orders"`],
  [`{"a":"{{payload.q}}"}`, `{"q":"\\"},{\\"x\\":\\"{{id}}"}`, `{"a":"\\"},{\\"x\\":\\"{{id}}"}`],
])("renderTemplate writes %s for %s", (template, payload, body) => {
  const source = template.includes('payload."a') ? template.replace('"a.b}}|"', '\\"a.b}}|\\"') : template
  expect(render(source, payload)).toBe(body)
})

it.each([
  [`{"a": {{payload}}}`, /not valid JSON.*line 1, column 8/],
  [`{\n  "a": "x {{paylod.n}}"\n}`, /not with paylod, at line 2, column 11/],
  [`{\n "{{payload.n}}": 1}`, /a name of a member holds no place, at line 2, column 3/],
  [`{"{{payload.n}}"${" ".repeat(200)}: 1}`, /a name of a member/],
  [`["\\u00e9\\n{{payload..n}}"]`, /a name is missing in a place, at line 1, column 21/],
  [`["{{payload.n"]`, /a place must end with \}\}, at line 1, column 3/],
  [`["{{}}"]`, /a name is missing/],
  [`["{{{payload.n}}}"]`, /a name is missing/],
  [`["{{payload.${"a.".repeat(40)}b}}"]`, /more than 32 names/],
  [`["\\ud83d"]`, /half a character/],
  [JSON.stringify("x".repeat(16_384)), /at most 16,384 bytes/],
  [`${"[".repeat(65)}${"]".repeat(65)}`, /nests deeper than 64 levels/],
])("compileTemplate refuses %s with line and column", (template, words) => {
  const compiled = compileTemplate(template, "json")
  assert(Result.isFailure(compiled))
  expect(compiled.failure).toMatch(words)
})

it("compileTemplate takes an object for a form", () => {
  const compiled = compileTemplate(`\n ["{{id}}"]`, "form")
  assert(Result.isFailure(compiled))
  expect(compiled.failure).toBe(
    "The template is not valid: the template of a form is an object of its fields, at line 2, column 2.",
  )
})

it("renderTemplate stops at its limit, however often a template repeats a long value", () => {
  const places = Array.from({ length: 1_100 }, () => `"{{payload}}"`).join(",")
  const template = Result.getOrThrow(compileTemplate(`[${places}]`, "json"))
  let read = 0
  const payload = new Map<string, Json>([["a", "x".repeat(100_000)]])
  const event = new Map<string, Json>()
  event.get = () => {
    read++
    return payload
  }
  event.has = () => true
  const rendered = renderTemplate(template, event)
  assert(Result.isFailure(rendered))
  expect(rendered.failure).toMatch(/more than 4,194,304 characters/)
  expect(read).toBeLessThanOrEqual(MAX_RENDERED / 100_000 + 1)
})

const NASTY = [
  `"`,
  `\\`,
  `"}`,
  `","x":"`,
  "{{payload}}",
  "}}",
  "{{",
  "\u0000",
  "\u2028",
  "👋",
  "é",
  "&a=b",
  "%00",
  "\r\n",
  "</script>",
  "<!channel>",
  "",
]
const NAMES = ["a", "b", "a.b", "7", "__proto__", `q"`, "}}", "|", "{", "ключ"]
const TOKENS = ["0", "-0", "1.0", "12345678901234567890", "1e400", "0.10", "-1E+2"]

const valueOf = (random: Random, depth: number): Json => {
  const kind = random(depth > 3 ? 4 : 6)
  if (kind === 0) return new JsonNumber(randomOf(random, TOKENS))
  if (kind === 1) return randomOf(random, [true, false, null])
  if (kind < 4) return Array.from({ length: random(4) }, () => randomOf(random, NASTY)).join("")
  if (kind === 4) return Array.from({ length: random(4) }, () => valueOf(random, depth + 1))
  return payloadOf(random, depth + 1)
}

const payloadOf = (random: Random, depth = 0): JsonObject =>
  new Map(Array.from({ length: random(5) }, () => [randomOf(random, NAMES), valueOf(random, depth)] as const))

const quotedName = (name: string): string => (/^[\w]+$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

const placeOf = (random: Random): string => {
  const path = ["payload", ...Array.from({ length: random(4) }, () => quotedName(randomOf(random, NAMES)))]
  return `{{${path.join(".")}${random(3) === 0 ? `|${randomOf(random, ["", "none", `"`, "\\"])}` : ""}}}`
}

/** Mostly templates that are accepted. */
const templateOf = (random: Random, depth = 0): Json => {
  const kind = random(depth > 3 ? 3 : 5)
  if (kind === 0) return new JsonNumber(randomOf(random, TOKENS))
  if (kind === 1) return placeOf(random)
  if (kind === 2) {
    return Array.from({ length: random(4) }, () => (random(2) === 0 ? placeOf(random) : randomOf(random, NASTY))).join(
      "",
    )
  }
  const items = Array.from({ length: random(4) }, () => templateOf(random, depth + 1))
  return kind === 3
    ? items
    : new Map(items.map((item, index) => [`k${index}${randomOf(random, ["", '"', "é"])}`, item]))
}

/** A value without its texts and scalars: what a template alone decides. */
const skeleton = (template: Json, body: Json): boolean => {
  if (Array.isArray(template)) {
    return (
      Array.isArray(body) &&
      body.length === template.length &&
      template.every((item, at) => skeleton(item as Json, body[at] as Json))
    )
  }
  if (template instanceof Map) {
    if (!(body instanceof Map)) return false
    const keys = [...template.keys()]
    return (
      [...body.keys()].join("\n") === keys.join("\n") &&
      keys.every((key) => skeleton(template.get(key)!, body.get(key)!))
    )
  }
  if (typeof template !== "string") return jsonText(template) === jsonText(body)
  // A text that is one place takes any value; another one stays a text.
  return /^\{\{[^]*\}\}$/.test(template) || typeof body === "string"
}

/** Seen with 100,000, too long for every run. */
const BODIES = 20_000

it(`renderTemplate writes valid JSON of the template's own structure for ${BODIES} pairs`, () => {
  const random = seeded(53)
  let accepted = 0
  let tried = 0
  while (accepted < BODIES) {
    expect(++tried).toBeLessThan(3 * BODIES)
    const template = templateOf(random)
    const source = jsonText(template)
    const compiled = compileTemplate(source, "json")
    if (Result.isFailure(compiled)) continue
    accepted++
    const payload = payloadOf(random)
    const body = Result.getOrThrow(renderTemplate(compiled.success, new Map<string, Json>([["payload", payload]])))
    const parsed = parseJson(body)
    if (Result.isFailure(parsed) || !skeleton(ownJson(source), parsed.success)) {
      assert.fail(`${source} with ${jsonText(payload)} gave ${body}`)
    }
  }
})

it("formText keeps each field and its digits apart, whatever they hold", () => {
  const random = seeded(54)
  for (let round = 0; round < 5_000; round++) {
    const fields = payloadOf(random)
    const sent = [...new URLSearchParams(formText(fields))]
    const meant = [...fields].flatMap(([name, value]) =>
      (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [value as Json]).map((item) => [
        name,
        typeof item === "string" ? item : item === null ? "" : jsonText(item),
      ]),
    )
    assert.deepStrictEqual(sent, meant)
  }
})
