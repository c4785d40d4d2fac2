import { changedValues, shownValues } from "@data-cabinet/console/screen/ChangedValues"
import { unescapeHtml } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const callOf = (shown: string) => ({ form: [["form_shown", shown]] }) as never

it("changedValues keeps what differs from the shown values", () => {
  const shown = { name: 'A "b" <c>', keep: null, flag: false, names: ["x", "y"] }
  const field = unescapeHtml(/value="([^"]*)"/.exec(shownValues(shown).text)![1]!)
  assert.deepStrictEqual(changedValues(callOf(field), { ...shown }), {})
  const sent = { ...shown, flag: true, names: ["y", "x"], added: 1 }
  assert.deepStrictEqual(changedValues(callOf(field), sent), { flag: true, names: ["y", "x"], added: 1 } as never)
})

it("changedValues keeps everything when a form does not say what it showed", () => {
  for (const wrong of ["", "null", "[", "7"]) {
    assert.deepStrictEqual(changedValues(callOf(wrong), { name: "x" }), { name: "x" }, wrong)
  }
})
