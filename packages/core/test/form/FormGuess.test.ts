import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { multipartBoundaryOf, readsAsForm } from "../../src/form/FormGuess.ts"

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
    "a=&=x",
    "a&=x",
  ])("readsAsForm is false for %j", (body) => assert.isFalse(readsAsForm(Buffer.from(body))))

  it("readsAsForm excludes bytes that urlencoding escapes, and URL characters in names", () => {
    const never = new Set(Buffer.from('"<>\\`\x7f'))
    for (let byte = 0; byte < 256; byte++) {
      const excluded = byte <= 32 || never.has(byte)
      const between = (before: string, after: string) =>
        readsAsForm(Buffer.concat([Buffer.from(before), Buffer.of(byte), Buffer.from(after)]))
      assert.strictEqual(between("a=1", ""), !excluded, `${byte} in a value`)
      assert.strictEqual(
        between("a", "b=1"),
        !excluded && !"/?#".includes(String.fromCharCode(byte)),
        `${byte} in a name`,
      )
    }
  })

  it.each([
    ["--b1\nContent-Disposition:form-data", "b1"],
    ["--b1 \r\ncontent-disposition \t:\t form-data; name=a", "b1"],
    // Its first part has no disposition.
    ["--b1\r\nX: y\r\n\r\n--b1\r\nContent-Disposition: form-data", null],
    ["--b1\r\nContent-Disposition: attachment", null],
    ["--b1\r\nContent-Disposition form-data", null],
    ["-b1\r\nContent-Disposition: form-data", null],
    ["b--1\r\nContent-Disposition: form-data", null],
    ["--b1 Content-Disposition: form-data", null],
    [`--${"b".repeat(253)}\nContent-Disposition: form-data`, "b".repeat(253)],
    [`--${"b".repeat(254)}\nContent-Disposition: form-data`, null],
  ])("multipartBoundaryOf finds in %j the boundary %j", (body, boundary) =>
    assert.strictEqual(multipartBoundaryOf(Buffer.from(body)), boundary),
  )

  it("multipartBoundaryOf finds the boundary of a multipart form only", () => {
    assert.strictEqual(
      multipartBoundaryOf(Buffer.from('--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b1--')),
      "b1",
    )
    assert.isNull(multipartBoundaryOf(Buffer.from("-- a comment\r\nSELECT 1")))
    assert.isNull(multipartBoundaryOf(Buffer.from("--\r\nContent-Disposition: form-data")))
  })
})
