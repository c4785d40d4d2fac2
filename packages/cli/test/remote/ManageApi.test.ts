/** Lists with pages by id are read to their end, by as few requests as pages allow. */
import { idPages, type ManageApi } from "@data-cabinet/remote/http/ManageApi"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"

/** A list of so many items, and the queries that it got. */
const listOf = (count: number, isNewestFirst = false) => {
  const ids = Array.from({ length: count }, (_, n) => n + 1)
  const queries: Array<Record<string, string>> = []
  const list = ({ query = [] }: { readonly query?: ReadonlyArray<readonly [string, string]> }) =>
    Effect.sync(() => {
      const { limit, after = "0", before = "Infinity", ...others } = Object.fromEntries(query)
      queries.push(Object.fromEntries(query))
      expect(others).toEqual({ cabinet: "shop" })
      const found = ids.filter((id) => id > Number(after) && id < Number(before))
      return (isNewestFirst ? found.toReversed() : found).slice(0, Number(limit)).map((id) => ({ id }))
    })
  // Only lists are read here.
  return { api: { list } as unknown as ManageApi["Service"], queries }
}

const CONDITIONS = [["cabinet", "shop"]] as const
const read = async (api: ManageApi["Service"], limit: number, place?: "before") =>
  (
    await Effect.runPromise(idPages<{ readonly id: number }>(api, "people", { after: 0, limit }, CONDITIONS, place))
  ).map(({ id }) => id)

describe("idPages", () => {
  it("reads 2,300 items in three pages, each after the last item of the one before", async () => {
    const { api, queries } = listOf(2_300)
    const ids = await read(api, Infinity)
    expect([ids.length, ids[0], ids.at(-1), new Set(ids).size]).toEqual([2_300, 1, 2_300, 2_300])
    expect(queries.map(({ after }) => after)).toEqual([undefined, "1000", "2000"])
  })

  it("reads a list that is newest first with before", async () => {
    const { api, queries } = listOf(1_500, true)
    const ids = await read(api, Infinity, "before")
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_500, 1_500, 1])
    expect(queries.map(({ before }) => before)).toEqual([undefined, "501"])
  })

  it("asks for one page more if the last one was full, and for no more items than wanted", async () => {
    const full = listOf(2_000)
    expect((await read(full.api, Infinity)).length).toBe(2_000)
    expect(full.queries.length).toBe(3)
    const part = listOf(2_000)
    expect((await read(part.api, 1_200)).at(-1)).toBe(1_200)
    expect(part.queries.map(({ limit }) => limit)).toEqual(["1000", "200"])
  })
})
