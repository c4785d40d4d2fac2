import { changeColumn, type ColumnChange } from "@data-cabinet/core/row/ChangeColumn"
import { ColumnError } from "@data-cabinet/core/row/ColumnError"
import type { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Effect } from "effect"
import { expect, it } from "vitest"

const changed = (change: ColumnChange, refused = false) => {
  const done: Array<unknown> = []
  const refusal = new ColumnError({ code: "views_depend", message: "Views depend on it." })
  const columns = {
    retype: (...given: ReadonlyArray<unknown>) =>
      Effect.suspend(() => {
        done.push(["retype", ...given])
        return refused ? Effect.fail(refusal) : Effect.succeed({ column: "retyped", moved: 2 })
      }),
    relabel: (...given: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        done.push(["relabel", ...given])
        return "relabelled"
      }),
  } as unknown as SourceColumns["Service"]
  return { done, result: Effect.runSync(Effect.result(changeColumn(columns, 3, "total", change))) }
}

const RETYPE = ["retype", 3, "total", "numeric", { withViews: true, notation: { numbers: "comma" } }]
const TYPE: ColumnChange = { type: "numeric", withViews: true, notation: { numbers: "comma" } }

it("changeColumn changes the type first, then the label", () => {
  const type = changed(TYPE)
  expect(type.done).toEqual([RETYPE])
  expect(type.result).toMatchObject({ success: { column: "retyped", retyped: { moved: 2 } } })
  const label = changed({ label: "Sum", withViews: false })
  expect(label.done).toEqual([["relabel", 3, "total", "Sum"]])
  expect(label.result).toMatchObject({ success: { column: "relabelled", retyped: undefined } })
  const both = changed({ ...TYPE, label: "Sum" })
  expect(both.done).toEqual([RETYPE, ["relabel", 3, "total", "Sum"]])
  expect(both.result).toMatchObject({ success: { column: "relabelled", retyped: { moved: 2 } } })
})

it("changeColumn keeps the label when the type is refused", () => {
  const { done, result } = changed({ ...TYPE, label: "Sum" }, true)
  expect(result).toMatchObject({ failure: { code: "views_depend" } })
  expect(done).toEqual([RETYPE])
})
