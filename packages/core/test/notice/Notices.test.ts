import { Notices } from "@data-cabinet/core/notice/Notices"
import { type NoticeSource, NoticeStore } from "@data-cabinet/core/notice/NoticeStore"
import type { StoredSource } from "@data-cabinet/core/source/SourceStore"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

const SOURCE: NoticeSource = {
  id: 9,
  name: "Notices",
  table: { schema: "sources", name: "notices" },
  on: true,
  since: "2026-11-26T06:00:00Z",
  addresses: [7],
}
const LATEST = [{ eventId: 1, at: SOURCE.since, kind: "feed.held", subject: "feed", message: "The feed is held." }]

const over = (source: NoticeSource | null) => {
  const made: Array<StoredSource> = []
  const asked: Array<ReadonlyArray<number>> = []
  const store = Layer.mock(NoticeStore, {
    source: Effect.succeed(source),
    switchOn: (given) => Effect.sync(() => (made.push(given), SOURCE)),
    switchOff: Effect.succeed(source === null ? null : { ...source, on: false }),
    latest: (...given) => Effect.sync(() => (asked.push(given), LATEST)),
  })
  const run = <A, E>(work: (notices: Notices["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.provide(Notices.use(work), Layer.provide(Notices.layer, store)))
  return { made, asked, run }
}

const STATE = {
  on: true,
  since: SOURCE.since,
  source: { id: 9, name: "Notices", table: SOURCE.table },
  addresses: [7],
  latest: LATEST,
}

it("Notices shows where notices go, and the twenty latest", () => {
  const { asked, run } = over(SOURCE)
  expect(run(({ show }) => show)).toEqual(STATE)
  expect(asked).toEqual([[9, 20]])
})

it("Notices are off, without a source, until first switched on", () => {
  const { asked, run } = over(null)
  const never = { on: false, since: null, source: null, addresses: [], latest: [] }
  expect(run(({ show }) => show)).toEqual(never)
  expect(run(({ switchOff }) => switchOff())).toEqual(never)
  expect(asked).toEqual([])
})

it("Notices are switched on with a new source under a free name, and off", () => {
  const { made, run } = over(SOURCE)
  expect(run(({ switchOn }) => switchOn())).toEqual(STATE)
  expect(run(({ switchOff }) => switchOff())).toEqual({ ...STATE, on: false })
  expect(made).toMatchObject([{ name: "Notices", verify: null, keepHeaders: [], headerFields: [], rate: null }])
  expect([made[0]!.tableName(new Set()), made[0]!.tableName(new Set(["notices"]))]).toEqual(["notices", "notices_2"])
})
