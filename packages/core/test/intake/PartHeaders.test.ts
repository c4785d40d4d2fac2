/** Escapes in the names of a multipart body are decoded once, whatever is next to them. */
import { assert, it } from "vitest"
import { unescapeName } from "../../src/intake/PartHeaders.ts"

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
