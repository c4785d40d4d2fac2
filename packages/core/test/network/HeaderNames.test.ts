import { headerNamesRefusal, isHeaderName } from "@data-cabinet/core/network/HeaderNames"
import { expect, it } from "vitest"

const KEEP = { setting: "keep_headers", prefixes: true }
const FIELDS = { setting: "header_fields", prefixes: false }

it.each([
  ["X-GitHub-Event"],
  ["X-GitHub-*"],
  ["stripe-*"],
  ["Webhook-Id"],
  ["traceparent"],
  ["X-Sho*"],
  ["svix_id"],
  ["9lives"],
  ["Fax*"],
  ["x".repeat(128)],
])("headerNamesRefusal allows %s", (name) => {
  expect(headerNamesRefusal([name], KEEP)).toBeNull()
})

it.each([
  ["*", "too wide"],
  ["X-*", "too wide"],
  ["x-*", "too wide"],
  ["X*", "too wide"],
  ["X-G*", "too wide"],
  ["XGi*", "too wide"],
  ["co*", "too wide"],
  ["X-GitHub-**", "is not a header's name"],
  ["X-*-Event", "is not a header's name"],
  ["Cookie", "carries a secret"],
  ["AUTHORIZATION", "carries a secret"],
  ["proxy-authorization", "carries a secret"],
  ["X-Api-Key", "carries a secret"],
  ["", "is not a header's name"],
  [":authority", "is not a header's name"],
  ["__proto__", "is not a header's name"],
  ["_raw", "is not a header's name"],
  ["a b", "is not a header's name"],
  ["a\r\nb", "is not a header's name"],
  ["Заголовок", "is not a header's name"],
  ["x".repeat(129), "at most 128 characters"],
])("headerNamesRefusal refuses %j: %s", (name, words) => {
  expect(headerNamesRefusal([name], KEEP)).toContain(words)
  expect(headerNamesRefusal([name], KEEP)).toMatch(/^keep_headers/)
})

it("headerNamesRefusal allows no prefix where every header becomes a field", () => {
  expect(headerNamesRefusal(["X-GitHub-*"], FIELDS)).toBe(
    "header_fields: X-GitHub-* is a prefix; name each header that becomes a field.",
  )
  expect(headerNamesRefusal(["X-GitHub-Event"], FIELDS)).toBeNull()
})

it("headerNamesRefusal refuses a repeated name in any case, and more than 50", () => {
  expect(headerNamesRefusal(["Topic", "TOPIC"], FIELDS)).toBe("header_fields: TOPIC is listed twice.")
  const many = Array.from({ length: 51 }, (_, at) => `header-${at}`)
  expect(headerNamesRefusal(many, KEEP)).toBe("keep_headers lists 51 headers; at most 50 may be.")
  expect(headerNamesRefusal(many.slice(1), KEEP)).toBeNull()
})

it("isHeaderName bounds the length of a name", () => {
  expect(isHeaderName("x".repeat(128))).toBe(true)
  expect(isHeaderName("x".repeat(129))).toBe(false)
})
