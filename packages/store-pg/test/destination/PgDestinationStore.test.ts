/** Destinations on a real PostgreSQL: what is refused, and that only the holder of the lease plans and moves. */
import { randomBytes } from "node:crypto"
import { DestinationStore } from "@data-cabinet/core/destination/DestinationStore"
import { DESTINATION, DestinationAdapters, MAX_DESTINATIONS } from "@data-cabinet/core/destination/Destination"
import { destinationFollower } from "@data-cabinet/core/destination/WriteDestination"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FollowerStore, type HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { SecretCipher } from "@data-cabinet/store-pg/key/SecretCipher"
import { Deferred, Effect, Fiber, Option, Queue } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { stopClock } from "../../../../test/support/stoppedClock.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let sourceId: number
beforeAll(async () => {
  cabinet = testCabinet(database.url, { settings: { secretKey: new SecretCipher([randomBytes(32)]) } })
  await stopClock(database.run)
  sourceId = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
  await cabinet.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, "body", false))))
})
afterAll(() => cabinet.dispose())
beforeEach(() => database.run("DELETE FROM cabinet.follower WHERE kind = 'destination'"))

type Store = DestinationStore["Service"]
const store = <A, E>(work: (all: Store) => Effect.Effect<A, E>) => cabinet.runPromise(DestinationStore.use(work))
const add = (location: string, sources: ReadonlyArray<number> | null = null) =>
  store((all) =>
    all.add(
      { location, format: "parquet", sources, tag: "0a1b2c3d", ...S3_SETTINGS.defaults, credentials: null },
      FEED_START,
    ),
  )
const claim = async () =>
  Option.getOrNull(await cabinet.runPromise(FollowerStore.use((followers) => followers.claim(DESTINATION))))
/** The end of every lease and rest. */
const later = () => database.run("UPDATE cabinet.clock SET shift = shift + interval '10 minutes'")
const at = (id: number) => ({ epoch: 1, xid: 700n, id })

it("add refuses a location that is taken, an unknown source, and more than the most", async () => {
  const added = await add("events", [sourceId])
  assert.isObject(added)
  assert.deepEqual(await store((all) => all.list), [added as never])
  assert.strictEqual(await add("events"), "exists")
  assert.strictEqual(await add("others", [sourceId, 999_999]), "no_source")
  const more = Array.from({ length: MAX_DESTINATIONS }, (_, n) => `more/${n}`)
  const outcomes = await Promise.all(more.map((location) => add(location)))
  assert.lengthOf(
    outcomes.filter((outcome) => outcome === "full"),
    1,
  )
})

it("pause leaves a destination unclaimed, and resume makes it due at once, even one that waits after a failure", async () => {
  const { id } = (await add("events")) as { readonly id: number }
  const held = (await claim())!
  await cabinet.runPromise(FollowerStore.use((followers) => followers.fail(held, "the disk is full")))
  assert.isNull(await claim())
  assert.isTrue(await store((all) => all.resume(id)))
  assert.isNotNull(await claim())
  await later()
  assert.isTrue(await store((all) => all.pause(id)))
  assert.isNull(await claim())
  assert.isNull(await cabinet.runPromise(FollowerStore.use((followers) => followers.nextDue(DESTINATION))))
  await store((all) => all.resume(id))
  assert.isNotNull(await claim())
  assert.isFalse(await store((all) => all.pause(id + 1_000)))
})

it("work, plan and move are those of the current lease; the plan stays until the next", async () => {
  const { id } = (await add("events")) as { readonly id: number }
  const first = (await claim())!
  assert.deepInclude(Option.getOrThrow((await store((all) => all.work(first))) as Option.Option<object>), {
    planned: null,
    place: { epoch: 0, xid: 0n, id: 0 },
  })
  assert.isTrue(await store((all) => all.plan(first, at(5))))
  await later()
  const second = (await claim())!
  assert.strictEqual(await store((all) => all.work(first)), "lost")
  assert.isFalse(await store((all) => all.plan(first, at(9))))
  assert.isFalse(await store((all) => all.move(first, at(9))))
  assert.deepInclude(Option.getOrThrow((await store((all) => all.work(second))) as Option.Option<object>), {
    planned: at(5),
  })
  assert.isTrue(await store((all) => all.move(second, at(5))))
  assert.isFalse(await store((all) => all.move(second, at(4))))
  await store((all) => all.pause(id))
  assert.isTrue(Option.isNone((await store((all) => all.work(second))) as Option.Option<unknown>))
  await store((all) => all.remove(id))
  assert.strictEqual(await store((all) => all.work(second)), "lost")
})

it("the credentials of a bucket are kept unreadable, changed alone, and given to the holder only", async () => {
  const location = "s3://events/orders"
  const keys = { accessKeyId: "AKID", secretAccessKey: "hush", sessionToken: null }
  const reached = { endpoint: "https://s3.example.com", region: "eu-west-1", urlStyle: "path" } as const
  const made = { location, format: "ndjson", sources: null, tag: "0a1b2c3d", ...reached, credentials: keys } as const
  const added = await store((all) => all.add(made, FEED_START))
  assert.deepInclude(added, { ...reached, hasCredentials: true })
  assert.notProperty(added, "credentials")
  const stored = async () =>
    (await database.run("SELECT credentials FROM cabinet.destination"))[0]!["credentials"] as string
  assert.match(await stored(), /^enc\.v1\./)
  const { id } = added as { readonly id: number }
  const before = await stored()
  const elsewhere = { ...reached, region: null }
  assert.isTrue(await store((all) => all.change(id, reached, { ...elsewhere, credentials: null })))
  assert.strictEqual(await stored(), before)
  assert.deepInclude(Option.getOrThrow((await store((all) => all.place(id))) as Option.Option<object>), {
    region: null,
    endpoint: reached.endpoint,
    credentials: keys,
  })
  const changed = { ...reached, credentials: { ...keys, secretAccessKey: "other" } }
  // Two at once: the second one would send the credentials of the first to an endpoint that it did not see.
  assert.isFalse(await store((all) => all.change(id, reached, changed)))
  assert.strictEqual(await stored(), before)
  assert.isTrue(await store((all) => all.change(id, elsewhere, changed)))
  const { destination } = Option.getOrThrow(
    (await store((all) => Effect.flatMap(Effect.promise(claim), (held) => all.work(held!)))) as Option.Option<{
      readonly destination: object
    }>,
  )
  assert.deepInclude(destination, { credentials: { ...keys, secretAccessKey: "other" } })
})

it("restart begins again with another tag, and the holder of the earlier claim moves nothing any more", async () => {
  const { id } = (await add("events")) as { readonly id: number }
  const held = (await claim())!
  await store((all) => all.plan(held, at(5)))
  await store((all) => all.move(held, at(5)))
  await cabinet.runPromise(FollowerStore.use((followers) => followers.fail(held, "the disk is full")))
  assert.isTrue(await store((all) => all.restart(id, "ffffffff")))
  assert.isFalse(await store((all) => all.move(held, at(9))))
  const work = Option.getOrThrow(
    (await store((all) => Effect.flatMap(Effect.promise(claim), (next) => all.work(next!)))) as Option.Option<object>,
  )
  assert.deepInclude(work, { planned: null, place: { epoch: 0, xid: 0n, id: 0 } })
  const states = await cabinet.runPromise(FollowerStore.use((followers) => followers.list))
  assert.deepInclude(
    states.find(({ kind }) => kind === DESTINATION)!,
    { failures: 0, error: null, movedAt: null },
  )
})

it("opening ends when the destination is paused or restarted meanwhile, and before its lease does", async () => {
  const { id } = (await add("events")) as { readonly id: number }
  /** The end of a turn whose place never opens, after this has happened meanwhile, and these seconds. */
  const turn = async (meanwhile: Effect.Effect<unknown, unknown, DestinationStore>, seconds: number) => {
    const held = (await claim())!
    const work = Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const open = () =>
        Effect.onInterrupt(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never), () =>
          Deferred.succeed(closed, undefined),
        )
      const adapters = { directoryObstacle: null, open }
      const known = yield* DestinationStore
      const looked = yield* Queue.unbounded<void>()
      const watched = {
        ...known,
        work: (follower: HeldFollower) => Effect.ensuring(known.work(follower), Queue.offer(looked, undefined)),
      }
      const fiber = yield* destinationFollower
        .turn(held)
        .pipe(
          Effect.provideService(DestinationAdapters, adapters),
          Effect.provideService(DestinationStore, watched),
          Effect.forkChild,
        )
      yield* Deferred.await(begun)
      yield* Queue.take(looked)
      yield* meanwhile
      for (let second = 1; second < seconds; second++) {
        yield* TestClock.adjust("1 second")
        // Queries have deadlines by this clock: the one that looks has its response first.
        yield* Queue.take(looked)
      }
      yield* TestClock.adjust("1 second")
      const end = yield* Fiber.join(fiber).pipe(Effect.catch(({ message }) => Effect.succeed(message)))
      yield* Deferred.await(closed)
      return end
    })
    return cabinet.runPromise(Effect.scoped(Effect.provide(work, TestClock.layer())))
  }
  const all = DestinationStore
  assert.strictEqual(
    await turn(
      all.use((known) => known.pause(id)),
      1,
    ),
    "end",
  )
  await store((known) => known.resume(id))
  await later()
  assert.strictEqual(
    await turn(
      all.use((known) => known.restart(id, "ffffffff")),
      1,
    ),
    "lost",
  )
  assert.strictEqual(await turn(Effect.void, 15), "It was not reached within 15 seconds.")
})
