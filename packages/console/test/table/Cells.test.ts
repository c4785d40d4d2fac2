import { badgesOf, pinnedOf, rowLine } from "@data-cabinet/console/table/Cells"
import { STYLE } from "@data-cabinet/console/assets/Style"
import { assert, it } from "vitest"

it("rowLine distinguishes NULL, an empty text and the text NULL", () => {
  const columns = ["a", "b", "c"].map((name) => ({ name, notNull: false, declared: null, type: { kind: "text" } }))
  const line = rowLine('{"a":null,"b":"","c":"NULL"}', {
    columns: columns as never,
    places: [0, 1, 2],
    rowPath: () => null,
    time: (text) => text,
    pinned: null,
    badges: new Set(),
    words: { open: "", cut: "" },
  })
  assert.include(line, '<td class="z"></td><td class="e"></td><td>NULL</td>')
  assert.include(STYLE, '.z::after{content:"NULL"}')
  assert.include(STYLE, '.e::after{content:"“ ”"}')
})

const column = (name: string, kind: string) => ({ name, notNull: false, declared: null, type: { kind } }) as never

it("the first column of texts stays in sight, in a table of three columns or more", () => {
  const columns = [column("id", "number"), column("name", "text"), column("city", "text")]
  assert.strictEqual(pinnedOf(columns), "name")
  assert.strictEqual(pinnedOf(columns.slice(0, 2)), null)
  assert.strictEqual(pinnedOf([column("a", "number"), column("b", "number"), column("c", "json")]), null)
})

it("few short values that repeat are badges, and nothing else is", () => {
  const columns = ["state", "name", "code", "note"].map((name) => column(name, "text"))
  const row = (n: number) =>
    JSON.stringify({
      state: n % 4 === 0 ? null : ["paid", "in_progress", "не оплачен"][n % 3],
      name: `Customer ${n}`,
      code: String(n % 2),
      note: "a sentence of more than two words",
    })
  const rows = Array.from({ length: 12 }, (_, n) => row(n))
  assert.deepStrictEqual(badgesOf(columns, rows), ["state"])
  assert.deepStrictEqual(badgesOf(columns, rows.slice(0, 3)), [])
  const format = {
    columns,
    places: [0],
    rowPath: () => null,
    time: String,
    pinned: "state",
    words: { open: "", cut: "" },
  }
  const line = rowLine('{"state":"<paid>"}', { ...format, badges: new Set(["state"]) })
  assert.include(line, '<td class="p"><i>&lt;paid&gt;</i></td>')
})
