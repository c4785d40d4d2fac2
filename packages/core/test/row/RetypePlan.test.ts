import type { ColumnKind, FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import { notRetyped, retypeDecisions, siblingOf } from "@data-cabinet/core/row/RetypePlan"
import { MAX_FIELD_COLUMNS, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { type ColumnDependents, NotRetyped } from "@data-cabinet/core/row/SourceColumnStore"
import { Result } from "effect"
import { expect, it } from "vitest"

const column = (name: string, kind: ColumnKind, field = name): FieldColumn => ({ name, field, kind })
const total = column("total", "numeric")
const layout = new TableLayout([total, column("note", "text")])
const table = { name: "orders", layout }
const NOTHING: ColumnDependents = { views: [], obstacle: null, objects: [] }

const decide = (withViews = false, name = "total") =>
  retypeDecisions(3, name, { type: "text", notation: {} }, withViews)
const refusal = <A, E>(result: Result.Result<A, E>) => (Result.isFailure(result) ? result.failure : "allowed")

it("retypeDecisions requires a source, a table, and a column of another type", () => {
  expect(decide().column(table)).toEqual(Result.succeed(total))
  expect(decide(false, "note").column(table)).toEqual(Result.succeed(null))
  expect(refusal(decide().column(undefined))).toMatchObject({
    code: "no_such_source",
    message: "Source 3 does not exist.",
  })
  expect(refusal(decide().column({ ...table, name: null }))).toMatchObject({ code: "no_table" })
  expect(refusal(decide(false, "sum").column(table))).toMatchObject({
    code: "no_such_column",
    message: 'Table sources.orders has no field column "sum". It has: total, note.',
  })
})

it.each<[string, Partial<ColumnDependents>, boolean, string, RegExp]>([
  [
    "views that may not be recreated",
    { views: ["public.a", "public.b"] },
    false,
    "views_depend",
    /public\.a, public\.b\. They are recreated only if that is requested/,
  ],
  [
    "an obstacle, even with views",
    { views: ["v.a"], obstacle: { view: "v.a", is: "recursive" } },
    true,
    "views_depend",
    /v\.a is recursive/,
  ],
  ["a rule", { obstacle: { view: "v.a", is: "rule" } }, true, "views_depend", /v\.a is not a view/],
  [
    "a view of ours that uses another's",
    { obstacle: { view: "v.a", is: "trusted", part: "function f()" } },
    true,
    "views_depend",
    /other roles can change: function f\(\)/,
  ],
  [
    "other objects",
    { objects: ["policy p", "trigger t"] },
    true,
    "objects_depend",
    /policy p, trigger t\. Nothing was changed\. Drop them first/,
  ],
])("a retype is refused for %s", (_, found, withViews, code, message) => {
  const refused = refusal(decide(withViews).dependents({ ...NOTHING, ...found }))
  expect(refused).toMatchObject({ code, message: expect.stringMatching(message) })
})

it("retypeDecisions refuses a notation that does not cover the type", () => {
  const { column: decideColumn } = retypeDecisions(3, "note", { type: "date", notation: { numbers: "dot" } }, false)
  expect(refusal(decideColumn(table))).toMatchObject({ code: "bad_notation" })
})

it("retypeDecisions allows a retype without dependents, or with views that may be recreated", () => {
  expect(refusal(decide().dependents(NOTHING))).toBe("allowed")
  expect(refusal(decide(true).dependents({ ...NOTHING, views: ["public.a"] }))).toBe("allowed")
})

it("siblingOf returns the field's text column, or creates one under a free name", () => {
  const sibling = column("total_text", "text", "total")
  expect(siblingOf(new TableLayout([total, sibling]), total)).toEqual({ name: "total_text", isNew: false })
  expect(siblingOf(layout, total)).toEqual({ name: "total_text", isNew: true })
  // A text column is not its own sibling, and a column of another kind is no sibling for texts.
  const note = column("note", "text")
  expect(siblingOf(new TableLayout([note]), note)).toEqual({ name: "note_text", isNew: true })
  const flag = column("total_boolean", "boolean", "total")
  expect(siblingOf(new TableLayout([total, flag]), total)).toEqual({ name: "total_text", isNew: true })
  const long = column("x".repeat(63), "text")
  expect(siblingOf(new TableLayout([long]), long)).toEqual({ name: `${"x".repeat(50)}_text`, isNew: true })
  // Another field already has the name.
  const other = column("total_text", "numeric", "Total text")
  expect(siblingOf(new TableLayout([total, other]), total)).toEqual({ name: "total_text_2", isNew: true })
  const full = Array.from({ length: MAX_FIELD_COLUMNS - 2 }, (_, n) => column(`f${n}`, "numeric"))
  expect(siblingOf(new TableLayout([total, other, ...full]), total)).toEqual({ name: "total_text_2", isNew: true })
})

it.each<[NotRetyped["fact"], string, RegExp]>([
  [{ is: "depended_on", detail: "view x needs it" }, "objects_depend", /\(view x needs it\)/],
  [{ is: "view_failed", detail: "no operator" }, "views_depend", /does not work with type text.*: no operator\./],
  [{ is: "slow", seconds: 30 }, "views_slow", /longer than 30 seconds/],
  [{ is: "busy", seconds: 3 }, "table_busy", /within 3 seconds/],
])("a retype that the database refused is explained: %j", (fact, code, message) => {
  expect(notRetyped("total", "text", new NotRetyped({ fact }))).toMatchObject({
    code,
    message: expect.stringMatching(message),
  })
})
