import { assert, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import { intakePage } from "../../src/html/IntakePages.ts"
import type { IntakePage } from "../../src/html/IntakePages.ts"
import { PAGE_HEADERS } from "../../src/html/Page.ts"

const PAGES: ReadonlyArray<IntakePage> = [
  { name: "thanks" },
  { name: "method_not_allowed" },
  { name: "not_found" },
  { name: "too_large", limit: 1_048_576 },
  { name: "rate_limited", retryAfter: 42 },
  { name: "timeout" },
  { name: "unavailable" },
  { name: "internal_error", number: "4711" },
]

describe.each(["en", "ru"] as const)("intakePage in %s", (language) => {
  it.each(PAGES)("$name declares its language, fits a phone and fetches nothing", (what) => {
    const text = intakePage(what, language, undefined)
    assert.include(text, `<html lang="${language}">`)
    assert.include(text, '<meta name="viewport" content="width=device-width, initial-scale=1">')
    assert.strictEqual(/[а-яё]/i.test(text), language === "ru")
    assert.notMatch(text, /<(?:script|link|img|iframe|base|form)|url\(|https?:|\son\w+=|style=/i)
  })
})

it("intakePage says how long to wait and how much is too large", () => {
  assert.include(intakePage({ name: "rate_limited", retryAfter: 1 }, "en", undefined), "wait 1 second and")
  assert.include(intakePage({ name: "rate_limited", retryAfter: 42 }, "ru", undefined), "Подождите 42 секунды и")
  assert.match(intakePage({ name: "too_large", limit: 1_048_576 }, "ru", undefined), /больше 1\sМБ/)
  assert.include(intakePage({ name: "too_large", limit: 65_536 }, "en", undefined), "64 kB")
})

it("intakePage links back to the form's page and escapes its address", () => {
  const text = intakePage({ name: "thanks" }, "en", new URL(`https://shop.example/?a=1&b='"<x>`))
  assert.include(text, 'href="https://shop.example/?a=1&amp;b=%27%22%3Cx%3E"')
  assert.include(text, ">Back to shop.example</a>")
})

it("the policy of a page allows its own style and nothing else", () => {
  const style = /<style>([^<]*)<\/style>/.exec(intakePage({ name: "thanks" }, "en", undefined))?.[1] ?? ""
  assert.strictEqual(
    PAGE_HEADERS["content-security-policy"],
    `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'`,
  )
})
