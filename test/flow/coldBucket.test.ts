/** Old events in a bucket of S3: the same as in a directory, and what readers and the work do while the bucket does not serve. */
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { ColdHistory } from "@data-cabinet/core/cold/ColdHistory"
import { ColdOverview } from "@data-cabinet/core/cold/ColdOverview"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { Effect, Fiber } from "effect"
import { afterAll, afterEach, assert, beforeAll, it } from "vitest"
import { COLD_LIMITS, coldCabinet, OLD_EVENTS } from "../support/coldCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { LOOPBACK, type Refusal, S3_KEYS, type S3Service, startS3 } from "../support/s3Service.ts"
import { testCabinet } from "../support/testCabinet.ts"

const database = withDatabase()
let service: S3Service
let old: Awaited<ReturnType<typeof coldCabinet>>
let before: Awaited<ReturnType<(typeof old)["walk"]>>

const settings = () => ({
  coldStore: "s3://events/cabinet/old",
  coldEndpoint: service.endpoint,
  awsAccessKeyId: S3_KEYS.accessKeyId,
  awsSecretAccessKey: S3_KEYS.secretAccessKey,
  allowedNetworks: [LOOPBACK],
})

beforeAll(async () => {
  service = await startS3()
  old = await coldCabinet(database.url, settings())
  await old.followersReach(3)
  before = await old.walk(7)
})
afterEach(() => {
  service.refuse = () => null
  service.silent = () => false
})
afterAll(async () => {
  await old.cabinet.dispose()
  await service.close()
})

const SLOW: Refusal = { status: 503, code: "SlowDown", message: "Please reduce your request rate." }
const DENIED: Refusal = { status: 403, code: "AccessDenied", message: "Access Denied" }

it.each<readonly [string, () => Refusal | null, RegExp]>([
  ["refuses", () => DENIED, /^The bucket refused to list its objects: 403 AccessDenied: Access Denied\.$/],
  ["is not there", () => ({ ...DENIED, status: 404, code: "NoSuchBucket" }), /404 NoSuchBucket.* Create the bucket/],
  ["is slow", () => SLOW, /503 SlowDown: Please reduce your request rate\./],
])("events stay in the database while the bucket %s, and the status says why", async (_, refuse, words) => {
  service.refuse = refuse
  await old.move().then(
    () => assert.fail("It moved events"),
    () => undefined,
  )
  const status = await old.cabinet.runPromise(ColdOverview.use((cold) => cold.status))
  assert.match(status.error!, words)
  assert.deepEqual([status.location, status.files.length, await old.rows()], ["s3://events/cabinet/old", 0, OLD_EVENTS])
  assert.deepEqual(await old.walk(7), before)
})

it("the feed is the same to the last byte once events are in the bucket, and every file is one object below its prefix", async () => {
  await old.move()
  await old.settle()
  await old.move()
  assert.strictEqual(await old.rows(), 1)
  assert.strictEqual(service.names("cabinet/old/").length, 3)
  assert.strictEqual(service.objects.size, 3)
  assert.deepEqual(await old.walk(7), before)
  const checked = await old.cabinet.runPromise(ColdHistory.use((cold) => cold.verify))
  assert.isTrue(checked.every(({ problem }) => problem === null))
})

/** Another process, which has read no file yet. */
const fresh = async <A>(work: (cabinet: ReturnType<typeof testCabinet>) => Promise<A>): Promise<A> => {
  const cabinet = testCabinet(database.url, { settings: settings() })
  try {
    return await work(cabinet)
  } finally {
    await cabinet.dispose()
  }
}

const page = (cursor?: string) =>
  Feed.use((feed) => feed.page([["limit", "5"], ...(cursor === undefined ? [] : [["cursor", cursor] as const])]))

it("while the bucket does not serve, old events are refused in words and young ones are read; then all are again", async () => {
  const [lastOld, young] = before
    .flatMap(({ texts, cursors }) => texts.map((text, index) => ({ text, cursor: cursors[index]! })))
    .slice(-2)
  await fresh(async (cabinet) => {
    service.refuse = () => SLOW
    const error = await cabinet.runPromise(Effect.flip(page()))
    assert.strictEqual(error._tag, "StoreUnavailable")
    assert.match(error.message, /^Old events cannot be read: The bucket refused to read a file: 503 SlowDown/)
    assert.isAbove(Number("retryAfter" in error && error.retryAfter), 0)
    const other = await cabinet.runPromise(Effect.flip(EventDetail.use((detail) => detail.find(5))))
    assert.strictEqual(other._tag, "StoreUnavailable")
    // Readers that wait for their turn meanwhile fail together. Each by itself would send three requests.
    service.requests.length = 0
    const all = await cabinet.runPromise(
      Effect.all(
        Array.from({ length: 9 }, () => Effect.flip(page())),
        { concurrency: 9 },
      ),
    )
    assert.isTrue(all.every(({ _tag }) => _tag === "StoreUnavailable"))
    assert.isBelow(service.requests.length, 9 * 3)
    const rows = await cabinet.runPromise(page(young!.cursor))
    assert.deepEqual(rows.items.texts(), [])
    assert.strictEqual((await cabinet.runPromise(EventDetail.use((detail) => detail.find(OLD_EVENTS))))._tag, "Some")
    service.refuse = () => null
    assert.deepEqual((await cabinet.runPromise(page())).items.texts(), before.flatMap(({ texts }) => texts).slice(0, 5))
    assert.deepEqual((await cabinet.runPromise(page(lastOld!.cursor))).items.texts(), [young!.text])
  })
})

it("however many clients wait for the bucket, pages of young events are read meanwhile", async () => {
  const young = before.at(-1)!.cursors.at(-1)
  await fresh(async (cabinet) => {
    let requests = 0
    service.silent = () => ++requests > 0
    const waiting = Array.from({ length: 9 }, () => cabinet.runFork(page()))
    while (requests < 2) await cabinet.runPromise(page(young))
    assert.isFalse((await cabinet.runPromise(page(young))).hasMore)
    await cabinet.runPromise(Fiber.interruptAll(waiting))
  })
})

it("one error of the bucket, and parts that are cut, are not noticed by readers or are refused", async () => {
  await fresh(async (cabinet) => {
    let errors = 0
    service.refuse = () => (errors++ === 0 ? { ...SLOW, status: 500, code: "InternalError" } : null)
    assert.strictEqual((await cabinet.runPromise(page())).items.texts().length, 5)
    assert.isAbove(errors, 1)
  })
  await fresh(async (cabinet) => {
    service.refuse = () => ({
      status: 206,
      code: "",
      message: "",
      body: "PAR1",
      headers: { "content-range": "bytes 0-9/10" },
    })
    assert.match((await cabinet.runPromise(Effect.flip(page()))).message, /responded with 4 bytes of a file instead of/)
  })
})

it("a file that the bucket has lost is named, and a file that was replaced is removed", async () => {
  const [name] = service.names("cabinet/old/")
  const kept = service.objects.get(name!)!
  service.objects.delete(name!)
  await fresh(async (cabinet) => {
    const error = await cabinet.runPromise(Effect.flip(page()))
    assert.match(
      error.message,
      /^Old events cannot be read: The file .*\.parquet is missing in s3:\/\/events\/cabinet\/old\.$/,
    )
    const moved = await cabinet.runPromise(Effect.flip(moveEvents(COLD_LIMITS, false)))
    assert.match(moved.message, /is missing, with the events from .* Put it back/)
  })
  service.objects.set(name!, kept)
  await old.cabinet.runPromise(ColdHistory.use((cold) => cold.thaw("all")))
  await old.sql("UPDATE cabinet.cold_leftover SET remove_at = 'epoch'")
  await old.sql("UPDATE cabinet.event SET received_at = cabinet.now()")
  await old.move()
  assert.deepEqual(service.names(""), [])
})
