import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import {
  checkFilters,
  compileFilters,
  type FieldFilter,
  FilteredFields,
  MAX_FILTERS,
} from "../../src/delivery/FieldFilter.ts"
import type { JsonObject } from "../../src/json/Json.ts"
import { parseJson } from "../../src/json/ParseJson.ts"
import type { FilterCondition } from "../../src/selection/Selection.ts"
import { Random, Seed } from "../intake/Random.ts"

const payloadOf = (json: string): JsonObject => Result.getOrThrow(parseJson(json)) as JsonObject

const passes = (filters: ReadonlyArray<FieldFilter>, json: string): boolean =>
  compileFilters(filters)(new FilteredFields(payloadOf(json)))

const filter = (fo: FilterCondition, fv = "", fc = "x"): FieldFilter => ({ fc, fo, fv })

/** The comparisons that hold between a field of this value and `fv`. */
const holding = (json: string, fv: string): string =>
  (["eq", "ne", "gt", "ge", "lt", "le"] as const).filter((fo) => passes([filter(fo, fv)], `{"x":${json}}`)).join(" ")

it.each([
  ["100", "100", "eq ge le"],
  ["100.00", "1e2", "eq ge le"],
  ["99", "100", "ne lt le"],
  ["1234567890123456789012345678901234567891", "1234567890123456789012345678901234567890", "ne gt ge"],
  ["1e999999999", "5", "ne gt ge"],
  ["5", "five", "ne"],
  ["5", "", "ne"],
  ['"paid"', "paid", "eq ge le"],
  ['"Paid"', "paid", "ne lt le"],
  ['"99"', "100", "ne gt ge"],
  ['"1.0"', "1", "ne gt ge"],
  ['"\\uffee"', "😀", "ne lt le"],
  ['"\\uffee"', "𐀀", "ne lt le"],
  ['"a"', "\uffee", "ne lt le"],
  ['"𐏿"', "𐀀", "ne gt ge"],
  ["10", " 10 ", "eq ge le"],
  ['"10"', " 10 ", "ne gt ge"],
  ['""', "", "eq ge le"],
  ["true", "true", "eq ge le"],
  ["false", "true", "ne lt le"],
  ["null", "", "ne"],
  ["[1]", "1", "ne"],
  ['["paid"]', "paid", "ne"],
  ['{"a":1}', "1", "ne"],
] as const)("a field of %s is compared with %j: %s", (json, fv, expected) => {
  assert.strictEqual(holding(json, fv), expected)
})

it.each([
  ["{}", true],
  ['{"x":null}', true],
  ['{"x":""}', true],
  ['{"x":[]}', true],
  ['{"x":{}}', true],
  ['{"x":" "}', false],
  ['{"x":0}', false],
  ['{"x":false}', false],
  ['{"x":[null]}', false],
  ['{"x":{"a":null}}', false],
])("the field of %s is empty: %s", (json, expected) => {
  assert.strictEqual(passes([filter("empty")], json), expected)
  assert.strictEqual(passes([filter("notempty")], json), !expected)
})

it.each([
  ['"Straße"', "STRASSE", true],
  ['"Ёлка"', "ёл", true],
  ['"Е\u0308лка"', "ёл", true],
  ['"Zo\u00eb"', "zoe\u0308", true],
  ['"100%"', "0%", true],
  ["12345", "234", true],
  ["true", "RU", true],
  ['["a","b"]', '"B"', true],
  ['{"city":"Riga"}', "riga", true],
  ["null", "", false],
  ['"abc"', "d", false],
  ['"abc"', '"', false],
])("%s contains %j: %s", (json, fv, expected) => {
  assert.strictEqual(passes([filter("contains", fv)], `{"x":${json}}`), expected)
})

it("a missing field is unequal to everything, and no other comparison holds", () => {
  for (const json of ["{}", '{"X":1}', '{"nested":{"x":1}}']) assert.strictEqual(holdingOf(json), "ne empty")
})
const holdingOf = (json: string): string =>
  (["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty"] as const)
    .filter((fo) => passes([filter(fo, fo === "empty" || fo === "notempty" ? "" : "1")], json))
    .join(" ")

it("all conditions must hold, and a field may have several", () => {
  const between = [filter("ge", "10"), filter("lt", "20"), filter("eq", "paid", "state")]
  assert.isTrue(passes(between, '{"x":10,"state":"paid"}'))
  assert.isFalse(passes(between, '{"x":20,"state":"paid"}'))
  assert.isFalse(passes(between, '{"x":10}'))
  assert.isTrue(passes([], "{}"))
})

const VALUES = [
  "null",
  "true",
  '""',
  '"a"',
  '"10"',
  "[]",
  "[1]",
  "{}",
  '{"a":null}',
  "0",
  "-0.0",
  "1e3",
  "9.99",
  "1e400",
]
const COMPARED = ["", "a", "10", "true", "0", "1000.0", "-1", "1e-400", "[1]", "NaN", " 10 "]

it.prop("any two values are less, equal or greater, exactly one of them, or cannot be compared", [Seed], ([seed]) => {
  const random = new Random(seed)
  const digits = () => `${random.below(1e9)}${random.below(1e9)}${random.below(1e9)}${random.below(1e9)}`
  const json = random.pick([...VALUES, digits(), JSON.stringify(digits())])
  const fv = random.pick([...COMPARED, digits(), json])
  assert.include(["eq ge le", "ne lt le", "ne gt ge", "ne"], holding(json, fv))
})

it.each([
  [{ fc: "", fo: "eq", fv: "1" }, "bad_filter"],
  [{ fc: "x".repeat(1001), fo: "eq", fv: "1" }, "bad_filter"],
  [{ fc: "x", fo: "like", fv: "1" }, "bad_fo"],
  [{ fc: "x", fo: "empty", fv: "1" }, "bad_fv"],
  [{ fc: "a\0", fo: "eq", fv: "1" }, "bad_filter"],
  [{ fc: "x", fo: "notempty", fv: "1" }, "bad_fv"],
  [{ fc: "x", fo: "eq", fv: "x".repeat(1001) }, "bad_fv"],
  [{ fc: "x", fo: "eq", fv: "a\0" }, "bad_fv"],
  [{ fc: "x", fo: "eq", fv: "1e1000000000000000" }, "bad_fv"],
  [{ fc: "x", fo: "eq", fv: " 1e-99999999999999999999 " }, "bad_fv"],
  [{ fc: "x", fo: "eq", fv: "1e99999999999999999999" }, "bad_fv"],
] as const)("checkFilters refuses %j with %s and says which", (wrong, code) => {
  const refused = checkFilters([filter("eq", "1"), wrong as FieldFilter])
  assert.include(Result.isFailure(refused) && refused.failure, { code })
  assert.match(Result.isFailure(refused) ? refused.failure.message : "", /^Condition 2 of filters/)
})

it("checkFilters refuses too many conditions, and drops unknown members", () => {
  assert.isTrue(Result.isFailure(checkFilters(Array.from({ length: MAX_FILTERS + 1 }, () => filter("eq", "1")))))
  const given = [{ ...filter("eq", "1"), secret: "s" }]
  assert.deepStrictEqual(Result.getOrThrow(checkFilters(given)), [filter("eq", "1")])
})

it("checkFilters accepts values of the maximum length, and names the known operators", () => {
  const longest = [
    filter("eq", "x".repeat(1_000), "y".repeat(1_000)),
    filter("eq", "1e999999999999999"),
    filter("empty"),
    filter("notempty"),
  ]
  assert.deepStrictEqual(Result.getOrThrow(checkFilters(longest)), longest)
  assert.isTrue(Result.isSuccess(checkFilters(Array.from({ length: MAX_FILTERS }, () => filter("eq", "1")))))
  const refused = checkFilters([filter("like" as FilterCondition)])
  assert.match(Result.isFailure(refused) ? refused.failure.message : "", /one of eq, ne, .*, notempty\.$/)
})

it("checkFilters refuses a filter of more than 4,000 characters, and says at which condition", () => {
  const whole = Array.from({ length: 4 }, () => filter("eq", "x".repeat(999)))
  assert.isTrue(Result.isSuccess(checkFilters(whole)))
  const refused = checkFilters([...whole, filter("empty", ""), filter("eq", "y")])
  assert.deepInclude(Result.isFailure(refused) && refused.failure, {
    code: "bad_filter",
    message: "Condition 5 of filters: up to here, the names and values have more than 4,000 characters.",
  })
})
