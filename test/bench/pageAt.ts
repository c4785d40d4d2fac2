/** The request of a page at any depth, its cursor made directly, and how many rows PostgreSQL reads for it. */
import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Context, Effect, Option, Result } from "effect"
import { Client } from "pg"
import { openCabinet } from "./yardstick/openCabinet.ts"

export interface PageAt {
  /** The selection's parameters as a query. */
  readonly query: string
  readonly rowsRead: number
}

interface PlanNode {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** Rows that the scans of a plan came by. */
export const rowsReadBy = (node: PlanNode): number => {
  const below = (node.Plans ?? []).reduce((sum, one) => sum + rowsReadBy(one), 0)
  if (!/Scan/.test(node["Node Type"]) || /CTE|Subquery|Function|Result/.test(node["Node Type"])) return below
  return below + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
}

/** `place` is null for the first page, else the sort value and the key where the page before ended. */
export const pageAt = (
  url: string,
  table: readonly [schema: string, name: string],
  params: ParamPairs,
  place: ReadonlyArray<string> | null,
): Promise<PageAt> =>
  Effect.gen(function* () {
    const { cabinet } = yield* openCabinet(url)
    const found = yield* Context.get(cabinet, Catalog).find(...table)
    const readable = Option.getOrThrow(found)
    const key = yield* Context.get(cabinet, CursorKeys).key
    const plan = (pairs: ParamPairs) =>
      Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(pairs)), readable, key))
    const first = plan(params)
    const pairs: ParamPairs = place === null ? params : [...params, ["cursor", encodeCursor(first.walk, place)]]
    const { text, values } = selectionSql(plan(pairs), "UTC")
    const explained = yield* Effect.promise(async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query<{ "QUERY PLAN": ReadonlyArray<{ Plan: PlanNode }> }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values.map((value) => value.text),
      )
      await client.end()
      return rows[0]!["QUERY PLAN"][0]!.Plan
    })
    return {
      query: new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString(),
      rowsRead: rowsReadBy(explained),
    }
  }).pipe(Effect.scoped, Effect.runPromise)
