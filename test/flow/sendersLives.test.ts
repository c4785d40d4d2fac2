/** Events in a sender's life: its address is rotated while it still uses the old one, and it exceeds a rate. */
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { beginMinute } from "../support/minute.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
/** Two servers of one cabinet, each with its own cache of sources. */
let servers: ReadonlyArray<Cabinet>
let cabinet: Cabinet

beforeAll(async () => {
  const open = () => openCabinet({ databaseUrl: database.url, delivery: false })
  servers = [await open(), await open()]
  cabinet = servers[0]!
})
afterAll(() => Promise.all((servers ?? []).map((server) => server.close())))

const post = async (url: string, at = 0) => {
  const headers = { "content-type": "application/json" }
  return (await servers[at]!.fetchHandler(new Request(url, { method: "POST", headers, body: '{"a":1}' }))).status
}
const both = async (url: string) => [await post(url, 0), await post(url, 1)]

it("every server accepts a rotated address while it is kept, and not afterwards", async () => {
  const { id, intakeUrl: first } = await cabinet.sources.create({ name: "Moving" })
  expect(await both(first)).toEqual([200, 200])
  const { intakeUrl: second, oldSecretUntil } = await cabinet.sources.rotateSecret(id, { keepOldSeconds: 86_400 })
  expect(second).not.toBe(first)
  expect(Math.round((Date.parse(oldSecretUntil!) - Date.now()) / 60_000)).toBeCloseTo(24 * 60, -1)
  expect([await both(first), await both(second)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  // The next rotation ends the older address, and keeps the latest.
  const { intakeUrl: third } = await cabinet.sources.rotateSecret(id, { keepOldSeconds: 3_600 })
  expect([await both(first), await both(second), await both(third)]).toEqual([
    [404, 404],
    [200, 200],
    [200, 200],
  ])
  // Only a hash of the old secret is stored.
  const stored = await database.run(`SELECT s::text AS text FROM cabinet.source s WHERE id = ${id}`)
  expect(JSON.stringify(stored)).not.toContain(second.slice(second.lastIndexOf("/") + 1))
  await cabinet.sources.archive(id)
  expect([await both(second), await both(third)]).toEqual([
    [404, 404],
    [404, 404],
  ])
  await cabinet.sources.restore(id)
  expect(await both(second)).toEqual([200, 200])
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '61 minutes'")
  expect([await both(second), await both(third)]).toEqual([
    [404, 404],
    [200, 200],
  ])
  expect(await cabinet.sources.get(id)).toMatchObject({ oldSecretUntil: null })
  // Without it, the old one ends at once.
  const { intakeUrl: fourth } = await cabinet.sources.rotateSecret(id)
  expect([await both(third), await both(fourth)]).toEqual([
    [404, 404],
    [200, 200],
  ])
  for (const keepOldSeconds of [0, 59, 1.5, 31 * 86_400]) {
    await expect(cabinet.sources.rotateSecret(id, { keepOldSeconds })).rejects.toMatchObject({ code: "bad_expiry" })
  }
  await cabinet.sources.rotateSecret(id, { keepOldSeconds: 3_600 })
  await cabinet.sources.remove(id)
  expect(await both(fourth)).toEqual([404, 404])
})

it("requests refused because of a rate are counted by source and shown", async () => {
  const { id, intakeUrl } = await cabinet.sources.create({ name: "Busy" })
  const calm = await cabinet.sources.create({ name: "Calm" })
  expect(await post(calm.intakeUrl)).toBe(200)
  const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => post(intakeUrl, n % 2)))
  const refused = statuses.filter((status) => status === 429).length
  // Sixty a minute, though a minute may have ended meanwhile.
  expect(refused).toBeGreaterThanOrEqual(80)
  await vi.waitFor(async () => expect((await cabinet.sources.get(id))!.limited).toMatchObject({ count: refused }), {
    timeout: 120_000,
    interval: 200,
  })
  expect((await cabinet.sources.get(calm.id))!.limited).toBeNull()
  const { limitedRequests } = await cabinet.diagnostics()
  expect(limitedRequests).toMatchObject([{ sourceId: id, name: "Busy", count: refused }])
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '25 hours'")
  expect((await cabinet.sources.get(id))!.limited).toBeNull()
})

it("a source with a rate of its own accepts that many requests a minute, and a new rate applies in every server", async () => {
  const { id, intakeUrl } = await cabinet.sources.create({ name: "Rated", rate: 5 })
  const passed = async (count: number) => {
    const statuses = await Promise.all(Array.from({ length: count }, (_, n) => post(intakeUrl, n % 2)))
    return statuses.filter((status) => status === 200).length
  }
  await beginMinute(database)
  expect(await passed(40)).toBe(5)
  expect((await cabinet.sources.change(id, { rate: 1_000 })).rate).toBe(1_000)
  await database.run("DELETE FROM cabinet.rate_window")
  // A server that has cached the old rate rereads it at the first request that it accepts, as after a rotation.
  await cabinet.sources.rotateSecret(id)
  const { intakeUrl: moved } = await cabinet.sources.reveal(id)
  const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => post(moved, n % 2)))
  expect(statuses.every((status) => status === 200)).toBe(true)
  expect(await cabinet.sources.change(id, { rate: null })).toMatchObject({ rate: null })
  for (const rate of [0, -1, 1.5, 1_000_001]) {
    await expect(cabinet.sources.change(id, { rate })).rejects.toMatchObject({ code: "bad_rate" })
  }
})
