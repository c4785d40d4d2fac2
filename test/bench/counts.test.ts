/** Counts that the speed depends on and that are the same on every machine. */
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { type CountingSocket, countingSocket } from "../support/countingSocket.ts"
import { withDatabase } from "../support/postgres.ts"
import { pageAt } from "./pageAt.ts"

const ROWS = 3000

const database = withDatabase()
let socket: CountingSocket
let cabinet: ApiCabinet
let key: string
let secret: string

const behindSocket = () =>
  database.url.replace(encodeURIComponent(database.socketDir), encodeURIComponent(socket.directory))

beforeAll(async () => {
  socket = await countingSocket(database.socketDir)
  cabinet = await apiCabinet(behindSocket())
  key = await cabinet.key()
  secret = (await cabinet.source("Orders")).intakeSecret
  await database.run(
    `CREATE TABLE public.readings AS SELECT n AS id, timestamptz '2026-01-01Z' + n / 3 * interval '1 s' AS at
     FROM generate_series(1, ${ROWS}) n`,
  )
  await database.run("ALTER TABLE public.readings ADD PRIMARY KEY (id), ALTER at SET NOT NULL")
  await database.run("CREATE INDEX ON public.readings (at, id)")
  await database.run("GRANT SELECT ON public.readings TO PUBLIC")
  await database.run("ANALYZE public.readings")
  // Connections are opened and columns created before counting starts.
  for (let n = 0; n < 4; n++) {
    await cabinet.send(secret, JSON.stringify({ order: n, total: 1.5 }))
    for (const path of ["sources", "events", "tables/public/readings/rows"]) {
      assert.equal((await cabinet.ask(path, key)).status, 200, path)
    }
  }
})

afterAll(async () => {
  await cabinet.close()
  await socket.close()
})

const orders = (count: number, from: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ order: from + n, total: 1.5 })))

/**
 * The smallest number of round trips seen for the work. Other statements add to it: a few times a second other
 * processes are notified, and the first request of a session prepares its statements. A slow machine sees more of them,
 * so the work is repeated until at most `enough` are seen. It never sees fewer than the work causes.
 */
const fewest = async (work: (time: number) => Promise<unknown>, enough: number): Promise<number> => {
  let least = Infinity
  for (let n = 0; n < 100 && (n < 6 || least > enough); n++) least = Math.min(least, await socket.during(() => work(n)))
  return least
}

describe("Round trips to the database", () => {
  it("accepting a batch takes one statement, for one event as for a hundred", async () => {
    assert.equal(await fewest((n) => cabinet.send(secret, orders(1, 1000 + n)), 1), 1)
    assert.equal(await fewest((n) => cabinet.send(secret, orders(100, 20_000 + 100 * n)), 1), 1)
  })

  it("concurrent requests share their statements", async () => {
    const together = () =>
      Promise.all(Array.from({ length: 30 }, (_, n) => cabinet.send(secret, orders(1, 10_000 + n))))
    assert.isBelow(await socket.during(together), 30)
  })

  it("most requests from a sender with a large limit cost only their accept, because leases count them", async () => {
    // A new minute would invalidate the lease, so none begins meanwhile.
    await database.run(
      `UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp()) + interval '10 seconds' - clock_timestamp()`,
    )
    const roundTripsAt = async (intakeRate: number, from: number, enough: number) => {
      const counted = await apiCabinet(behindSocket(), { intakeRate })
      const send = async (times: number, first: number) => {
        for (let n = 0; n < times; n++) await counted.send(secret, orders(1, first + n))
      }
      await send(20, from)
      const roundTrips = await fewest((time) => send(8, from + 100 * (time + 1)), enough)
      await counted.close()
      return roundTrips
    }
    assert.isBelow(await roundTripsAt(100_000, 1_000_000, 11), 12)
    // A limit below ten thousand is counted exactly: each request is its count and its accept.
    assert.isAtLeast(await roundTripsAt(9_000, 2_000_000, 16), 16)
  })

  it("an API request costs the lookup of its key and its own statements", async () => {
    // The lookup of the key, then: the list; the rows with the proof that their table is unchanged; the fence and the
    // page. An empty page needs no names of sources.
    for (const [path, expected] of [
      ["sources", 2],
      ["tables/public/readings/rows", 2],
      ["events?limit=10", 4],
      ["events?limit=10&channel=pull", 3],
    ] as const) {
      assert.equal(await fewest(() => cabinet.ask(path, key), expected), expected, path)
    }
  })
})

describe("Rows that PostgreSQL reads for a page", () => {
  const params = [
    ["sort", "at"],
    ["dir", "desc"],
  ] as const
  const table = ["public", "readings"] as const

  it("exceed the page by one, at any depth", async () => {
    const first = await pageAt(database.url, table, params, null)
    const deep = await pageAt(database.url, table, params, ["2026-01-01 00:05:00+00", "900"])
    assert.deepEqual([first.rowsRead, deep.rowsRead], [101, 101])
  })
})

describe("Bytes copied", () => {
  it("are zero for a body that arrives in one piece", () => {
    const gathered = new ChunkBuffer()
    const chunk = new Uint8Array(1000)
    gathered.add(chunk)
    assert.strictEqual(gathered.bytes(), chunk)
  })

  it("are about twice its size for a body in small pieces, not once for every piece", () => {
    const gathered = new ChunkBuffer()
    const pieces = 10_000
    const seen = new Set<ArrayBufferLike>()
    let copied = 0
    for (let n = 0; n < pieces; n++) {
      gathered.add(new Uint8Array(1))
      const { buffer } = gathered.bytes()
      if (n > 0 && !seen.has(buffer)) copied += n
      seen.add(buffer)
    }
    assert.isBelow(copied, 2 * pieces)
  })
})
