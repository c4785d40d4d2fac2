import type { Json, JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { gatherFields } from "@data-cabinet/core/intake/Fields"
import { nestedFields } from "@data-cabinet/core/intake/NestedFields"
import { parseSubmission } from "@data-cabinet/core/intake/ParseSubmission"
import { describe, expect, it } from "vitest"
import { Random } from "./Random.ts"

const nested = (form: string): JsonObject => nestedFields(gatherFields([...new URLSearchParams(form)]))
const text = (form: string): unknown => JSON.parse(jsonText(nested(form)))

it.each<[form: string, payload: unknown]>([
  [
    "leads[add][0][name]=Anna&leads[add][0][price]=5&leads[add][1][name]=Pyotr&account[id]=7",
    { leads: { add: [{ name: "Anna", price: "5" }, { name: "Pyotr" }] }, account: { id: "7" } },
  ],
  ["a=1&b=2", { a: "1", b: "2" }],
  ["a[b]=1&c=2&a[d]=3", { a: { b: "1", d: "3" }, c: "2" }],
  ["a[0]=x&a[1]=y", { a: ["x", "y"] }],
  ["a[1]=x&a[0]=y", { a: { 1: "x", 0: "y" } }],
  ["a[1]=x&a[2]=y", { a: { 1: "x", 2: "y" } }],
  ["a[00]=x", { a: { "00": "x" } }],
  ["a[]=x", { a: ["x"] }],
  ["a[]=x&a[]=y", { a: ["x", "y"] }],
  ["a[b][]=x&a[b][]=y&a[c]=z", { a: { b: ["x", "y"], c: "z" } }],
  ["a[b]=x&a[b]=y", { a: { b: ["x", "y"] } }],
  ["a[ж]=1&a[b c]=2", { a: { ж: "1", "b c": "2" } }],
  ["a[__proto__]=1&__proto__[x]=2", { a: JSON.parse('{"__proto__":"1"}'), ...JSON.parse('{"__proto__":{"x":"2"}}') }],
  // If a plain value is in the way, both fields stay.
  ["a=1&a[b]=2", { a: "1", "a[b]": "2" }],
  ["a[b]=2&a=1", { "a[b]": "2", a: "1" }],
  ["a[b]=1&a[b][c]=2", { a: { b: "1" }, "a[b][c]": "2" }],
  ["a[b][c]=1&a[b]=2", { a: { b: { c: "1" } }, "a[b]": "2" }],
  ["a[]=1&a[b]=2", { a: ["1"], "a[b]": "2" }],
  ["a[b]=2&a[]=1", { a: { b: "2" }, "a[]": "1" }],
])("nestedFields reads %s", (form, payload) => {
  expect(text(form)).toEqual(payload)
})

it.each([
  "[a]=1",
  "[]=1",
  "a[=1",
  "a]=1",
  "a[b=1",
  "a[b]c=1",
  "a[b]]=1",
  "a[[b]]=1",
  "a[b][=1",
  "a[][b]=1",
  "a]b[c]=1",
  `a${"[b]".repeat(17)}=1`,
  "a[b] =1",
])("nestedFields leaves the name %s as it was sent", (form) => {
  const [name] = form.split("=")
  expect(text(form)).toEqual({ [name!]: "1" })
})

const byText = (a: string, b: string) => (a < b ? -1 : Number(a > b))

describe("nestedFields of random names", () => {
  /** All texts at any depth. */
  const leaves = (value: Json): ReadonlyArray<Json> =>
    value instanceof Map ? [...value.values()].flatMap(leaves) : Array.isArray(value) ? value.flatMap(leaves) : [value]

  it("lose no value and add none", () => {
    const random = new Random(11)
    for (let run = 0; run < 2_000; run++) {
      const fields = random.list(12, () => {
        const steps = random.list(4, () => random.pick(["", "0", "1", "a", "b", "[", "]"]))
        return [
          `${random.pick(["a", "b", "c"])}${steps.map((step) => `[${step}]`).join("")}`,
          String(random.below(1e9)),
        ] as const
      })
      const form = new Map(gatherFields(fields))
      expect(leaves(nestedFields(form)).map(String).toSorted(byText)).toEqual(
        fields.map(([, value]) => value).toSorted(byText),
      )
    }
  })

  it("are read in linear time", () => {
    const fields = Array.from({ length: 10_000 }, (_, n) => [`a[${n}]${"[b]".repeat(15)}`, "1"] as const)
    expect(leaves(nestedFields(gatherFields(fields))).length).toBe(10_000)
  })
})

describe("parseSubmission", () => {
  const parsed = (contentType: string, body: string, nestBrackets: boolean, query = "") =>
    parseSubmission({ body: Buffer.from(body), contentType, query, encoding: null, nestBrackets }).events[0]!.text
  const FORM = "application/x-www-form-urlencoded"

  it("nests the fields of forms when the source has the setting", () => {
    expect(parsed(FORM, "a[b]=1", true)).toBe('{"a":{"b":"1"}}')
    expect(parsed(FORM, "a[b]=1", false)).toBe('{"a[b]":"1"}')
    const part = '--x\r\nContent-Disposition: form-data; name="a[b]"\r\n\r\n1\r\n--x--\r\n'
    expect(parsed("multipart/form-data; boundary=x", part, true)).toBe('{"a":{"b":"1"}}')
    expect(parsed(FORM, "a[b]=%CF%F0%E8%E2%E5%F2", true)).toBe('{"a":{"b":"Привет"}}')
  })

  it("leaves JSON and the query as they are", () => {
    expect(parsed("application/json", '{"a[b]":1.0}', true)).toBe('{"a[b]":1.0}')
    expect(parsed(FORM, '{"a[b]":1.0}', true)).toBe('{"a[b]":1.0}')
    expect(parsed(FORM, "c[d]=1", true, "a[b]=2")).toBe('{"a[b]":"2","c":{"d":"1"}}')
  })
})
