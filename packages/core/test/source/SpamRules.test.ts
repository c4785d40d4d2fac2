import {
  honeypotRefusal,
  MAX_HONEYPOT_LENGTH,
  MAX_ORIGIN_LENGTH,
  MAX_ORIGINS,
  originOf,
  originsRefusal,
} from "@data-cabinet/core/source/SpamRules"
import { expect, it } from "vitest"

it.each(["website", "a", "your name", "Сайт", "a_b", "x".repeat(MAX_HONEYPOT_LENGTH)])(
  "a field %j can be the honeypot",
  (name) => {
    expect(honeypotRefusal(name)).toBeNull()
  },
)

it.each(["", "  ", "x".repeat(MAX_HONEYPOT_LENGTH + 1), "a\nb", "a\x7f", "a\0", "\ud800", "_event_id", "_"])(
  "a field %j cannot be the honeypot",
  (name) => {
    expect(honeypotRefusal(name)).toMatch(/^honeypot: /)
  },
)

it.each([
  ["https://example.com", "https://example.com"],
  ["http://example.com", "http://example.com"],
  ["https://Example.COM/", "https://example.com"],
  ["https://example.com:443", "https://example.com"],
  ["http://localhost:8080", "http://localhost:8080"],
  ["https://пример.рф", "https://xn--e1afmkfd.xn--p1ai"],
])("browsers send the origin %s as %s", (text, origin) => {
  expect(originOf(text)).toBe(origin)
  expect(originsRefusal([text])).toBeNull()
})

it.each([
  "",
  "null",
  "*",
  "example.com",
  "https://*",
  "https://example.com/form",
  "https://example.com/?a=b",
  "https://example.com/#top",
  "https://*.example.com",
  "https://user@example.com",
  "https://:secret@example.com",
  "ftp://example.com",
  "httpsx://example.com",
  "wss://example.com",
  "file:///",
  "data:text/html,x",
])("%j is not a page's origin", (text) => {
  expect(originOf(text)).toBeNull()
  expect(originsRefusal(["https://example.com", text])).toContain(JSON.stringify(text))
})

it("originsRefusal limits the length and number of origins", () => {
  const ofLength = (length: number) => `https://${"a.".repeat(200).slice(0, length - 9)}b`
  const longest = ofLength(MAX_ORIGIN_LENGTH)
  expect(longest).toHaveLength(MAX_ORIGIN_LENGTH)
  expect(originOf(longest)).toBe(longest)
  expect(originOf(ofLength(MAX_ORIGIN_LENGTH + 1))).toBeNull()
  const many = Array.from({ length: MAX_ORIGINS + 1 }, (_, at) => `https://example.com:${at + 1}`)
  expect(originsRefusal(many)).toMatch(/^allow_origins lists 21 origins; at most 20/)
  expect(originsRefusal(many.slice(1))).toBeNull()
})
