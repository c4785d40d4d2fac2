import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>

beforeAll(() => {
  cabinet = testCabinet(database.url)
})
afterAll(() => cabinet.dispose())

const waiting = async (): Promise<number> => {
  const [found] = await database.run(
    `SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE 'data-cabinet%'`,
  )
  return found!["n"] as number
}

it("many concurrent trials wait for a table in one session, and other work has its own", async () => {
  const { id, table } = await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "tried" })))
  const events = [fingerprintedEvent(new Map([["a", "1"]]))]
  const sent = { sourceId: id, sourceVersion: 1, channel: "webhook", history: false, events, original: null } as const
  await cabinet.runPromise(EventLog.use((log) => appendEvents(log, sent)))
  await database.run("CREATE TABLE public.looked_enough (n int)")
  const held = database.run(`DO $$ BEGIN LOCK TABLE sources.${table!.name};
    WHILE NOT EXISTS (SELECT FROM public.looked_enough) LOOP PERFORM pg_sleep(0.02); END LOOP; END $$`)
  const isHeld = `SELECT FROM pg_locks WHERE relation = 'sources.${table!.name}'::regclass AND mode = 'AccessExclusiveLock'`
  await expect.poll(() => database.run(isHeld)).toHaveLength(1)
  const trial = SourceColumns.use((columns) => columns.tryRetype(id, "a", "numeric"))
  // More than the owner's sessions.
  const trials = Array.from({ length: 12 }, () => cabinet.runPromise(Effect.exit(trial)))
  await expect.poll(waiting).toBeGreaterThan(0)
  for (let n = 0; n < 3; n++) {
    expect(await cabinet.runPromise(Sources.use((sources) => Effect.map(sources.list, (all) => all.length)))).toBe(1)
    expect(await waiting()).toBeLessThanOrEqual(1)
  }
  await database.run("INSERT INTO public.looked_enough VALUES (1)")
  await held
  await Promise.all(trials)
  expect(await cabinet.runPromise(trial)).toMatchObject({ misfits: 0, examples: [] })
})
