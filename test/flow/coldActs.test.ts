/** What is done with events of the past works when they are in files: sent again, reread, undone, and read for a new table. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { testCabinet } from "../support/testCabinet.ts"

const database = withDatabase()
const coldStore = mkdtempSync(join(tmpdir(), "cold-acts-"))
let mover: ReturnType<typeof testCabinet>
let receiver: Receiver
let cabinet: Cabinet
let source: { readonly id: number; readonly intakeUrl: string }
beforeAll(async () => {
  receiver = await startReceiver()
  mover = testCabinet(database.url, { settings: { coldStore } })
  cabinet = await openCabinet({
    databaseUrl: database.url,
    baseUrl: "https://data.example.com",
    allowedNetworks: ["127.0.0.0/8"],
    coldStore,
    delivery: false,
  })
  source = await cabinet.sources.create({ name: "Orders", encoding: "latin-1" })
  await cabinet.addresses.create({ url: receiver.url })
})
afterAll(async () => {
  await cabinet.close()
  await mover.dispose()
  await receiver.close()
  rmSync(coldStore, { recursive: true })
})

const post = async (body: string, type = "application/x-www-form-urlencoded"): Promise<number> => {
  const headers = { "content-type": type }
  const response = await cabinet.fetchHandler(new Request(source.intakeUrl, { method: "POST", body, headers }))
  return ((await response.json()) as { readonly id: number }).id
}

const rows = async () => (await database.run("SELECT id::int AS id FROM cabinet.event ORDER BY id")).map(({ id }) => id)

/** Moves every event, and deletes its row. The followers of the cabinet are put at it. */
const archive = async () => {
  await database.run("UPDATE cabinet.delivery SET state = 'delivered' WHERE state = 'due'")
  const round = async () => {
    const [{ n } = {}] = await database.run(
      "SELECT count(*)::int AS n FROM cabinet.event WHERE id > (SELECT coalesce(max(most_id), 0) FROM cabinet.cold_file)",
    )
    await database.run(`UPDATE cabinet.follower f SET epoch = e.epoch, xid = e.xid, event_id = e.id
      FROM (SELECT epoch, xid, id FROM cabinet.event ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1) e
      WHERE (f.epoch, f.xid, f.event_id) < (e.epoch, e.xid, e.id) AND f.kind <> 'deliveries'`)
    await database.run("DELETE FROM cabinet.cold_hold")
    await database.run("UPDATE cabinet.cold_file SET listed_at = listed_at - interval '11 minutes'")
    await mover.runPromise(moveEvents({ afterHours: 0, fileEvents: Math.max(1, Number(n)), groupEvents: 3 }, true))
    return rows()
  }
  await expect.poll(round, { timeout: 30_000, interval: 10 }).toEqual([])
}

it("an archived event shows its original as sent for as long as that is kept, and is reread from it", async () => {
  const id = await post("name=%CF%F0%E8%E2%E5%F2&total=1")
  const before = await cabinet.events.inspect(id)
  assert.isNotNull(before!.original)
  await archive()
  assert.deepEqual({ ...(await cabinet.events.inspect(id)), deliveries: [] }, { ...before, deliveries: [] })
  const { verdicts } = await cabinet.events.reread([id], { encoding: "windows-1251" })
  assert.strictEqual(verdicts.length, 1)
  assert.deepInclude((await cabinet.events.inspect(id))!.event.payload, { name: "Привет" })
  assert.deepEqual(await rows(), [id])
})

it("the deliveries of a period are sent again with the events that they have", async () => {
  const id = await post("name=again&total=2")
  await archive()
  const to = new Date(Date.now() + 3_600_000).toISOString()
  assert.isAtLeast(await cabinet.addresses.resendRange(1, "2020-01-01T00:00:00Z", to), 1)
  assert.include(await rows(), id)
})

it("an import is undone, and a table is built again, from events that are in files", async () => {
  const csv = { name: "orders.csv", bytes: Buffer.from("name,total\na,3\nb,4\n") }
  await cabinet.imports.file(source.id, csv)
  const [{ id } = {}] = await cabinet.imports.list()
  // The second value is not in the column of the first, and only the event says what the row is to have.
  for (const size of ["5", '"large"']) await post(`{"size":${size}}`, "application/json")
  await archive()
  await cabinet.rebuilds.run(source.id, { columns: [{ column: "size", type: "text" }] })
  const sizes = await database.run("SELECT size FROM sources.orders WHERE size IS NOT NULL ORDER BY _event_id")
  assert.deepEqual(
    sizes.map(({ size }) => size),
    ["5", "large"],
  )
  const texts = await database.run("SELECT total FROM sources.orders WHERE size IS NULL ORDER BY _event_id")
  assert.deepEqual(
    texts.map(({ total }) => String(total)),
    ["1", "2", "3", "4"],
  )
  await archive()
  assert.strictEqual((await cabinet.imports.tryUndo(id!)).events, 2)
  await cabinet.imports.undo(id!)
  const left = await database.run("SELECT total FROM sources.orders WHERE size IS NULL ORDER BY _event_id")
  assert.deepEqual(
    left.map(({ total }) => String(total)),
    ["1", "2"],
  )
})
