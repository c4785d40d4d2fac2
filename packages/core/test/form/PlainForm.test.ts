import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { parsePlainForm } from "../../src/form/PlainForm.ts"

const fieldsOf = (body: string): ReadonlyArray<readonly [string, string]> | null => {
  const form = parsePlainForm(Buffer.from(body))
  const text = (start: number, end: number) => form!.bytes.toString("utf8", start, end)
  return (
    form?.fields.map((field) => [text(field.nameStart, field.nameEnd), text(field.valueStart, field.valueEnd)]) ?? null
  )
}

describe("parsePlainForm", () => {
  it.for([
    ["a=1\r\n", [["a", "1"]]],
    ["a=\r\n", [["a", ""]]],
    ["a=b c=d\r\n", [["a", "b c=d"]]],
    [
      "имя=Иван\r\ntags[]=x\t\r\n",
      [
        ["имя", "Иван"],
        ["tags[]", "x\t"],
      ],
    ],
    [
      "a=1\r\nsee https://x.y/?z=1\r\n=\r\n\r\nb=2\r\n",
      [
        ["a", "1\r\nsee https://x.y/?z=1\r\n=\r\n"],
        ["b", "2"],
      ],
    ],
  ] as const)("parsePlainForm reads %j without loss", ([body, fields]) => {
    assert.deepStrictEqual(fieldsOf(body), fields)
    assert.strictEqual(fields.map(([name, value]) => `${name}=${value}\r\n`).join(""), body)
  })
  it.for([
    "",
    "a=1",
    "a=1\n",
    "a=1\nb=2\r\n",
    "a=1\r",
    "a=1\r\nb=2",
    "a=1\0\r\n",
    "\r\na=1\r\n",
    "=1\r\n",
    "hello = world\r\n",
    "the answer is x=5\r\n",
    "https://x.y/?z=1\r\n",
    '{"a=1\r\n',
    "word\r\n",
  ])("parsePlainForm finds no form in %j", (body) => assert.isNull(fieldsOf(body)))
  it("parsePlainForm stops at 10,000 fields", () => {
    assert.strictEqual(fieldsOf("a=1\r\n".repeat(10_000))?.length, 10_000)
    const form = parsePlainForm(Buffer.from("a=1\r\n".repeat(10_001)))!
    assert.deepStrictEqual(form.unread, { reason: "more than 10000 form fields", offset: 50_000, from: 0, to: 50_005 })
    assert.deepStrictEqual(form.fields, [])
  })
})
