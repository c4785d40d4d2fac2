/**
 * An attacker and honest clients behind one address, as behind a proxy that is not configured: whatever the attacker sends,
 * the others' credentials keep working, and guessing stays bounded.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { visitor } from "../support/browserSession.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

const PASSWORD = "violet kettle 47 orbit"

let database: TestDatabase
let cabinet: Cabinet
let server: Server
let base: string

beforeAll(async () => {
  database = await testDatabase()
  cabinet = await openCabinet({ databaseUrl: database.url, delivery: false })
  server = createServer(cabinet.nodeHandler)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await cabinet.close()
  await database.drop()
})

const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")
const byToken = async (token: string) =>
  (await fetch(`${base}/manage/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status
const byCookie = async (secret: string) =>
  (await fetch(`${base}/manage/v1/me`, { headers: { cookie: `cabinet=${secret}` } })).status

/** Sends requests several at a time, as over many connections. */
const flood = async (count: number, send: () => Promise<number>, atOnce = 15): Promise<ReadonlyArray<number>> => {
  const statuses: Array<number> = []
  let left = count
  const sender = async () => {
    while (left-- > 0) statuses.push(await send())
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  return statuses
}

const MINUTE = 60_000

it("wrong tokens and cookies from one address lock out no valid ones, whether used before or not", async () => {
  const used = (await cabinet.tokens.create({ name: "used", role: "viewer" })).token
  assert.strictEqual(await byToken(used), 200)
  const fresh = (await cabinet.tokens.create({ name: "fresh", role: "viewer" })).token
  const minute = Math.floor(Date.now() / MINUTE)
  const wrong = await flood(600, () => (Math.random() < 0.5 ? byToken(`dco_${random()}`) : byCookie(`dcs_${random()}`)))
  assert.deepStrictEqual([...new Set(wrong)], [401])
  // Twice as many as may wait, so that some are refused, unless the flood began in the previous minute.
  const [more, ...honest] = await Promise.all([
    flood(100, () => byToken(`dco_${random()}`), 40),
    flood(10, () => byToken(used), 1),
  ])
  assert.deepStrictEqual([...new Set(honest.flat())], [200])
  if (Math.floor(Date.now() / MINUTE) === minute) assert.include(more, 429)
  const beside = await Promise.all([flood(20, () => byToken(`dco_${random()}`), 10), byToken(fresh)])
  assert.strictEqual(beside[1], 200)
})

it("a junk token is refused without being counted, because it costs no query", async () => {
  const statuses = await flood(1_000, () => byToken("nonsense"), 20)
  assert.deepStrictEqual([...new Set(statuses)], [401])
})

it("people sign in by a link and in a browser that they used before, while others guess from their address", async () => {
  const [{ at }] = (await database.run("SELECT date_trunc('minute', now(), 'UTC')::text AS at")) as [{ at: string }]
  // Everything takes place in one minute, however long it takes.
  const again = () => database.run(`UPDATE cabinet.clock SET shift = '${at}'::timestamptz + interval '1 s' - now()`)
  await again()
  const owner = (await cabinet.tokens.create({ name: "admin", role: "owner" })).token
  const admin = async (path: string, body?: unknown) =>
    (await visitor(base).manage("POST", path, body, { authorization: `Bearer ${owner}` })).json
  const invited = await admin("people", { name: "Ada", role: "editor" })
  const ada = visitor(base)
  assert.strictEqual((await ada.post("/console/welcome", { link: invited.link })).status, 303)
  assert.strictEqual((await ada.manage("POST", "me/password", { password: PASSWORD })).status, 204)
  assert.strictEqual((await ada.post("/console/sign-out", { everywhere: "yes" })).status, 303)

  const guess = async () => (await visitor(base).post("/console/sign-in", { name: "Ada", password: random() })).status
  await again()
  const guesses = await flood(30, guess, 2)
  assert.include(guesses, 429)
  assert.isAtMost(guesses.filter((status) => status === 403).length, 20)
  await flood(200, async () => (await visitor(base).post("/console/welcome", { link: `dcl_${random()}` })).status)

  await again()
  const stranger = await visitor(base).post("/console/sign-in", { name: "Ada", password: PASSWORD })
  assert.strictEqual(stranger.status, 429)
  ada.isKnown = true
  assert.strictEqual((await ada.post("/console/sign-in", { name: "Ada", password: PASSWORD })).status, 303)
  const { link } = await admin(`people/${invited.id}/link`)
  assert.strictEqual((await visitor(base).post("/console/welcome", { link })).status, 303)

  // A stolen cookie of a known browser also allows five guesses a minute.
  const stolen = []
  for (let n = 0; n < 7; n++) {
    await again()
    stolen.push((await ada.post("/console/sign-in", { name: "Ada", password: random() })).status)
  }
  assert.deepStrictEqual(stolen, [403, 403, 403, 403, 403, 429, 429])
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})
