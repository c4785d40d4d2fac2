/**
 * The feed under failures, as clients see it: three servers of one cabinet, senders and readers that use any of them, and
 * `kill -9` of servers and PostgreSQL. Acknowledged events are in the feed once, in the same order for all readers.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"

let clusters: ClusterHome
let cluster: TestCluster
let home: Home
const servers: Array<ServerProcess> = []
const serve = () =>
  home.serve(["--no-delivery", "--no-poll"], {
    DATABASE_URL: cluster.url("fire"),
    CABINET_API_RATE: "1000000",
    CABINET_INTAKE_RATE: "0",
  })

beforeAll(async () => {
  clusters = clusterHome()
  cluster = await clusters.init("fire")
  await cluster.start()
  await cluster.createCabinet("fire")
  home = newHome()
  servers.push(await serve(), ...(await Promise.all([serve(), serve()])))
}, 120_000)
afterAll(async () => {
  await endAll()
  await clusters.remove()
})

interface Item {
  readonly id: number
  readonly payload: { readonly n: string }
  readonly repeat_of: number | null
}

const any = <A>(of: ReadonlyArray<A>): A => of[Math.floor(Math.random() * of.length)]!

it(
  "every acknowledged event is read once, in one order, from any server, while servers and PostgreSQL are killed",
  { timeout: 120_000 },
  async () => {
    const { source, key } = servers[0]!.welcome
    const acknowledged = new Map<number, string>()
    let over = false

    const sender = async (name: string) => {
      for (let n = 0; !over; n++) {
        // Every tenth body is shared by all senders.
        const body = n % 10 === 0 ? `shared ${n}` : `${name} ${n}`
        const answer = await fetch(any(servers).baseUrl + source!.intake_path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ n: body }),
        }).catch(() => undefined)
        if (answer?.status === 200) acknowledged.set(((await answer.json()) as { id: number }).id, body)
        else await sleep(50)
      }
    }

    /** Keeps its cursor, and requests each page from any of the servers. */
    const reader = async (limit: number) => {
      const seen: Array<Item> = []
      let cursor = ""
      for (let last = false; ;) {
        const answer = await fetch(`${any(servers).baseUrl}/api/v1/events?limit=${limit}${cursor}`, {
          headers: { "x-api-key": key!.key },
        }).catch(() => undefined)
        const text = await answer?.text().catch(() => undefined)
        if (answer?.status !== 200 || text === undefined) {
          await sleep(50)
          continue
        }
        const page = JSON.parse(text) as { data: ReadonlyArray<Item>; has_more: boolean; next_cursor: string }
        seen.push(...page.data)
        cursor = `&cursor=${page.next_cursor}`
        if (page.has_more) continue
        if (last) return seen
        last = over
        await sleep(30)
      }
    }

    const reading = Promise.all([reader(7), reader(100), reader(1000)])
    const sending = Promise.all(["a", "b", "c", "d"].map(sender))
    const until = async (count: number) => {
      const goal = acknowledged.size + count
      while (acknowledged.size < goal) await sleep(10)
    }
    await until(120)
    await cluster.end("SIGKILL")
    await cluster.start()
    await until(120)
    await servers[1]!.stop("SIGKILL")
    await until(120)
    await Promise.all([cluster.end("SIGKILL"), servers[2]!.stop("SIGKILL")])
    await cluster.start()
    servers[2] = await serve()
    await until(120)
    over = true
    await sending
    const [small, middle, large] = await reading

    const rows = await cluster.run("SELECT id::int4 AS id FROM cabinet.event e ORDER BY e.epoch, e.xid, e.id", "fire")
    const committed = rows.map((row) => row["id"] as number)
    for (const seen of [small, middle, large]) {
      assert.deepStrictEqual(
        seen.map(({ id }) => id),
        committed,
      )
    }
    const bodies = new Map(large.map(({ id, payload }) => [id, payload.n]))
    for (const [id, body] of acknowledged) assert.strictEqual(bodies.get(id), body, "acknowledged, and not in the feed")
    const firsts = new Map<string, number>()
    for (const { id, payload, repeat_of } of large) {
      assert.strictEqual(repeat_of, firsts.get(payload.n) ?? null, "a repeat names the first, which stands before it")
      if (repeat_of === null) firsts.set(payload.n, id)
    }
  },
)
