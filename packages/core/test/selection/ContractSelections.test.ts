/** Selections with the contract's parameters only stay as they were before OR groups and several sorts existed. */
import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { createHash } from "node:crypto"
import { tableOf } from "./tables.ts"

const TABLES = {
  key: tableOf({ id: "number!", total: "number", note: "text!", day: "date" }, { key: ["id"] }),
  two: tableOf({ id: "number!", total: "number", note: "text!", day: "date" }, { key: ["note", "id"] }),
  place: tableOf({ id: "number", total: "number", note: "text!", day: "date" }),
  text: tableOf({ id: "number", total: "number", note: "text!", day: "date" }, { identity: "text" }),
}

const SELECTIONS: ReadonlyArray<string> = [
  "",
  "dir=desc",
  "sort=id",
  "sort=total&dir=desc",
  "sort=total&dir=asc&q=a",
  "sort=note&dir=desc&fc=total&fo=ge&fv=1&fc=note&fo=contains&fv=x&fc=day&fo=empty",
  "fc=total&fo=ne&fv=1&per=day&from=2026-01-01&to=2026-02-01&col=note",
  "sort=day&hide=id&order=note&limit=3",
]

const key = new CursorKey(Buffer.alloc(32, 7))

/** The statements of a selection's first two pages, and the cursor between them. */
const seen = (query: string, table: (typeof TABLES)[keyof typeof TABLES]): ReadonlyArray<unknown> => {
  const params: ParamPairs = [...new URLSearchParams(query)]
  const planOf = (pairs: ParamPairs) =>
    Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(pairs)), table, key))
  const plan = planOf(params)
  const { position } = selectionSql(plan, "UTC")
  const counted = table.identity === "text" ? [...position, null] : position
  const cursor = encodeCursor(
    plan.walk,
    counted.map((_, at) => (at === 1 ? "(3,4)" : "1")),
  )
  const { text, values } = selectionSql(planOf([...params, ["cursor", cursor]]), "UTC")
  return [selectionSql(plan, "UTC").text, cursor, text, values]
}

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16)

/** Of each selection, as the version before wrote them; searches fold case by other rules since. */
const BEFORE: Readonly<Record<keyof typeof TABLES, string>> = {
  key: "8f7f258e1b04879c 533ea6cf15494393 2657a2b61e3b5341 c4e99e817cde8e05 d268acc64332d30a e561c13ccc6da3b1 bc61d37efa66037e 6b95903b0d5e7cec",
  two: "29d1a18e669b835e b6b90b7e14fe56d6 b0195d7c98f480ec 08aff0ce5788a648 b05b25170c4c401d e561c13ccc6da3b1 966a8b8c03e76b85 dc52679eb1f40aca",
  place:
    "a6dc757fa62a5ecc 2aed75dfab5ce93f 81b55bea03f23429 1c67028437c6a45e 93bdd4412e9f292d b308d77b1e3690d1 da6afff06cf49bf9 52a3a27894e3956a",
  text: "cae18137e3937417 8c59f4013963b36a 05ac9612c0a2891a b8d50ebbc8ba4d04 a84316b3bfd7cd1d b07367d575e0611e c48e92aae25332fa d5b104a2d35b58c4",
}

describe("a selection with the contract's parameters only", () => {
  for (const [name, table] of Object.entries(TABLES)) {
    it(`has the same cursors and statements as before for rows identified by ${name}`, () => {
      const now = SELECTIONS.map((query) => digest(seen(query, table))).join(" ")
      assert.strictEqual(now, BEFORE[name as keyof typeof TABLES])
    })
  }

  it("accepts a cursor that the version before issued", () => {
    const cursor = "Ag7FsNOhKIsTWvwbl7hNGY9bWyIxIiwiKDMsNCkiXV0"
    const params = selectionParams([...new URLSearchParams(`sort=total&dir=desc&cursor=${cursor}`)])
    const plan = selectionPlan(Result.getOrThrow(params), TABLES.key, key)
    assert.deepStrictEqual(Result.getOrThrow(plan).after, ["1", "(3,4)"])
  })
})
