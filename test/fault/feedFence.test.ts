/**
 * The feed while accepts commit late, out of order, or not at all: every reader sees every committed event once, in the same
 * order, and only accepts hold the feed back.
 */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"
import { testCabinetLayer } from "../support/testCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const neighbour = withDatabase()

const WRITERS = 8
const ROUNDS = 40
const READERS = 3

/** A seeded generator, so that a failing run can be repeated. */
const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

const batchOf = (sourceId: number, payload: string) => {
  const request: AcceptRequest = {
    sourceId,
    sourceVersion: 1,
    channel: "webhook",
    history: false,
    events: [{ ...fingerprintedEvent(new Map([["n", payload]])), fingerprint: null }],
    original: null,
  }
  return acceptStatement(
    planBatch([request, request], () => ({ table: undefined, waits: false }), bodyKeys("00".repeat(32))),
  )
}

it("FeedStore.page shows every committed event once and in one order while accepts commit late or abort", async () => {
  const program = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const feed = yield* FeedStore
    const source = yield* Sources.use((sources) => sources.create({ name: "Fire" }))
    yield* sql`SELECT cabinet.check_epoch()`
    let writing = true

    const writer = Effect.fnUntraced(function* (n: number) {
      const dice = random(n * 7919 + 1)
      for (let round = 0; round < ROUNDS; round++) {
        const { text, values } = batchOf(source.id, `${n}/${round}`)
        const abort = dice() < 0.2
        yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql.unsafe(text, values)
              yield* sql.unsafe(`SELECT pg_sleep(${(dice() * dice() * 0.05).toFixed(4)})`)
              if (abort) return yield* Effect.fail("aborted" as const)
            }),
          )
          .pipe(
            Effect.catchIf(
              (error) => error === "aborted",
              () => Effect.void,
            ),
          )
      }
    })

    const reader = Effect.fnUntraced(function* (n: number) {
      const seen: Array<number> = []
      let after: FeedPosition = FEED_START
      for (let last = false; ;) {
        const page = yield* feed.page({ after, limit: 5 + n * 7, sourceId: null, channel: null })
        seen.push(...page.items.texts().map((item) => (JSON.parse(item) as { id: number }).id))
        after = page.next
        if (!page.hasMore) {
          if (last) return seen
          last = !writing
        }
      }
    })

    // Neither session accepts events: one has a transaction id in this database, the other in another database of the server.
    const idleWriter = Effect.gen(function* () {
      const connection = yield* (yield* PgClient.PgClient).reserve
      for (const statement of ["BEGIN", "SELECT pg_current_xact_id()::text"])
        yield* connection.execute(statement, [], undefined)
    })
    yield* idleWriter
    yield* Effect.provide(idleWriter, yield* Layer.build(Layer.fresh(OwnerClient.layer({ url: neighbour.url }))))

    const writers = Effect.forEach(
      Array.from({ length: WRITERS }, (_, n) => n),
      writer,
      { concurrency: "unbounded" },
    ).pipe(Effect.andThen(Effect.sync(() => (writing = false))))
    const [, ...readings] = yield* Effect.all([writers, ...Array.from({ length: READERS }, (_, n) => reader(n))], {
      concurrency: "unbounded",
    })
    const committed = yield* sql<{ id: string }>`SELECT id::text AS id FROM cabinet.event ORDER BY epoch, xid, event.id`
    return {
      readings: readings as ReadonlyArray<ReadonlyArray<number>>,
      committed: committed.map((row) => Number(row.id)),
    }
  })
  const { readings, committed } = await Effect.runPromise(
    Effect.scoped(program).pipe(
      Effect.provide(
        Layer.provideMerge(
          testCabinetLayer(database.url),
          OwnerClient.layer({ url: database.url, maxConnections: 20 }),
        ),
      ),
    ),
  )
  assert.isAbove(committed.length, WRITERS * ROUNDS)
  for (const seen of readings) assert.deepStrictEqual(seen, committed)
})

it("FeedStore.page shows nothing past a running accept, and everything once it ends", async () => {
  const program = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const feed = yield* FeedStore
    const source = yield* Sources.use((sources) => sources.create({ name: "Order" }))
    const page = feed.page({ after: FEED_START, limit: 100, sourceId: source.id, channel: null })
    const { text, values } = batchOf(source.id, "late")
    const early = batchOf(source.id, "early")
    const during = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(text, values)
        const other = yield* Effect.provide(
          PgClient.PgClient.use((client) => client.unsafe(early.text, early.values)),
          OwnerClient.layer({ url: database.url }),
          { local: true },
        )
        assert.strictEqual(other.length, 2)
        return yield* page
      }),
    )
    assert.strictEqual(during.items.length, 0)
    const after = yield* page
    assert.strictEqual(after.items.length, 4)
  })
  await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(testCabinetLayer(database.url))))
})
