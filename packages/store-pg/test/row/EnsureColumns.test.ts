/** The rows of long events are planned in pieces, and other tasks run in between. */
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { TableLayout } from "@data-cabinet/core/row/RowPlan"
import { ensureColumns, RowFault, ShortRow } from "@data-cabinet/store-pg/row/EnsureColumns"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { assert, it } from "vitest"

/** Without missing columns, nothing is requested from the database. */
const noDatabase = {} as PgClient.PgClient
const table = {
  sourceId: 1,
  version: 1,
  fansOut: false,
  lost: null,
  name: "t",
  layout: new TableLayout([
    { field: "a", name: "b", kind: "text" as const },
    { field: "a", name: "a", kind: "jsonb" as const },
  ]),
}

const eventOf = (text: string) => ({ text, payload: Result.getOrThrow(parseJson(text)) as JsonObject })

/** The plans, and how many turns other tasks had meanwhile. */
const planned = async (events: ReadonlyArray<{ readonly text: string; readonly payload: JsonObject }>) => {
  let turns = 0
  let isOver = false
  const turn = () => {
    if (isOver) return
    turns++
    setImmediate(turn)
  }
  setImmediate(turn)
  const fitted = await Effect.runPromise(ensureColumns(noDatabase, table, events))
  isOver = true
  return { plans: fitted!.plans, turns }
}

it.each([
  ["empty objects", `{"a":[${"{},".repeat(200_000)}1]}`],
  ["empty lists", `{"a":[${"[],".repeat(200_000)}1]}`],
  ["numbers", `{"a":[${"1,".repeat(300_000)}1]}`],
])("an event of %s is planned in pieces, in proportion to its length", async (_, text) => {
  const { plans, turns } = await planned([eventOf(text)])
  const [plan] = plans
  assert.isFalse(plan instanceof RowFault || plan instanceof ShortRow)
  assert.deepInclude(plan, { members: `,"a":${text.slice(5, -1)}` })
  assert.isAtLeast(turns, text.length / 131_072)
})

it("a fault in examining a long event affects only its row", async () => {
  const text = `{"a":[${"1,".repeat(100_000)}1]}`
  const broken = {
    text,
    get payload(): JsonObject {
      throw new RangeError("a planted fault")
    },
  }
  const { plans } = await planned([eventOf('{"a":"x"}'), broken, eventOf(text)])
  assert.deepStrictEqual(
    plans.map((plan) => plan instanceof RowFault),
    [false, true, false],
  )
})
