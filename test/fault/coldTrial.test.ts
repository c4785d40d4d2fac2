/**
 * Many old events move into files: the feed walked through them equals the feed walked before, and the figures of reading from
 * files are printed. COLD_EVENTS: how many; half of them move. COLD_S3: into a bucket of the tests' own service instead of a directory.
 */
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Option } from "effect"
import { assert, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { LOOPBACK, S3_KEYS, type S3Service, startS3 } from "../support/s3Service.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { testCabinet } from "../support/testCabinet.ts"

const EVENTS = Number(process.env["COLD_EVENTS"] ?? 20_000)
const database = withDatabase()

const INSERT = `
INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
SELECT 1, 1000 + n / 20, n, 1, CASE WHEN n <= ${EVENTS / 2} THEN '2020-01-01'::timestamptz ELSE cabinet.now() END + n * interval '1 millisecond',
  'webhook', false, false, json_build_object('order', n, 'total', round((random() * 1000)::numeric, 2), 'name', 'Customer ' || n % 5000,
    'email', 'c' || n % 5000 || '@example.org', 'city', (ARRAY['Berlin', 'Paris', 'Kyiv', 'Oslo'])[1 + n % 4], 'token', md5(n::text),
    'note', 'Delivered to the door, please ring twice ' || n % 100)
FROM generate_series(1, ${EVENTS}) n`

const bucketOf = ({ endpoint }: S3Service) => ({
  coldStore: "s3://events/cabinet",
  coldEndpoint: endpoint,
  awsAccessKeyId: S3_KEYS.accessKeyId,
  awsSecretAccessKey: S3_KEYS.secretAccessKey,
  allowedNetworks: [LOOPBACK],
})

/** Says which step begins, and after how many seconds: a step that fails is known. */
const steps = () => {
  const begun = performance.now()
  return (step: string) => console.log(`${((performance.now() - begun) / 1000).toFixed(0)} s: ${step}`)
}

const median = (times: ReadonlyArray<number>): number => times.toSorted((one, other) => one - other)[times.length >> 1]!

it("half of many events are in files, and the feed is the same", { timeout: 3_600_000 }, async () => {
  const step = steps()
  const root = mkdtempSync(join(tmpdir(), "cold-trial-"))
  const service = process.env["COLD_S3"] === undefined ? null : await startS3()
  const cabinet = testCabinet(database.url, { settings: service === null ? { coldStore: root } : bucketOf(service) })
  const sql = (text: string) => runSql(database.url, text)
  await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))
  await sql(`INSERT INTO cabinet.epoch (epoch, system_identifier, server_started)
    SELECT 2, system_identifier, pg_postmaster_start_time() FROM pg_control_system()`)
  step("insert")
  await sql(INSERT)
  await sql("UPDATE cabinet.follower SET epoch = 3 WHERE kind <> 'deliveries'")
  step("vacuum")
  await sql("VACUUM ANALYZE cabinet.event")
  const size = async () => Number((await sql("SELECT pg_total_relation_size('cabinet.event') AS n"))[0]!["n"])

  const walk = async () => {
    const hash = createHash("sha256")
    const times: Array<number> = []
    let cursor: string | undefined
    for (let hasMore = true; hasMore;) {
      const place = cursor === undefined ? [] : [["cursor", cursor] as const]
      const begun = performance.now()
      const page = await cabinet.runPromise(Feed.use((feed) => feed.page([["limit", "1000"], ...place])))
      times.push(performance.now() - begun)
      for (const text of page.items.texts()) hash.update(text)
      page.items.release()
      cursor = page.nextCursor
      hasMore = page.hasMore
    }
    return { digest: hash.digest("hex"), times }
  }

  try {
    step("walk of rows")
    const before = await walk()
    const rowBytes = await size()
    step("move")
    const begun = performance.now()
    await cabinet.runPromise(moveEvents({ afterHours: 24 * 180 }, false))
    const moved = performance.now() - begun
    await sql("UPDATE cabinet.cold_file SET listed_at = listed_at - interval '11 minutes'")
    step("delete")
    const deleting = performance.now()
    await cabinet.runPromise(moveEvents({ afterHours: 24 * 180 }, true))
    const deleted = performance.now() - deleting
    const left = Number((await sql("SELECT count(*)::int AS n FROM cabinet.event"))[0]!["n"])
    assert.strictEqual(left, EVENTS / 2)
    step("walk across the border")
    const after = await walk()
    assert.strictEqual(after.digest, before.digest)
    step("by id")
    const found: Array<number> = []
    for (let n = 0; n < 50; n++) {
      const id = 1 + Math.floor((n * EVENTS) / 2 / 50)
      const at = performance.now()
      assert.isTrue(Option.isSome(await cabinet.runPromise(EventDetail.use((detail) => detail.find(id)))))
      found.push(performance.now() - at)
    }
    step("vacuum full")
    await sql("VACUUM FULL cabinet.event")
    const sizes =
      service === null
        ? readdirSync(root).map((name) => statSync(join(root, name)).size)
        : [...service.objects.values()].map(({ length }) => length)
    const fileBytes = sizes.reduce((sum, bytes) => sum + bytes, 0)
    const pages = EVENTS / 2 / 1000
    console.log({
      events: EVENTS,
      moveSeconds: moved / 1000,
      deleteSeconds: deleted / 1000,
      rowMegabytes: rowBytes / 1e6,
      rowMegabytesAfterVacuumFull: (await size()) / 1e6,
      files: sizes.length,
      fileMegabytes: fileBytes / 1e6,
      pageOfRowsMillis: median(before.times.slice(0, pages)),
      pageOfFilesMillis: median(after.times.slice(0, pages)),
      eventOfFilesMillis: median(found),
    })
  } finally {
    await cabinet.dispose()
    await service?.close()
    rmSync(root, { recursive: true })
  }
})
