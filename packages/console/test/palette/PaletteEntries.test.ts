import { foundIn, type PaletteEntry } from "@data-cabinet/console/palette/PaletteEntries"
import { assert, it } from "vitest"

const table = (name: string, note = "sources"): PaletteEntry => ({ group: "tables", text: name, note, path: name })
const events: PaletteEntry = { group: "sections", text: "События", path: "events", also: "events" }

const names = (entries: ReadonlyArray<PaletteEntry>, text: string) =>
  foundIn(entries, text).flatMap((group) => group.entries.map((entry) => entry.text))

it("the beginning of a name comes before the beginning of a word in it, and that before any other place", () => {
  const entries = [table("preorders"), table("old orders"), table("orders"), table("letters")]
  assert.deepStrictEqual(names(entries, " ORDERS "), ["orders", "old orders", "preorders"])
})

it("every word is found somewhere, also beside the name and in what is not shown", () => {
  const entries = [table("orders", "public"), table("orders", "sources · Заказы"), events]
  assert.deepStrictEqual(foundIn(entries, "заказы orders")[0]?.entries, [entries[1]!])
  assert.deepStrictEqual(names(entries, "events"), ["События"])
  assert.deepStrictEqual(foundIn(entries, "orders nothing"), [])
})

it("without a text groups keep their order; with one the group with the best name is first", () => {
  const entries = [table("my events"), events, { group: "event", text: "№ 7", path: "events/7", always: true }] as const
  assert.deepStrictEqual(names(entries, ""), ["№ 7", "События", "my events"])
  assert.deepStrictEqual(names(entries, "my"), ["№ 7", "my events"])
})

it("a group has ten entries, and says how many more there are", () => {
  const entries = Array.from({ length: 12 }, (_, at) => table(`t${at}`))
  const [group] = foundIn(entries, "t")
  assert.deepStrictEqual([group?.entries.length, group?.more], [10, 2])
})
