import { hexDump, jsonFault, markedText, originalText } from "@data-cabinet/console/event/OriginalText"
import type { StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { assert, it } from "vitest"

const original = (text: string, contentType = "application/json"): StoredOriginal => {
  const body = Buffer.from(text)
  const sender = { ip: null, referer: null, origin: null, userAgent: null, acceptLanguage: null }
  const decoded = { charset: "utf-8", charsetFrom: "content-type", replaced: 0 }
  const kept = { receivedAt: "2026-11-24T00:00:00.000000Z", verdict: null, late: null }
  return { body, bodyBytes: body.length, contentType, ...kept, ...sender, ...decoded }
}

it("jsonFault locates where a body stops being valid JSON, and markedText marks it", () => {
  const broken = original('{"a": <b>}')
  const fault = jsonFault(broken, originalText(broken))
  assert.strictEqual(fault?.at, 6)
  assert.include(markedText('{"a": <b>}', 6).text, "{&quot;a&quot;: <mark>&lt;</mark>b&gt;}")
  assert.strictEqual(jsonFault(original('{"a":1}'), '{"a":1}'), null)
  assert.strictEqual(jsonFault(original("a=1", "text/plain"), "a=1"), null)
})

it("markedText marks every character that could not be read, and a fault at the end", () => {
  assert.include(markedText("a\uFFFDb", null).text, "a<mark>\uFFFD</mark>b")
  assert.include(markedText("ab", 2).text, "ab<mark>⏎</mark>")
})

it("a body is decoded in its charset and also shown as bytes", () => {
  const body = Buffer.from([0xc8, 0xe2, 0xe0, 0xed])
  assert.strictEqual(originalText({ body, charset: "windows-1251" }), "Иван")
  assert.match(hexDump(body), /^000000 {2}c8 e2 e0 ed +\.\.\.\.$/)
})
