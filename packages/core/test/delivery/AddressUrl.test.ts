import { Result } from "effect"
import { expect, it } from "vitest"
import { parseAddressUrl } from "@data-cabinet/core/delivery/AddressUrl"

it.each([
  ["https://example.com/hook?a=1#part", "https://example.com/hook?a=1"],
  ["  http://EXAMPLE.com:80/  ", "http://example.com/"],
  ["\u00a0https://example.com/\u2003", "https://example.com/"],
  [`https://example.com/${"a".repeat(2028)}`, `https://example.com/${"a".repeat(2028)}`],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/"],
])("parseAddressUrl normalizes %s", (text, href) => {
  expect(Result.getOrThrow(parseAddressUrl(text)).href).toBe(href)
})

it.each([
  "",
  "example.com/hook",
  "ftp://example.com/",
  "file:///etc/passwd",
  "https://user@example.com/",
  "https://:pw@example.com/",
  "http://",
  `https://example.com/${"a".repeat(2029)}`,
])("parseAddressUrl refuses %s with a message", (text) => {
  const result = parseAddressUrl(text)
  expect(Result.isFailure(result) && result.failure.code).toBe("bad_url")
})
