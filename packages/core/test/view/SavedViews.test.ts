import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { ReadError } from "@data-cabinet/core/row/ReadError"
import { selectionError } from "@data-cabinet/core/selection/SelectionParams"
import { type RowsRequest, SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { type NewSavedView, type SavedView, savedViewShape } from "@data-cabinet/core/view/SavedView"
import { mayRemove, SavedViews, SavedViewStore } from "@data-cabinet/core/view/SavedViews"
import { Effect, Layer, Option, Result } from "effect"
import { expect, it } from "vitest"

const actor = (change: Partial<Actor>): Actor => ({
  kind: "person",
  id: 1,
  name: "Ada",
  role: "viewer",
  from: null,
  requestId: null,
  ...change,
})
const ADA = actor({})
const BEN = actor({ id: 2, name: "Ben", role: "editor" })
const OWNER = actor({ id: 3, name: "Eve", role: "owner" })
/** A token with the same id as a person. */
const TOKEN = actor({ kind: "token", name: "report" })

const NEW: NewSavedView = { title: "Paid", schema: "sources", name: "orders", query: "q=paid", shared: false }

const kept = (id: number, change: Partial<SavedView>): SavedView => ({
  ...NEW,
  id,
  maker: { kind: "person", id: 1, name: "Ada" },
  createdAt: "2026-01-01T00:00:00Z",
  ...change,
})

/** A cabinet with Ada's view 1, which is private, and her view 2, which is shared. */
const over = ({
  page = Result.succeed({ items: NO_ITEMS, columns: [], hasMore: false, nextCursor: null }),
  isFull = false,
}: { readonly page?: Awaited<ReturnType<SelectRows["Service"]["page"]>>; readonly isFull?: boolean } = {}) => {
  const views = [kept(1, {}), kept(2, { title: "All", shared: true })]
  const added: Array<unknown> = []
  const asked: Array<RowsRequest> = []
  const removed: Array<number> = []
  const store = SavedViewStore.of({
    add: (view, most) =>
      Effect.sync(() => {
        added.push([view, most])
        return isFull ? Option.none() : Option.some(kept(3, view))
      }),
    list: Effect.succeed(views),
    find: (id) => Effect.succeed(Option.fromNullishOr(views.find((view) => view.id === id))),
    remove: (id) => Effect.sync(() => void removed.push(id)),
  })
  const rows = SelectRows.of({
    page: async (request) => {
      asked.push(request)
      return page
    },
  })
  const layer = SavedViews.layer.pipe(
    Layer.provide([Layer.succeed(SavedViewStore, store), Layer.succeed(SelectRows, rows)]),
  )
  const as = <A, E>(who: Actor | null, work: (saved: SavedViews["Service"]) => Effect.Effect<A, E>) =>
    Effect.runPromise(
      Effect.result(SavedViews.use(work)).pipe(Effect.provide(layer), Effect.provideService(CurrentActor, who)),
    )
  return { as, added, asked, removed }
}

it("a private view exists only for its creator, for owners and for the cabinet itself", async () => {
  const { as } = over()
  const seenBy = async (who: Actor | null) =>
    Result.getOrThrow(await as(who, (saved) => saved.list)).map(({ id }) => id)
  for (const who of [ADA, OWNER, null]) {
    expect(await seenBy(who)).toEqual([1, 2])
    expect(await as(who, (saved) => saved.get(1))).toMatchObject({ success: { id: 1 } })
  }
  for (const who of [BEN, TOKEN]) {
    expect(await seenBy(who)).toEqual([2])
    const hidden = await as(who, (saved) => saved.get(1))
    expect(hidden).toMatchObject({ failure: { code: "no_such_view", message: "Saved view 1 does not exist." } })
    expect(await as(who, (saved) => saved.get(2))).toMatchObject({ success: { id: 2 } })
  }
  expect(await as(OWNER, (saved) => saved.get(9))).toMatchObject({ failure: { code: "no_such_view" } })
})

it("remove allows the creator and owners; for others the view does not exist", async () => {
  const { as, removed } = over()
  expect(await as(BEN, (saved) => saved.remove(1))).toMatchObject({ failure: { code: "no_such_view" } })
  expect(await as(BEN, (saved) => saved.remove(2))).toMatchObject({ failure: { code: "not_your_view" } })
  expect(removed).toEqual([])
  for (const who of [ADA, OWNER, null]) expect(Result.isSuccess(await as(who, (saved) => saved.remove(2)))).toBe(true)
  expect(removed).toEqual([2, 2, 2])
})

it("SavedViews distinguishes people and tokens with the same id", () => {
  const ofToken = { maker: { kind: "token", id: 1, name: "report" } } as const
  expect([TOKEN, ADA, BEN, OWNER, null].map((who) => mayRemove(who, ofToken))).toEqual([true, false, false, true, true])
})

it("save stores the selection without its cursor", async () => {
  const { as, added, asked } = over()
  const query = "cursor=abc&q=a%20b&fc=sum&fo=gt&fv=1"
  const saved = await as(ADA, ({ save }) => save({ ...NEW, title: "  Paid ", query }))
  const pairs = [
    ["q", "a b"],
    ["fc", "sum"],
    ["fo", "gt"],
    ["fv", "1"],
  ]
  expect(asked).toEqual([{ schema: "sources", name: "orders", params: pairs }])
  const view = { ...NEW, query: "q=a+b&fc=sum&fo=gt&fv=1", maker: { kind: "person", id: 1, name: "Ada" } }
  expect(added).toEqual([[view, 200]])
  expect(saved).toMatchObject({ success: { id: 3, title: "Paid" } })
  await as(null, ({ save }) => save(NEW))
  expect(added[1]).toMatchObject([{ maker: { kind: "program", id: null, name: "program" } }, 200])
})

it.each<[Partial<NewSavedView>, string]>([
  [{ title: "" }, "bad_title"],
  [{ title: " \t" }, "bad_title"],
  [{ title: "x".repeat(201) }, "bad_title"],
  [{ title: "a\0b" }, "bad_title"],
  [{ query: "x".repeat(8_193) }, "bad_query"],
  [{ schema: "a\0" }, "bad_query"],
  [{ name: "a\0" }, "bad_query"],
])("save refuses %j before rows are read", async (change, code) => {
  const { as, added, asked } = over()
  expect(await as(ADA, ({ save }) => save({ ...NEW, ...change }))).toMatchObject({ failure: { code } })
  expect([added, asked]).toEqual([[], []])
})

it("save accepts a title and a query of the maximum length", async () => {
  const { as, added } = over()
  await as(ADA, ({ save }) => save({ ...NEW, title: ` ${"x".repeat(200)} `, query: `q=${"x".repeat(8_190)}` }))
  expect(added).toHaveLength(1)
})

it("save refuses a selection that cannot be read, but not because rows are unavailable", async () => {
  const refused = over({ page: Result.fail(selectionError("unknown_column", "fc", "There is no column sum.")) })
  expect(await refused.as(ADA, ({ save }) => save(NEW))).toMatchObject({
    failure: { code: "bad_query", message: "There is no column sum." },
  })
  expect(refused.added).toEqual([])
  const busy = over({ page: Result.fail(new ReadError({ code: "query_timeout", message: "late", retryAfter: 1 })) })
  expect(await busy.as(ADA, ({ save }) => save(NEW))).toMatchObject({ success: { id: 3 } })
})

it("save refuses a view over the limit", async () => {
  const { as } = over({ isFull: true })
  expect(await as(ADA, ({ save }) => save(NEW))).toMatchObject({ failure: { code: "too_many_views" } })
})

it("savedViewShape.json names the person who saved a view, and nothing else about them", () => {
  const view = kept(1, { maker: TOKEN, shared: true })
  expect(savedViewShape.json(view)).toEqual({
    id: 1,
    title: "Paid",
    schema: "sources",
    name: "orders",
    query: "q=paid",
    shared: true,
    maker: { kind: "token", id: 1, name: "report" },
    created_at: "2026-01-01T00:00:00Z",
  })
})
