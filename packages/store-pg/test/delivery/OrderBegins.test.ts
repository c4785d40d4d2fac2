/**
 * An address that is switched to the order of the feed gets everything that was accepted before, and then the feed from there,
 * each event once. An accept that is under way decides on which side its events are.
 */
import { FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import { OrderedQueue } from "@data-cabinet/core/delivery/OrderedQueue"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, expect, it, vi } from "vitest"
import { LOCK_CLAIMABLE, NEXT_DUE } from "../../src/delivery/OrderedStatement.ts"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

const FILTER = [{ fc: "kind", fo: "eq", fv: "passes" }] as const
/** More than an accept writes itself; none of them exists. */
const OTHERS = Array.from({ length: 101 }, (_, n) => 1_000_000 + n)

let cabinet: DeliveryCabinet
let source: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
  // An accept stops here while the table has a row: it has its transaction id, and its event a number. No lock, which times out.
  await cabinet.run("CREATE TABLE cabinet.stopped (accept boolean)")
  await cabinet.run("CREATE SEQUENCE cabinet.reached")
  await cabinet.run(`CREATE FUNCTION cabinet.stop_accept() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      IF EXISTS (SELECT FROM cabinet.stopped) THEN PERFORM nextval('cabinet.reached'); END IF;
      WHILE EXISTS (SELECT FROM cabinet.stopped) LOOP PERFORM pg_sleep(0.005); END LOOP;
      RETURN NEW;
    END $$`)
  await cabinet.run(
    "CREATE TRIGGER stop_accept BEFORE INSERT ON cabinet.event FOR EACH ROW EXECUTE FUNCTION cabinet.stop_accept()",
  )
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
  await cabinet.run("TRUNCATE cabinet.stopped")
  await cabinet.run("ALTER SEQUENCE cabinet.reached RESTART")
})

/** One event, whose deliveries a follower writes. */
const accept = async (filtered: ReadonlyArray<number>) => {
  await cabinet.run(`UPDATE cabinet.source SET fans_out = true WHERE id = ${source}`)
  const [seen] = await cabinet.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)
  const event = { ...fingerprintedEvent(new Map([["kind", "passes"]])), fingerprint: null }
  const request = {
    sourceId: source,
    sourceVersion: (seen as { version: number }).version,
    channel: "webhook" as const,
    history: false,
    events: [event],
    original: null,
    ...(filtered.length === 0
      ? {}
      : { filtered: { addresses: filtered, passed: [[...filtered, ...OTHERS]] as const } }),
  }
  const [receipt] = await cabinet.runtime.runPromise(EventLog.use((log) => appendEvents(log, request)))
  return receipt!.id
}

const writeDeliveries = async () => {
  await cabinet.run(
    "UPDATE cabinet.follower SET leased_until = 'epoch', not_before = 'epoch' WHERE kind = 'deliveries'",
  )
  const held = await cabinet.runtime.runPromise(FollowerStore.use((store) => store.claim("deliveries")))
  await cabinet.runtime.runPromise(FanOutStore.use((store) => store.write(Option.getOrThrow(held), 1_000)))
}
const claim = () => cabinet.runtime.runPromise(OrderedQueue.use((queue) => queue.claim("healthy", 10, 30_000)))
const nextDue = () => cabinet.runtime.runPromise(OrderedQueue.use((queue) => queue.nextDue("healthy")))

const sentRows = async (address: number) =>
  (await cabinet.run(`SELECT event_id::int AS id FROM cabinet.delivery WHERE address_id = ${address} ORDER BY id`)).map(
    ({ id }) => id,
  )

/** Waits until the statement returns a row. */
const until = (statement: string) =>
  vi.waitFor(async () => expect(await cabinet.run(statement)).toHaveLength(1), { timeout: 60_000 })

/** The switch waits for the accept. */
const SWITCH_WAITS = `SELECT FROM pg_locks WHERE relation = 'cabinet.fence'::regclass AND mode = 'ExclusiveLock' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

it.each([{ filters: [] }, { filters: FILTER }])(
  "an order begins behind all that was accepted before, an accept under way included (%j)",
  async ({ filters }) => {
    const { id } = await cabinet.book((book) =>
      book.create({ url: "https://example.com/", sources: [source], filters }),
    )
    const filtered = filters.length === 0 ? [] : [id]
    const first = await accept(filtered)
    await cabinet.run("INSERT INTO cabinet.stopped VALUES (true)")
    const accepting = accept(filtered)
    await until("SELECT FROM cabinet.reached WHERE is_called")
    const order = () => cabinet.book((book) => book.set(id, { order: "feed" }))
    // It gives up after some seconds, which are few on a machine that stalls.
    const switching = order().catch(() => null)
    await Promise.race([until(SWITCH_WAITS), switching])
    await cabinet.run("DELETE FROM cabinet.stopped")
    const second = await accepting
    if ((await switching) === null) await order()
    const third = await accept([])
    // Both events before the order wait for the fan-out, and then as rows.
    assert.deepEqual([await sentRows(id), await claim(), await nextDue()], [[], [], null])
    await writeDeliveries()
    assert.deepEqual([await sentRows(id), await claim(), await nextDue()], [[first, second], [], null])
    await cabinet.run(`UPDATE cabinet.delivery SET state = 'delivered' WHERE event_id = ${first}`)
    assert.deepEqual(await claim(), [])
    await cabinet.run(`UPDATE cabinet.delivery SET state = 'delivered' WHERE event_id = ${second}`)
    const [held] = await claim()
    const page = await cabinet.runtime.runPromise(OrderedQueue.use((queue) => queue.page(held!, false)))
    assert.deepEqual(
      page!.items.map(({ eventId }) => eventId),
      [third],
    )
  },
)

interface PlanNode {
  readonly "Index Name"?: string
  readonly "Actual Loops": number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** How often a statement of the queue looks into an index of events. */
const lookups = async (statement: string): Promise<number> => {
  const filled = statement.replaceAll("$1::", "false::").replaceAll("$2::", "10::")
  const [row] = await cabinet.run(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${filled}`)
  const count = (node: PlanNode): number => {
    const own = node["Index Name"]?.startsWith("event_") === true ? node["Actual Loops"] : 0
    return (node.Plans ?? []).reduce((sum, one) => sum + count(one), own)
  }
  const plan = row!["QUERY PLAN"] as string | ReadonlyArray<{ readonly Plan: PlanNode }>
  return count((typeof plan === "string" ? (JSON.parse(plan) as typeof plan & object) : plan)[0]!.Plan)
}

it("a search for due addresses looks events up once for each source, and for paused or waiting addresses never", async () => {
  const create = (url: string) => cabinet.book((book) => book.create({ url, sources: [source], order: "feed" }))
  await accept([])
  const all = await Promise.all(Array.from({ length: 5 }, (_, n) => create(`https://example.com/${n}`)))
  const ids = all.map(({ id }) => id)
  const most = async () => [await lookups(LOCK_CLAIMABLE), await lookups(NEXT_DUE)]
  const ofFive = await most()
  await cabinet.run(`UPDATE cabinet.address SET paused_at = cabinet.now() WHERE id IN (${ids.slice(1).join()})`)
  assert.deepEqual(await most(), ofFive)
  assert.isAbove(ofFive[0]!, 0)
  await cabinet.run(
    "UPDATE cabinet.follower SET not_before = cabinet.now() + interval '1 hour' WHERE kind = 'delivery'",
  )
  assert.deepEqual(await most(), [0, 0])
  expect(await nextDue()).toBeGreaterThan(3_500_000)
})

/** How many events a claim's page has, and whether more follow; then the same of a page for a quick receiver. */
const pagesOf = async () => {
  const [held] = await claim()
  const read = async (isQuick: boolean) => {
    const page = await cabinet.runtime.runPromise(OrderedQueue.use((queue) => queue.page(held!, isQuick)))
    return [page!.items.length, page!.hasMore]
  }
  return [await read(false), await read(true)]
}

/** Creates an address in order; returns a function that inserts events of a source after its position, and returns their ids. */
const orderedBefore = async (filters: typeof FILTER | ReadonlyArray<never> = []) => {
  const { id } = await cabinet.book((book) =>
    book.create({ url: "https://example.com/", sources: [source], filters, order: "feed" }),
  )
  const [{ epoch }] = (await cabinet.run("SELECT max(epoch)::text AS epoch FROM cabinet.epoch")) as [{ epoch: string }]
  // Below any transaction that is under way, and above the position, which is behind the events of other tests.
  await cabinet.run(`UPDATE cabinet.follower SET epoch = ${epoch}, xid = 3, event_id = coalesce((SELECT max(id) FROM cabinet.event), 0)
    WHERE name = '${id}'`)
  await cabinet.run(`UPDATE cabinet.address_rule SET epoch = 0, xid = 0 WHERE address_id = ${id}`)
  return async (from: number, count: number, payload = "{}", channel = "webhook") => {
    const rows = await cabinet.run(`INSERT INTO cabinet.event
      (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
      SELECT ${epoch}, 3, nextval('cabinet.event_id'), ${from}, now(), '${channel}', ${channel === "file"}, false, '${payload}'
      FROM generate_series(1, ${count}) RETURNING id::float8 AS id`)
    return rows.map((row) => row["id"] as number)
  }
}

it("a page with few events among many of other sources is read from more of the feed", async () => {
  const other = await cabinet.source("Other")
  const insert = await orderedBefore()
  await insert(other, 300)
  await insert(source, 1)
  assert.deepEqual((await pagesOf())[0], [1, false])
})

it("a page for a quick receiver has five times the events of any other", async () => {
  const insert = await orderedBefore()
  await insert(source, 1_001)
  assert.deepEqual(await pagesOf(), [
    [200, true],
    [1_000, true],
  ])
})

it("pages have each event that passes once and in order, wherever their borders are", async () => {
  const other = await cabinet.source("Other")
  const insert = await orderedBefore(FILTER)
  const passing = '{"kind":"passes"}'
  const large = `{"kind":"passes","x":"${"x".repeat(400_000)}"}`
  const expected: Array<number> = []
  // Runs that end at, before and after the borders of pages.
  for (const [count, what] of [
    [199, "filtered"],
    [2, "passes"],
    [200, "filtered"],
    [19, "passes"],
    [181, "other"],
    [1, "passes"],
    [2000, "other"],
    [200, "passes"],
    [201, "passes"],
    [7, "large"],
    [150, "file"],
    [50, "passes"],
    [400, "filtered"],
    [1, "passes"],
  ] as const) {
    if (what === "filtered") await insert(source, count, '{"kind":"no"}')
    else if (what === "other") await insert(other, count, passing)
    else if (what === "file") await insert(source, count, passing, "file")
    else expected.push(...(await insert(source, count, what === "large" ? large : passing)))
  }
  const [held] = await claim()
  const [start] = await cabinet.run(`SELECT epoch, xid, event_id FROM cabinet.follower WHERE id = ${held!.id}`)
  const moveTo = (place: ReadonlyArray<unknown>) =>
    cabinet.run(`UPDATE cabinet.follower SET (epoch, xid, event_id) = (${place.join()}) WHERE id = ${held!.id}`)
  for (const isQuick of [false, true]) {
    await moveTo([start!["epoch"], start!["xid"], start!["event_id"]])
    const found: Array<number> = []
    for (let more = true; more;) {
      const page = await cabinet.runtime.runPromise(OrderedQueue.use((queue) => queue.page(held!, isQuick)))
      found.push(...page!.items.map(({ eventId }) => eventId))
      await moveTo([page!.end!.epoch, page!.end!.xid, page!.end!.id])
      more = page!.hasMore
    }
    assert.deepEqual(found, expected)
  }
})
