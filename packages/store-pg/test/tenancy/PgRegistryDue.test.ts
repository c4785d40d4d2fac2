/** When a cabinet is due, as recorded by processes that use, check and leave it. */
import { claimDue, dueByCommand, dueInUse, settleDue } from "@data-cabinet/store-pg/tenancy/PgRegistryDue"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import type { PgClient } from "@effect/sql-pg"
import { type Effect, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { stopClock } from "../../../../test/support/stoppedClock.ts"

const database = withDatabase()
let run: <A>(work: Effect.Effect<A, unknown, PgClient.PgClient>) => Promise<A>
let close: () => Promise<void>

beforeAll(async () => {
  const runtime = ManagedRuntime.make(OwnerClient.layer({ url: database.url }))
  run = (work) => runtime.runPromise(work)
  close = () => runtime.dispose()
  await stopClock(database.run)
})
afterAll(() => close())
beforeEach(async () => {
  await database.run("DELETE FROM cabinet.registered_cabinet")
  await database.run("UPDATE cabinet.clock SET shift = '0'")
  await add("a")
})

const add = (name: string) =>
  database.run(`INSERT INTO cabinet.registered_cabinet (name, database_url) VALUES ('${name}', 'postgres:///${name}')`)

const later = (interval: string) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${interval}'`)

/** Seconds from now. */
const dueIn = async (name: string): Promise<number | null> => {
  const [row] = await database.run(
    `SELECT round(extract(epoch FROM due_at - cabinet.now()))::int AS seconds FROM cabinet.registry_due WHERE name = '${name}'`,
  )
  return row === undefined ? null : Number(row["seconds"])
}

const claimed = async (most = 50) => (await run(claimDue(most))).map(({ name }) => name).toSorted()

it("a cabinet is due when it is added or moved, and not listed once it is removed", async () => {
  assert.deepStrictEqual(await claimed(), ["a"])
  const [claim] = [await dueIn("a")]
  assert.strictEqual(claim, 60)
  await database.run("UPDATE cabinet.registered_cabinet SET database_url = 'postgres:///moved' WHERE name = 'a'")
  assert.deepStrictEqual(await claimed(), ["a"])
  await database.run("UPDATE cabinet.registered_cabinet SET name = 'b' WHERE name = 'a'")
  assert.deepStrictEqual(await claimed(), ["b"])
  assert.isNull(await dueIn("a"))
  await database.run("DELETE FROM cabinet.registered_cabinet")
  assert.deepStrictEqual(await database.run("SELECT name FROM cabinet.registry_due"), [])
})

it("claimDue gives each due cabinet to one worker, and to another when the first was killed", async () => {
  for (let n = 0; n < 40; n++) await add(`c${n}`)
  const shares = await Promise.all(Array.from({ length: 8 }, () => claimed(10)))
  assert.strictEqual(new Set(shares.flat()).size, 41)
  assert.strictEqual(shares.flat().length, 41)
  assert.deepStrictEqual(await claimed(), [])
  await later("61 seconds")
  assert.lengthOf(await claimed(), 41)
})

it("settleDue sets the next time, but not over a process that opened the cabinet meanwhile", async () => {
  const [first] = await run(claimDue(1))
  await run(settleDue(first!, 3_600))
  assert.strictEqual(await dueIn("a"), 3_600)
  await later("1 hour")
  const [second] = await run(claimDue(1))
  await run(dueInUse("a", true))
  await run(settleDue(second!, 3_600))
  assert.strictEqual(await dueIn("a"), 120)
  // A claim that has passed to another worker settles nothing.
  await later("2 minutes")
  const [third] = await run(claimDue(1))
  await later("1 minute")
  const [fourth] = await run(claimDue(1))
  await run(settleDue(third!, 3_600))
  assert.strictEqual(await dueIn("a"), 60)
  await run(settleDue(fourth!, 7_200))
  assert.strictEqual(await dueIn("a"), 7_200)
})

it("dueInUse postpones the time for a process that does all the work, and otherwise only brings it nearer", async () => {
  await run(dueInUse("a", true))
  assert.strictEqual(await dueIn("a"), 120)
  await later("1 minute")
  await run(dueInUse("a", false))
  assert.strictEqual(await dueIn("a"), 60)
  await run(dueInUse("a", true))
  assert.strictEqual(await dueIn("a"), 120)
  await database.run("UPDATE cabinet.registry_due SET due_at = cabinet.now() + interval '12 hours'")
  await run(dueInUse("a", false))
  assert.strictEqual(await dueIn("a"), 120)
  // Its process was killed, so nothing is written and the time passes.
  await later("2 minutes")
  assert.deepStrictEqual(await claimed(), ["a"])
})

it("dueByCommand makes a cabinet due when the command ends, or after ten minutes if it is killed", async () => {
  await database.run("UPDATE cabinet.registry_due SET due_at = cabinet.now() + interval '12 hours'")
  await run(dueByCommand("a", "begun"))
  assert.strictEqual(await dueIn("a"), 600)
  await run(dueByCommand("a", "done"))
  assert.deepStrictEqual(await claimed(), ["a"])
  // An earlier time is kept.
  await run(dueByCommand("a", "begun"))
  assert.strictEqual(await dueIn("a"), 60)
})
