import { encodeText, refusedDelimiter, rowText } from "@data-cabinet/core/export/RowText"
import { assert, describe, it } from "vitest"
import { itemsOf } from "./exampleItems.ts"

const COLUMNS = [{ name: "id" }, { name: "note, or none" }]

describe("a separated file", () => {
  it("has every digit and every structure as sent, and distinguishes an empty text from a missing value", () => {
    const { head, row } = rowText("csv")
    assert.strictEqual(head(COLUMNS), 'id,"note, or none"\r\n')
    assert.strictEqual(row('{"a":12345678901234567890.10,"b":null,"c":""}'), '12345678901234567890.10,,""\r\n')
    assert.strictEqual(row('{"a":{"x":[1.0,null]},"b":true}'), '"{""x"":[1.0,null]}",true\r\n')
  })

  it("quotes quotes, line breaks and its own separator alone", () => {
    const value = JSON.stringify({ a: 'say "no"', b: "two\nlines", c: "a;b", d: "a,b", e: "a\tb" })
    assert.strictEqual(rowText("csv").row(value), '"say ""no""","two\nlines",a;b,"a,b",a\tb\r\n')
    assert.strictEqual(rowText("csv", { delimiter: ";" }).row(value), '"say ""no""";"two\nlines";"a;b";a,b;a\tb\r\n')
    assert.strictEqual(rowText("tsv").row(value), '"say ""no"""\t"two\nlines"\ta;b\ta,b\t"a\tb"\r\n')
    for (const delimiter of ["|", "^", "-", "]", "\\", "."]) {
      const { row } = rowText("csv", { delimiter })
      assert.strictEqual(row(JSON.stringify({ a: `x${delimiter}y`, b: "z" })), `"x${delimiter}y"${delimiter}z\r\n`)
    }
  })

  it("starts with a byte order mark if requested", () => {
    assert.strictEqual(rowText("csv", { bom: true }).head(COLUMNS), '\ufeffid,"note, or none"\r\n')
  })

  it("neutralizes only texts that a spreadsheet would run as formulas", () => {
    const { head, row } = rowText("csv", { safeForSpreadsheets: true })
    const shown = (value: unknown) => row(JSON.stringify({ a: value })).slice(0, -2)
    for (const formula of ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "=", "\uff1d1"]) {
      assert.strictEqual(shown(formula), `'${formula}`)
    }
    assert.strictEqual(shown("\t=1"), "'\t=1")
    for (const plain of ["-12.50", "+7", "-1e5", "a=b", " x"]) assert.strictEqual(shown(plain), plain)
    assert.strictEqual(shown(-5), "-5")
    assert.strictEqual(head([{ name: "=a" }]), "'=a\r\n")
    assert.strictEqual(rowText("csv").row('{"a":"=1+1"}'), "=1+1\r\n")
  })

  it("has any single character as its delimiter, except a quote or a line break", () => {
    for (const delimiter of [",", ";", "\t", "|", "§"]) assert.isNull(refusedDelimiter(delimiter))
    for (const delimiter of ["", ",,", '"', "\n", "\r", "\0", "😀", "\ufeff"]) {
      assert.match(refusedDelimiter(delimiter)!, /one character/, JSON.stringify(delimiter))
    }
  })
})

it("NDJSON has one row per line, as the API writes it", () => {
  const { head, row } = rowText("ndjson", { bom: true, delimiter: ";" })
  assert.strictEqual(head(COLUMNS) + row('{"a":0.10}'), '{"a":0.10}\n')
})

it("encodeText writes the head once and then every row; NDJSON has no head", async () => {
  const written = async (format: "csv" | "ndjson") => {
    const batches = (async function* () {
      yield itemsOf('{"id":1,"note":"ä"}', '{"id":2,"note":null}')
      yield itemsOf('{"id":3,"note":""}')
    })()
    const columns = COLUMNS.map(({ name }) => ({ name, type: "text", label: name, comment: null }))
    const pieces: Array<string> = []
    for await (const piece of encodeText(format)({ columns, declared: [], batches }))
      pieces.push(Buffer.from(piece).toString())
    assert.isFalse(pieces.includes(""))
    return pieces.join("")
  }
  assert.strictEqual(await written("csv"), 'id,"note, or none"\r\n1,ä\r\n2,\r\n3,""\r\n')
  assert.strictEqual(await written("ndjson"), '{"id":1,"note":"ä"}\n{"id":2,"note":null}\n{"id":3,"note":""}\n')
})

it("each format names its media type, and declares its header line", () => {
  assert.deepStrictEqual(
    (["csv", "tsv", "ndjson"] as const).map((format) => rowText(format).contentType),
    [
      "text/csv; charset=utf-8; header=present",
      "text/tab-separated-values; charset=utf-8; header=present",
      "application/x-ndjson",
    ],
  )
})
