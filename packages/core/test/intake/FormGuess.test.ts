import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { multipartBoundaryOf, readsAsForm } from "../../src/intake/FormGuess.ts"

describe("FormGuess", () => {
  it.each([
    "a=1",
    "a=1&b",
    "b&a=1",
    "a[]=x&a[]=y",
    "name=%D0%98+x&e=a%40b.c",
    "имя=Иван",
    "u=https://x.y/?z=1#q",
    "a=1;b",
    "a=%",
  ])("readsAsForm is true for %j", (body) => assert.isTrue(readsAsForm(Buffer.from(body))))
  it.each([
    "",
    "word",
    "a = b",
    "a=b c",
    "a=1\n",
    "a=1\0",
    "aGVsbG8=",
    "aGVsbG8==",
    "a=",
    "a=&b=",
    "=x",
    "&a=1",
    '<a b="c"/>',
    '{"a=1',
    "{a=1}",
    "[a=1]",
    "https://example.com/?a=1",
    "/path?a=1",
    "x<y=z",
    "a\\b=c",
  ])("readsAsForm is false for %j", (body) => assert.isFalse(readsAsForm(Buffer.from(body))))

  it("multipartBoundaryOf finds the boundary of a multipart form only", () => {
    assert.strictEqual(
      multipartBoundaryOf(Buffer.from('--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b1--')),
      "b1",
    )
    assert.isNull(multipartBoundaryOf(Buffer.from("-- a comment\r\nSELECT 1")))
    assert.isNull(multipartBoundaryOf(Buffer.from("--\r\nContent-Disposition: form-data")))
  })
})
