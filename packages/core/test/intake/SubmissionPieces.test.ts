/** A submission is read in pieces, with the same result. */
import { jsonPieces, submissionPieces } from "@data-cabinet/core/intake/LongBody"
import { parseSubmission } from "@data-cabinet/core/intake/ParseSubmission"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { assert, it } from "vitest"

it("submissionPieces adds header fields as parseSubmission does, and ignores them for equality", () => {
  const headerFields = new Map([
    ["X-Topic", "orders"],
    ["a", "of the header"],
  ])
  const bodies = ['{"a":1.0,"b":{"c":[1e400]}}', '[{"a":1},{"b":2}]', "[1]", "{", ""]
  for (const body of bodies) {
    for (const query of ["", "a=of+the+query"]) {
      const submission = { body: Buffer.from(body), contentType: "application/json", query, encoding: null }
      const parse = submissionPieces({ ...submission, headerFields })
      let parsed = parse()
      while (parsed === undefined) parsed = parse()
      assert.deepStrictEqual(parsed, parseSubmission({ ...submission, headerFields }))
      const without = parseSubmission(submission)
      assert.deepStrictEqual(
        parsed.events.map((event) => event.fingerprint),
        without.events.map((event) => event.fingerprint),
      )
      for (const { text, payload } of parsed.events) {
        assert.strictEqual(text, jsonText(payload))
        assert.strictEqual(payload.get("X-Topic"), "orders")
      }
    }
  }
})

it.each([
  ["application/json", "[1", true],
  ["text/plain", "a=1", true],
  [undefined, "x", true],
  ["application/x-www-form-urlencoded", '{"a":"\0\\u0000"}', true],
  ["application/x-www-form-urlencoded", "\n[1]", true],
  ["application/x-ndjson", '{"a":1}\n{"a":2}', true],
  ["application/x-www-form-urlencoded", "a=1", false],
  ["multipart/form-data; boundary=x", '{"a":1}', false],
])("jsonPieces reads the body %j under %s if JSON is tried first", (contentType, body, isTried) => {
  const submission = { body: Buffer.from(body), contentType, query: "", encoding: null }
  const read = jsonPieces(submission)
  assert.strictEqual(read !== null, isTried)
  if (read !== null) assert.deepStrictEqual(parseSubmission({ ...submission, ...read()! }), parseSubmission(submission))
})
