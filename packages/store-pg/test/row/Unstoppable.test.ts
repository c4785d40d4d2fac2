/**
 * A view that nothing in PostgreSQL can stop: libxml2 checks no interrupts while it counts nodes. In this case the
 * cabinet promises that such a read occupies the slot of one read until its session has ended, and never more.
 */
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Fiber, Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { itemsOf, openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading({ maxReaderConnections: 4, settings: { statementTimeout: 300 } })
  await reading.run(`CREATE TABLE honest (id int PRIMARY KEY)`)
  await reading.run(`INSERT INTO honest VALUES (1)`)
  // PostgreSQL requires no privilege to run XMLTABLE, so only the slots can limit it.
  await reading.run(`CREATE FUNCTION public.nodes(n int) RETURNS xml LANGUAGE sql IMMUTABLE AS
    $$ SELECT ('<a>' || repeat('<b/>', n) || '</a>')::xml $$`)
  await reading.run(`CREATE VIEW unstoppable AS SELECT t.c FROM XMLTABLE('/a' PASSING public.nodes(${NODES})
    COLUMNS c text PATH 'count(//b[count(//b[count(//b)>0])>0])') t`)
})
afterAll(() => reading.close())

/** Of four connections, three may run views at once, and half of the four run the same one. */
const SHARE = 2

/** Enough that a read takes several seconds, many times its limit. */
const NODES = 400

const stuckProcesses = async () => {
  const found = await reading.database.run(`SELECT pid FROM pg_stat_activity
    WHERE usename = '${reading.readerRole}' AND state = 'active' AND query LIKE '%unstoppable%'`)
  return found.map(({ pid }) => Number(pid))
}
const stuck = async () => (await stuckProcesses()).length

const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** The items of a page for which a slot is free: one that waited for a slot in vain fails the test. */
const itemsInTime = async (name: string) => {
  for (;;) {
    const answer = await reading.page(name)
    if (Result.isSuccess(answer)) return itemsOf(answer)
    // A machine too busy to read one row within its limit says nothing about the slots.
    expect(answer.failure.message).not.toContain("waiting")
    expect(answer.failure).toMatchObject(REFUSED)
  }
}

const failureOf = async (page: ReturnType<Reading["page"]>) => {
  const answer = await page
  return Result.isFailure(answer) ? answer.failure : null
}

/** The most sessions that were stuck at once while this ran. */
const mostDuring = async (work: () => Promise<void>): Promise<number> => {
  let most = 0
  let isOver = false
  const watch = (async () => {
    while (!isOver) {
      most = Math.max(most, await stuck())
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  try {
    await work()
  } finally {
    isOver = true
    await watch
  }
  return most
}

// The second message means that the database is too busy to confirm in time that it was asked to end the session.
const REFUSED = { code: expect.stringMatching(/^(query_timeout|reader_off)$/) }

it("an unstoppable view never has more sessions than its share, whatever its callers do", async () => {
  const most = await mostDuring(async () => {
    for (let round = 0; round < 2; round++) {
      const crowd = Array.from({ length: 8 }, () => failureOf(reading.page("unstoppable")))
      expect(await itemsInTime("honest")).toEqual([{ id: 1 }])
      for (const failure of await Promise.all(crowd)) expect(failure).toMatchObject(REFUSED)
      expect(await itemsInTime("honest")).toEqual([{ id: 1 }])
    }
  })
  expect(most).toBe(SHARE)
})

it("a client that disconnects frees no slot before its session has ended", async () => {
  await until(async () => (await stuck()) === 0)
  const page = SelectRows.use((rows) =>
    fromCall((call) => rows.page({ schema: "public", name: "unstoppable", params: [] }, call)),
  )
  const most = await mostDuring(async () => {
    const clients = Array.from({ length: 4 }, () => reading.runtime.runFork(page))
    await until(async () => (await stuck()) === SHARE)
    const first = await stuckProcesses()
    await Promise.all(clients.map((client) => Effect.runPromise(Fiber.interrupt(client))))
    // A slot that is freed too early lets one of these callers in.
    while ((await stuckProcesses()).some((pid) => first.includes(pid))) await failureOf(reading.page("unstoppable"))
    expect(await itemsInTime("honest")).toEqual([{ id: 1 }])
  })
  expect(most).toBe(SHARE)
})

it("a slot is free again once its session has ended", async () => {
  await until(async () => (await stuck()) === 0)
  await reading.run(`CREATE VIEW quick AS SELECT public.nodes(1)::text AS x`)
  expect(await itemsInTime("quick")).toEqual([{ x: "<a><b/></a>" }])
})
