import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { JsonText, valueAt, writeJson } from "data-cabinet/output/Report"
import { expect, it } from "vitest"

it("writeJson puts JSON text in unread, so that no digit is lost", () => {
  const value = { a: new JsonText("12345678901234567890.10"), b: [new JsonText(`{"z":1.0}`), "x"], c: undefined }
  expect(writeJson(value)).toBe(`{"a":12345678901234567890.10,"b":[{"z":1.0},"x"]}`)
})

it("valueAt returns text unchanged, other values as JSON, and nothing for a missing path", () => {
  const document = `{"id":7,"table":{"name":"orders"},"list":[{"n":1.0}],"none":null}`
  expect(["id", "table.name", "list.0.n", "table", "none"].map((path) => valueAt(document, path))).toEqual([
    "7",
    "orders",
    "1.0",
    `{"name":"orders"}`,
    "null",
  ])
  expect(["nope", "table.nope", "list.1", "id.x"].map((path) => valueAt(document, path))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it("snakeKeys renames keys at every depth", () => {
  expect(snakeKeys({ daysAhead: 1, list: [{ clockSkewMillis: 2 }] })).toEqual({
    days_ahead: 1,
    list: [{ clock_skew_millis: 2 }],
  })
})
