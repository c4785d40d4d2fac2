/** A round sends each unsent cause and records it, up to the limit of a round. */
import { ActivityStore, type Silence } from "@data-cabinet/core/activity/ActivityStore"
import { filteredAddress } from "@data-cabinet/core/delivery/FilteredDeliveries"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type AcceptRequest, EventLog, SourceChanged } from "@data-cabinet/core/event/EventLog"
import type { NoticeKey } from "@data-cabinet/core/notice/Notice"
import type { StoredFacts } from "@data-cabinet/core/notice/NoticeFacts"
import { type NoticeSource, NoticeStore } from "@data-cabinet/core/notice/NoticeStore"
import { SendNotices, DiskSpace, UNKNOWN_DISK } from "@data-cabinet/core/notice/SendNotices"
import { ShapeStore } from "@data-cabinet/core/payload/ShapeStore"
import type { IntakeSource } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option, Result } from "effect"
import { expect, it } from "vitest"
import { NO_FACTS } from "./noFacts.ts"

const SINCE = "2026-11-26T06:00:00Z"
const NOTICES: NoticeSource = { id: 9, name: "Notices", table: null, on: true, since: SINCE, addresses: [] }
const SOURCE: IntakeSource = { id: 9, version: 1, encoding: null, thanksUrl: null, kept: null, verification: null }
const QUIET: Silence = { since: SINCE, seconds: 86_400, activeDays: 20, usualSeconds: 3_600 }

const failing = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: n + 1,
    url: "https://example.com/hook",
    carries: false,
    since: SINCE,
    seconds: 3_600,
    status: 500,
    failure: null,
  }))

const cabinet = () => {
  const state = {
    notices: NOTICES as NoticeSource | null,
    source: SOURCE as IntakeSource | null,
    facts: {} as Partial<StoredFacts>,
    silent: [] as ReadonlyArray<{ readonly sourceId: number; readonly silence: Silence | null }>,
    /** By kind and subject. */
    sent: new Set<string>(),
    ended: [] as Array<NoticeKey>,
    appended: [] as Array<AcceptRequest>,
    attempts: 0,
    onAppend: (_request: AcceptRequest): void => {},
    isDown: false,
  }
  const keyOf = ({ kind, subject }: NoticeKey) => `${kind} ${subject}`
  const ports = Layer.mergeAll(
    Layer.mock(NoticeStore, {
      source: Effect.sync(() => state.notices),
      facts: () => Effect.sync(() => ({ ...NO_FACTS, ...state.facts })),
      unsent: (keys) => Effect.sync(() => keys.map((key) => !state.sent.has(keyOf(key)))),
      end: (keys) => Effect.sync(() => void state.ended.push(...keys)),
    }),
    Layer.mock(ActivityStore, {
      sources: () =>
        Effect.sync(() => state.silent.map((one) => ({ ...one, lastAt: null, lastEventId: null, days: [0] }))),
    }),
    Layer.mock(Sources, {
      cached: () => undefined,
      list: Effect.succeed([
        { id: 5, name: "Orders" },
        { id: 9, name: "Notices" },
      ] as never),
      forIntake: (id) => Effect.sync(() => Option.fromNullishOr(id === 9 ? state.source : null)),
    }),
    Layer.succeed(EventLog, {
      append: async (request) => {
        state.attempts++
        state.onAppend(request)
        if (state.isDown)
          return Result.fail(new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false }))
        if (request.sourceVersion !== state.source?.version) return Result.fail(new SourceChanged({ sourceId: 9 }))
        state.appended.push(request)
        state.sent.add(keyOf(request.notice! as NoticeKey))
        return Result.succeed([{ id: 1, repeatOf: null, empty: false }])
      },
    }),
    Layer.mock(ShapeStore, {
      read: () => Effect.succeed({ shapes: new Map(), now: 0 }),
      learn: () => Effect.succeed(false),
    }),
    Layer.succeed(DiskSpace, UNKNOWN_DISK),
  )
  const send = () =>
    Effect.runPromise(
      Effect.result(SendNotices.use(({ send: round }) => round)).pipe(
        Effect.provide(Layer.provide(SendNotices.layer, ports)),
        Effect.map((result) => (Result.isSuccess(result) ? result.success : result.failure)),
      ),
    )
  return { state, send }
}

it("a notice is an event of the source of notices, accepted together with the record of its cause", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1) }
  expect(await send()).toBe(1)
  const [request] = state.appended
  expect(request).toMatchObject({
    channel: "webhook",
    history: false,
    sourceId: 9,
    sourceVersion: 1,
    original: null,
    notice: { kind: "address.failing", subject: 1, aboutAddress: 1 },
  })
  expect(request!.events).toMatchObject([{ empty: false, fingerprint: null }])
  expect(JSON.parse(request!.events[0]!.text)).toMatchObject({ kind: "address.failing", address_id: 1, status: 500 })
  expect(request!.filtered).toBeUndefined()
})

it("a notice is sent once, however many rounds find its cause", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(2) }
  state.sent.add("address.failing 1")
  expect(await send()).toBe(1)
  expect(await send()).toBe(0)
  expect(state.appended.map(({ notice }) => notice?.subject)).toEqual([2])
})

it("a round sends two hundred notices, and the next ones the rest", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(201) }
  expect([await send(), await send(), await send()]).toEqual([200, 1, 0])
  expect(new Set(state.appended.map(({ notice }) => notice?.subject)).size).toBe(201)
})

it("no notice is sent while notices are off, or were never on", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1), open: [{ kind: "disk.filling", subject: 0, instance: "" }] }
  for (const notices of [null, { ...NOTICES, on: false }]) {
    state.notices = notices
    expect(await send()).toBe(0)
  }
  expect([state.attempts, state.ended]).toEqual([0, []])
})

it("a cause that is over is ended, so that it may give a notice again", async () => {
  const { state, send } = cabinet()
  const key: NoticeKey = { kind: "deliveries.waiting", subject: 7, instance: "" }
  state.facts = { open: [key, { kind: "disk.filling", subject: 0, instance: "" }] }
  expect(await send()).toBe(0)
  expect(state.ended).toEqual([key])
})

it("a notice uses the current version of its source, if that changes meanwhile", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1) }
  state.onAppend = () => {
    if (state.attempts < 4) state.source = { ...SOURCE, version: state.attempts + 1 }
  }
  expect(await send()).toBe(1)
  expect(state.appended.map(({ sourceVersion }) => sourceVersion)).toEqual([4])
})

it("SendNotices leaves a notice to the next round when its source keeps changing", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1) }
  state.onAppend = () => void (state.source = { ...SOURCE, version: state.attempts + 1 })
  expect(await send()).toBe(0)
  expect([state.attempts, state.appended]).toEqual([4, []])
  state.onAppend = () => {}
  expect(await send()).toBe(1)
})

it("a notice that another process sends meanwhile, or whose source is deleted, is not sent", async () => {
  for (const happens of ["sent", "deleted"] as const) {
    const { state, send } = cabinet()
    state.facts = { failing: failing(1) }
    state.onAppend = () => {
      if (happens === "sent") state.sent.add("address.failing 1")
      state.source = happens === "sent" ? { ...SOURCE, version: 2 } : null
    }
    expect(await send()).toBe(0)
    expect([state.attempts, state.appended]).toEqual([1, []])
  }
})

it("SendNotices fails when the store is unavailable", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1) }
  state.isDown = true
  expect(await send()).toBeInstanceOf(StoreUnavailable)
})

it("a quiet source gives a notice with its name; the source of notices and a deleted one do not", async () => {
  const { state, send } = cabinet()
  state.silent = [
    { sourceId: 5, silence: QUIET },
    { sourceId: 6, silence: QUIET },
    { sourceId: 9, silence: QUIET },
  ]
  expect(await send()).toBe(1)
  expect(JSON.parse(state.appended[0]!.events[0]!.text)).toMatchObject({ source_id: 5, source_name: "Orders" })
  state.sent.clear()
  state.silent = [{ sourceId: 5, silence: null }]
  expect(await send()).toBe(0)
})

it("a notice goes to those addresses with a filter that it passes", async () => {
  const { state, send } = cabinet()
  state.facts = { failing: failing(1) }
  state.source = {
    ...SOURCE,
    filtered: [
      filteredAddress(1, [{ fc: "kind", fo: "eq", fv: "address.failing" }]),
      filteredAddress(2, [{ fc: "kind", fo: "eq", fv: "disk.filling" }]),
    ],
  }
  expect(await send()).toBe(1)
  expect(state.appended[0]!.filtered).toEqual({ addresses: [1, 2], passed: [[1]] })
})
