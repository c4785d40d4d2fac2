/** URLs as shown to people who may not see secrets. */
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"
import { expect, it } from "vitest"

it.each([
  ["https://example.com/hook", "https://example.com/hook"],
  ["https://example.com/hook?token=hush&a=1", "https://example.com/hook?…"],
  ["https://example.com/hook#hush", "https://example.com/hook?…"],
  ["https://ann:hush@example.com/hook?x", "https://…@example.com/hook?…"],
  ["https://ann:hu@sh@example.com/hook", "https://…@example.com/hook"],
  ["HTTPS://ann@example.com", "HTTPS://…@example.com"],
  ["?token=hush", "?…"],
  ["https://example.com/to/http://a@b", "https://example.com/to/http://a@b"],
  ["https://example.com/a@b?c=d@e", "https://example.com/a@b?…"],
])("%s is shown as %s", (url, shown) => {
  expect(maskUrl(url)).toBe(shown)
})
