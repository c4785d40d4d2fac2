import { localFields, previewTable } from "@data-cabinet/console/file/PreviewTable"
import { assert, it } from "vitest"

it("previewTable shows the fields of a file as columns, with every digit, and NULL apart from an empty text", () => {
  const html = previewTable(['{"b":"<i>","a":0.10000000000000000001}', '{"a":null,"c":""}']).text
  assert.include(html, '<th scope="col">b</th><th scope="col">a</th><th scope="col">c</th>')
  assert.include(html, '<tr><td>&lt;i&gt;</td><td>0.10000000000000000001</td><td class="z"></td></tr>')
  assert.include(html, '<tr><td class="z"></td><td class="z"></td><td class="e"></td></tr>')
})

it("previewTable shows rows that do not fit a table as JSON", () => {
  for (const row of ["[1,2]", '"text"', '{"a":1,"a":2}', '{"b":1,"7":2}']) {
    assert.notInclude(previewTable([row]).text, "<table", row)
  }
  assert.include(previewTable(['{"a":1,"a":2}']).text, ">2<")
})

it("localFields finds numbers with a decimal comma and local days; one other value, or none at all, is enough against it", () => {
  const rows = [
    '{"sum":"1.490,92","day":"2.03.2026","mixed":"1,5","code":"100","none":""}',
    '{"sum":"-7,5","day":"","mixed":"a","none":null}',
  ]
  assert.deepStrictEqual(localFields(rows, "numbers"), ["sum"])
  assert.deepStrictEqual(localFields(rows, "days"), ["day"])
})
