import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { parseContentType } from "../../src/form/ContentType.ts"

describe("parseContentType", () => {
  it.for([
    [undefined, "none", null, null],
    ["", "none", null, null],
    [" ; charset=x", "none", "x", null],
    ["Text/Plain", "plain", null, null],
    ["application/xml", "other", null, null],
    ["application/json", "json", null, null],
    ['Application/JSON ; Charset="UTF-8"', "json", "UTF-8", null],
    ["application/problem+json", "json", null, null],
    ["application/json, application/json", "json", null, null],
    ["text/json", "other", null, null],
    ["image/svg+json", "other", null, null],
    ["application/x-www-form-urlencoded; charset=windows-1251", "urlencoded", "windows-1251", null],
    ["multipart/form-data; boundary=----WebKit; charset=x", "multipart", "x", "----WebKit"],
    ['multipart/form-data; boundary="a;b \\"c\\""', "multipart", null, 'a;b "c"'],
    ["multipart/form-data; boundary", "multipart", null, null],
    ["multipart/mixed; boundary=x", "other", null, "x"],
    ["text/plain;;; charset = koi8-r ;", "plain", "koi8-r", null],
    [";=;", "none", null, null],
    [" text/plain", "plain", null, null],
    ["text/plain;\tcharset=\r\n koi8-r", "plain", "koi8-r", null],
    ["text/plain; charset=a\\\\b", "plain", "a\\\\b", null],
    ['multipart/form-data; boundary="a\\\\"; charset=x', "multipart", "x", "a\\"],
    ['multipart/form-data; boundary="a\\b"; charset=x', "multipart", "x", "a\\b"],
  ] as const)("parseContentType reads %j", ([header, kind, charset, boundary]) =>
    assert.deepStrictEqual(parseContentType(header), { kind, charset, boundary }),
  )
})
