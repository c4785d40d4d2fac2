/**
 * A database that vanishes silently, as in a power failure, and never responds to what was sent; and one that closes its
 * sessions while they are idle.
 */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { silentProxy, type SilentProxy } from "../support/silentProxy.ts"

const database = withDatabase()
let proxy: SilentProxy
let cabinet: ApiCabinet
let secret: string
let key: string
const sent: Array<number> = []

beforeAll(async () => {
  proxy = await silentProxy(database)
  cabinet = await apiCabinet(proxy.url)
  key = await cabinet.key()
  secret = (await cabinet.source("Orders")).intakeSecret
})
afterAll(async () => {
  await cabinet.close()
  proxy.close()
})

let last = 0
const send = async (): Promise<number> => {
  const receipt = await cabinet.send(secret, `{"n":${(last += 1)}}`)
  if (receipt.ok === true) sent.push(receipt.id)
  return receipt.ok === true ? 200 : 503
}
const ask = async () => [
  (await cabinet.ask("events?limit=1", key)).status,
  (await cabinet.ask("tables/sources/orders/rows?limit=1", key)).status,
]
/** Far less than the 40 s after which a silent session counts as lost anyway, and far more than necessary. */
const SOON = 30_000

/** Sends submissions one after the other until one is accepted; returns how long that took. */
const untilTaken = async (): Promise<number> => {
  const began = performance.now()
  while ((await send()) !== 200);
  return performance.now() - began
}
const all = async () => {
  let events = await cabinet.ask("events?limit=1000", key)
  while (events.status === 503) events = await cabinet.ask("events?limit=1000", key)
  return events.json.data.map(({ id }: { id: number }) => id)
}

it("is reported with 503, and found again under its name without a restart", async () => {
  const both = async () => (await Promise.all([send(), ask()])).flat()
  expect(await both()).toEqual([200, 200, 200])
  proxy.vanish()
  let statuses = await both()
  expect(statuses).toContain(503)
  while (statuses.some((status) => status !== 200)) {
    expect([...new Set(statuses)].filter((status) => status !== 200 && status !== 503)).toEqual([])
    statuses = await both()
  }
  expect(await all()).toEqual(expect.arrayContaining(sent))
})

it("costs intake a few seconds if another server takes over immediately", async () => {
  expect(await untilTaken()).toBeLessThan(SOON)
  proxy.vanish()
  expect(await untilTaken()).toBeLessThan(SOON)
})

it("costs intake a few seconds once it is back, however long the outage", async () => {
  expect(await untilTaken()).toBeLessThan(SOON)
  // Several at the same time, so that every writer and every shared session waits for a response.
  proxy.fallSilent()
  const during = [send(), send(), send()]
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await Promise.all([...during, send()])).toEqual([503, 503, 503, 503])
  proxy.recover()
  expect(await untilTaken()).toBeLessThan(SOON)
  expect(await all()).toEqual(expect.arrayContaining(sent))
})

it("keeps no listener from ending while it is silent", async () => {
  const listened = await PgClient.PgClient.use((sql) =>
    Effect.tap(sql.listen("lost"), () => Effect.sync(() => proxy.fallSilent())),
  ).pipe(Effect.scoped, Effect.provide(OwnerClient.layer({ url: proxy.url })), Effect.exit, Effect.runPromise)
  expect(Exit.isSuccess(listened)).toBe(true)
  proxy.recover()
  expect(await untilTaken()).toBeLessThan(SOON)
})

it("is not mistaken for lost while it is only slow", async () => {
  await database.run(
    `CREATE FUNCTION cabinet.slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(5); RETURN NEW; END $$`,
  )
  await database.run(
    "CREATE TRIGGER slowly BEFORE INSERT ON cabinet.event FOR EACH ROW EXECUTE FUNCTION cabinet.slowly()",
  )
  expect(await send()).toBe(200)
  await database.run("DROP TRIGGER slowly ON cabinet.event")
})

it("costs no request when its idle sessions were terminated", async () => {
  expect(await Promise.all([send(), send(), send()])).toEqual([200, 200, 200])
  const END = `SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
    WHERE application_name LIKE 'data-cabinet%' AND datname = current_database()`
  for (const end of [() => database.run(END), () => Promise.resolve(proxy.hangUp())]) {
    await end()
    while (Number((await database.run(END))[0]!["ended"]) > 0);
    // In steps, so that also after a standstill of the machine this process reads what was closed.
    for (let step = 0; step < 10; step++) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await Promise.all([send(), send()])).toEqual([200, 200])
    expect(await Promise.all([send(), ask()])).toEqual([200, [200, 200]])
  }
})
