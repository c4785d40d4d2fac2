import { rowLine } from "@data-cabinet/console/table/Cells"
import { STYLE } from "@data-cabinet/console/assets/Style"
import { assert, it } from "vitest"

it("rowLine distinguishes NULL, an empty text and the text NULL", () => {
  const columns = ["a", "b", "c"].map((name) => ({ name, notNull: false, declared: null, type: { kind: "text" } }))
  const line = rowLine('{"a":null,"b":"","c":"NULL"}', {
    columns: columns as never,
    places: [0, 1, 2],
    rowPath: () => null,
    time: (text) => text,
    words: { open: "", cut: "" },
  })
  assert.include(line, '<td class="z"></td><td class="e"></td><td>NULL</td>')
  assert.include(STYLE, '.z::after{content:"NULL"}')
  assert.include(STYLE, '.e::after{content:"“ ”"}')
})
