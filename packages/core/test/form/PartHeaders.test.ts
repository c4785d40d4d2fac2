/** Escapes in the names of a multipart body are decoded once, whatever is next to them. */
import { assert, it } from "vitest"
import { parsePartHeaders, unescapeName } from "../../src/form/PartHeaders.ts"

it("unescapeName decodes each escape once and creates no new one", () => {
  const names: ReadonlyArray<readonly [name: string, plain: string]> = [
    [String.raw`a\"b\\c\d`, String.raw`a"b\c\d`],
    [String.raw`\\%22\\"`, String.raw`\"\"`],
    ["%22%0d%0A%0D%0a%20%2", '"\r\n\r\n%20%2'],
    [String.raw`%\"22%\\0A`, String.raw`%"22%\0A`],
    ["%%220A%%0d22", '%"0A%\r22'],
  ]
  for (const [name, plain] of names) assert.strictEqual(unescapeName(name), plain)
})

it("parsePartHeaders reads a name that declares its own charset, unless the part has a plain one", () => {
  const nameOf = (params: string) => {
    const headers = Buffer.from(`Content-Disposition: form-data; ${params}`)
    const { name } = parsePartHeaders(headers, 0, headers.length)
    return name === null || typeof name === "string" ? name : headers.toString("utf8", name.start, name.end)
  }
  assert.strictEqual(nameOf("name*=UTF-8''%D0%B8%D0%BC%D1%8F"), "имя")
  assert.strictEqual(nameOf("name*=koi8-r''%C9%CD%D1"), "имя")
  assert.strictEqual(nameOf("name*=UTF-8''a; name=b"), "b")
  assert.strictEqual(nameOf("name*=plain"), "plain")
  assert.isNull(nameOf("filename=x"))
})
