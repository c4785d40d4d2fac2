/** Own schemas decide as an established validator does. */
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { compileSchema } from "@data-cabinet/core/schema/OwnSchema"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Result } from "effect"
import { assert, it } from "vitest"
import { randomOf, seeded, type Random } from "../../../../test/support/random.ts"

const NAMES = ["a", "b", "ab", "c"]
const VALUES = [null, true, false, 0, 1, -2, 2.5, 6, "", "a", "ab", "😀b"]

const randomValue = (random: Random, depth = 0): unknown => {
  const kind = random(depth > 2 ? 3 : 6)
  if (kind < 3) return randomOf(random, VALUES)
  if (kind === 3) return Array.from({ length: random(4) }, () => randomValue(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: random(4) }, () => [randomOf(random, NAMES), randomValue(random, depth + 1)]),
  )
}

const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

const randomSchema = (random: Random, depth = 0): unknown => {
  if (depth > 3 || random(12) === 0) return random(4) > 0
  const inner = () => randomSchema(random, depth + 1)
  const some = <A>(make: () => A) => Array.from({ length: 1 + random(2) }, make)
  const named = () => Object.fromEntries(some(() => [randomOf(random, NAMES), inner()]))
  const makers: Record<string, () => unknown> = {
    type: () => [...new Set(some(() => randomOf(random, TYPES)))],
    enum: () => [...new Set(some(() => randomOf(random, VALUES)))],
    const: () => randomValue(random, 2),
    minimum: () => random(4) - 1,
    exclusiveMaximum: () => random(5),
    multipleOf: () => 1 + random(3),
    minLength: () => random(3),
    maxLength: () => random(3),
    pattern: () => randomOf(random, ["^a", "b$", "^.$", "a|b"]),
    items: inner,
    prefixItems: () => some(inner),
    minItems: () => random(3),
    uniqueItems: () => random(2) === 0,
    contains: inner,
    properties: named,
    patternProperties: () => ({ [randomOf(random, ["^a", "b$"])]: inner() }),
    additionalProperties: inner,
    propertyNames: inner,
    required: () => [...new Set(some(() => randomOf(random, NAMES)))],
    dependentRequired: () => ({ a: ["b"] }),
    dependentSchemas: named,
    maxProperties: () => random(4),
    allOf: () => some(inner),
    anyOf: () => some(inner),
    oneOf: () => some(inner),
    not: inner,
    if: inner,
  }
  const chosen = some(() => randomOf(random, Object.keys(makers)))
  const schema = Object.fromEntries(chosen.map((keyword) => [keyword, makers[keyword]!()]))
  // Ajv holds an empty list to contain something if the schema has both.
  if ("prefixItems" in schema) delete schema["contains"]
  return "if" in schema ? { ...schema, ...Object.fromEntries(["then", "else"].map((name) => [name, inner()])) } : schema
}

it("OwnSchema decides as Ajv does, for any schema and any value", () => {
  const random = seeded(11)
  const ajv = new Ajv2020({ strict: false, ownProperties: true })
  let valid = 0
  for (let n = 0; n < 200; n++) {
    const schema = randomSchema(random)
    const source = JSON.stringify(schema)
    const validate = ajv.compile(JSON.parse(source) as object)
    const own = Result.getOrThrow(compileSchema(source))
    for (let k = 0; k < 8; k++) {
      const value = JSON.stringify(randomValue(random))
      const expected = validate(JSON.parse(value))
      if (expected) valid++
      assert.equal(own.faultOf(ownJson(value)) === null, expected, `${source} on ${value}`)
    }
  }
  assert.isAbove(valid, 160)
  assert.isBelow(valid, 1_440)
})
