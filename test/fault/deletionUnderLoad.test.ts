/**
 * Deletion under a full load of intake: old originals and attempts expire, and events are purged and trashed, while events
 * arrive. Nothing else is deleted.
 */
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Trash } from "@data-cabinet/core/event/Trash"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { deleteExpired } from "@data-cabinet/store-pg/maintenance/Retention"
import { Effect } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { originalRequest } from "../support/originalRequest.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
let store: ReturnType<typeof testCabinet>
beforeEach(async () => {
  database = await testDatabase()
  store = testCabinet(database.url)
})
afterEach(async () => {
  await store.dispose()
  await database.drop()
})

const OLD = 300
const NEW = 1500
const SENDERS = 12
/** Of each kind of deletion at least, however soon the load ends. */
const ROUNDS = 2

interface Seen {
  readonly id: number
  readonly payload: object
  readonly deleted_at: string | null
}

const wholeFeed = Effect.gen(function* () {
  const feed = yield* FeedStore
  const items: Array<Seen> = []
  for (let after = FEED_START; ;) {
    const page = yield* feed.page({ after, limit: 1000, sourceId: null, channel: null })
    items.push(...page.items.texts().map((item) => JSON.parse(item) as Seen))
    if (!page.hasMore) return items
    after = page.next
  }
})

it("retention, trash and purge under a full load of intake lose nothing else", async () => {
  const source = await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))
  await store.runPromise(AddressStore.use((book) => book.create({ url: "https://example.com/", sources: "all" })))
  const append = (n: number) =>
    Effect.map(
      EventLog.use((log) =>
        appendEvents(log, {
          sourceId: source.id,
          sourceVersion: 1,
          channel: "webhook",
          history: false,
          events: [{ ...fingerprintedEvent(new Map([["n", String(n)]])), fingerprint: null }],
          original: originalRequest(`n=${n}`),
        }),
      ),
      ([receipt]) => receipt!.id,
    )
  /** The body of each event, by event id. */
  const sent = new Map<number, number>()
  const accept = (from: number, to: number) =>
    Effect.forEach(
      Array.from({ length: to - from }, (_, at) => from + at),
      (n) => Effect.map(append(n), (id) => void sent.set(id, n)),
      { concurrency: SENDERS, discard: true },
    )

  await store.runPromise(accept(0, OLD))
  const old = [...sent.keys()]
  // Each also has an attempt, which expires by age as well.
  await database.run(
    `INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, status, response_body)
     SELECT id, 1, address_id, cabinet.now(), true, 1, 200, 'n' FROM cabinet.delivery_all`,
  )
  await database.run("UPDATE cabinet.clock SET shift = interval '91 days'")

  const purged = new Set<number>()
  const trashed = new Set<number>()
  let loading = true
  const takeBack = Effect.gen(function* () {
    for (let round = 0; loading || round < ROUNDS; round++) {
      const there = [...sent.keys()].filter((id) => !purged.has(id) && !trashed.has(id))
      const [one, two, three] = [there[0]!, there[Math.floor(there.length / 2)]!, there.at(-1)!]
      yield* Trash.use((trash) => trash.purge([one, three]))
      purged.add(one).add(three)
      yield* Trash.use((trash) => trash.trash(source.id, [two]))
      trashed.add(two)
    }
  })
  const forget = Effect.gen(function* () {
    for (let round = 0; loading || round < ROUNDS; round++) {
      yield* deleteExpired({ originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 })
      yield* DeliveryQueue.use((queue) => queue.prune({ deliveredDays: 30, failedDays: 90 }))
    }
  })
  const load = accept(OLD, OLD + NEW).pipe(Effect.ensuring(Effect.sync(() => (loading = false))))
  await store.runPromise(Effect.all([load, takeBack, forget], { concurrency: "unbounded", discard: true }))

  expect(sent.size).toBe(OLD + NEW)
  const feed = await store.runPromise(wholeFeed)
  expect(feed.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([...sent.keys()].toSorted((a, b) => a - b))
  for (const { id, payload, deleted_at } of feed) {
    expect(payload).toEqual(purged.has(id) ? {} : { n: String(sent.get(id)) })
    expect(deleted_at !== null).toBe(purged.has(id) || trashed.has(id))
  }
  const gone = (id: number) => purged.has(id) || trashed.has(id)
  const ids = async (statement: string) =>
    (await database.run(`SELECT q.id::float8 AS id FROM (${statement}) q ORDER BY 1`)).map((row) => row["id"])
  const sentIds = (keep: (id: number) => boolean) => [...sent.keys()].filter(keep).toSorted((a, b) => a - b)
  // A row whose table could not get its column in time is written a moment later.
  await expect.poll(() => database.run("SELECT FROM cabinet.deferred_row LIMIT 1")).toEqual([])
  expect(await ids("SELECT _event_id AS id FROM sources.orders")).toEqual(sentIds((id) => !gone(id)))
  expect(await ids("SELECT event_id AS id FROM cabinet.delivery_all WHERE state = 'due'")).toEqual(
    sentIds((id) => !gone(id)),
  )
  // The last rows of old days are deleted in the next round, once no session reads them.
  await store.runPromise(deleteExpired({ originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }))
  await store.runPromise(DeliveryQueue.use((queue) => queue.prune({ deliveredDays: 30, failedDays: 90 })))
  const isOld = new Set(old)
  // Searched by content, to find an original that its event no longer refers to.
  expect(await ids("SELECT substr(convert_from(body, 'UTF8'), 3)::int AS id FROM cabinet.original_request")).toEqual(
    sentIds((id) => !purged.has(id) && !isOld.has(id))
      .map((id) => sent.get(id)!)
      .toSorted((a, b) => a - b),
  )
  expect(await ids("SELECT delivery_id AS id FROM cabinet.attempt")).toEqual([])
})
