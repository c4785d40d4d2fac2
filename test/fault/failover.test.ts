/**
 * A cabinet on three PostgreSQL servers under Patroni, set up as in docs/high-availability.md, with two servers and two
 * workers under load. The leader is killed, cut off, or paused until it has been replaced, or it continues while its
 * Patroni hangs. `FAILOVERS` is how often: once in `.ci/run`, twenty times in `npm run trials`, never in `npm test`.
 */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { block, hasPatroni, type PatroniCluster, type PatroniNode, startPatroni } from "../support/patroni.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

it("docs/high-availability.md contains every block that this test runs", () => {
  const names = ["etcd", "etcd3", "patroni.yml", "patroni", "patroni with etcd3", "database", "address"]
  for (const name of names) expect(block(name)).not.toBe("")
})

const ROUNDS = Number(process.env["FAILOVERS"] ?? 0)
const SENDERS_EACH = 2
/** How long a client waits for a response. */
const CLIENT_SECONDS = 60

/** Makes a leader fail and come back; true if it acknowledged a commit after it was replaced. */
const FAILURES: Readonly<Record<string, (leader: PatroniNode, cluster: PatroniCluster) => Promise<boolean>>> = {
  "paused and woken": async (leader, cluster) => {
    leader.signal("both", "SIGSTOP")
    await cluster.replaced(leader)
    // Its PostgreSQL wakes first, and still believes it is the leader.
    leader.signal("postgres", "SIGCONT")
    const accepted = await leader.accepts(3)
    leader.signal("patroni", "SIGCONT")
    return accepted
  },
  killed: async (leader, cluster) => {
    leader.signal("both", "SIGKILL")
    await cluster.replaced(leader)
    leader.start()
    return false
  },
  "cut off": async (leader, cluster) => {
    leader.signal("both", "SIGSTOP")
    await cluster.replaced(leader)
    leader.signal("both", "SIGKILL")
    leader.signal("both", "SIGCONT")
    leader.start()
    return false
  },
  "its Patroni hangs": async (leader, cluster) => {
    leader.signal("patroni", "SIGSTOP")
    await cluster.replaced(leader)
    const accepted = await leader.accepts(3)
    leader.signal("patroni", "SIGCONT")
    return accepted
  },
}

interface Event {
  readonly id: number
  readonly payload: { readonly mark: string }
}

/** What clients saw, in milliseconds of this process's clock. */
class Load {
  readonly acknowledged = new Map<string, number>()
  readonly responses: Array<{ readonly at: number; readonly status: number; readonly seconds: number }> = []
  readonly others: Array<string> = []
  readonly followed: Array<Event> = []
  /** The cursor; empty for the beginning of the feed. */
  cursor = ""
  isOver = false
  isSent = false
}

/** How long this process was blocked, in milliseconds, which its measurements of others include. */
let heldUp = 0
const watchSelf = () => {
  let last = performance.now()
  return setInterval(() => {
    const now = performance.now()
    if (now - last > 500) heldUp += now - last - 50
    last = now
  }, 50)
}

const send = async (load: Load, name: string, intake: string) => {
  for (let n = 0; !load.isOver; n++) {
    const mark = `${name}-${n}`
    const began = performance.now() - heldUp
    try {
      const response = await fetch(intake, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ mark }),
        signal: AbortSignal.timeout(CLIENT_SECONDS * 1_000),
      })
      const body = (await response.json()) as { id: number }
      const at = performance.now()
      load.responses.push({ at, status: response.status, seconds: Math.max(0, at - heldUp - began) / 1_000 })
      if (response.status === 200) load.acknowledged.set(mark, body.id)
      else if (response.status !== 503) load.others.push(`${response.status} ${JSON.stringify(body)}`)
      await sleep(response.status === 200 ? 50 : 200)
    } catch (error) {
      load.others.push(String(error))
    }
  }
}

/** Follows the feed from its cursor, alternating between servers, until everything is sent and the feed is at its end. */
const follow = async (load: Load, servers: ReadonlyArray<ServerProcess>, key: string) => {
  for (let n = 0, atEnd = false; !load.isSent || !atEnd; n++) {
    const { isSent } = load
    const { baseUrl } = servers[n % servers.length]!
    const from = load.cursor === "" ? "" : `&cursor=${encodeURIComponent(load.cursor)}`
    const url = `${baseUrl}/api/v1/events?limit=1000${from}`
    const headers = { "x-api-key": key }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(CLIENT_SECONDS * 1_000) }).catch(
      () => null,
    )
    if (response?.status === 200) {
      const page = (await response.json()) as { data: Array<Event>; next_cursor: string; has_more: boolean }
      load.followed.push(...page.data)
      load.cursor = page.next_cursor
      atEnd = isSent && page.data.length === 0
    } else if (response !== null && response.status !== 503) {
      load.others.push(`feed: ${response.status} ${await response.text()}`)
    }
    await sleep(100)
  }
}

/** Follows the feed from a position that the cabinet keeps, and acknowledges each page at the other server. */
const followKept = async (load: Load, servers: ReadonlyArray<ServerProcess>, key: string) => {
  const seen: Array<number> = []
  const call = async (n: number, method: string, path: string) => {
    const init = { method, headers: { "x-api-key": key }, signal: AbortSignal.timeout(CLIENT_SECONDS * 1_000) }
    const response = await fetch(`${servers[n % servers.length]!.baseUrl}/api/v1/${path}`, init).catch(() => null)
    if (response === null || response.status === 503) return null
    const body = await response.text()
    if (response.status === 200) return JSON.parse(body) as { data: Array<Event>; next_cursor: string }
    load.others.push(`${path}: ${response.status} ${body}`)
    return null
  }
  for (let n = 0, atEnd = false; !load.isSent || !atEnd; n++) {
    const { isSent } = load
    const page = await call(n, "GET", "events?follower=kept&limit=1000")
    if (page !== null) {
      seen.push(...page.data.map(({ id }) => id))
      atEnd = isSent && page.data.length === 0
      if (page.data.length > 0) {
        await call(n + 1, "POST", `events/ack?follower=kept&cursor=${encodeURIComponent(page.next_cursor)}`)
      }
    }
    await sleep(100)
  }
  return seen
}

/** Seconds from the first 503 to the last, and of the longest time without any response. */
const outage = (load: Load, from: number) => {
  const seen = load.responses.filter(({ at }) => at >= from)
  const refused = seen.filter(({ status }) => status === 503).map(({ at }) => at)
  const times = [from, ...seen.map(({ at }) => at)]
  const gaps = times.slice(1).map((at, n) => at - times[n]!)
  return {
    refused: refused.length === 0 ? 0 : (refused.at(-1)! - refused[0]!) / 1_000,
    silent: Math.max(0, ...gaps) / 1_000,
  }
}

const inWords = (name: string, seconds: ReadonlyArray<number>) => {
  const sorted = [...seconds].sort((a, b) => a - b)
  return `${name}: median ${sorted[Math.floor((sorted.length - 1) / 2)]!.toFixed(1)} s, worst ${sorted.at(-1)!.toFixed(1)} s`
}

if (hasPatroni && ROUNDS > 1) {
  it("a leader that dies is replaced and returns as a standby even if Patroni uses only etcd's newer API", async () => {
    const three = await startPatroni("v3")
    try {
      const leader = await three.whole()
      leader.signal("both", "SIGKILL")
      const next = await three.replaced(leader)
      leader.start()
      expect(await three.whole()).toBe(next)
    } finally {
      await three.remove()
    }
  }, 600_000)
}

if (hasPatroni && ROUNDS > 0) {
  let cluster: PatroniCluster
  let home: Home
  let receiver: Receiver
  let inOrder: Receiver
  const servers: Array<ServerProcess> = []

  beforeAll(async () => {
    cluster = await startPatroni()
    receiver = await startReceiver()
    inOrder = await startReceiver()
    home = newHome()
    const env = {
      DATABASE_URL: cluster.url,
      CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
      CABINET_INTAKE_RATE: "0",
      CABINET_API_RATE: "1000000",
    }
    servers.push(await home.serve(["--no-delivery", "--no-poll"], env))
    servers.push(await home.serve(["--no-delivery", "--no-poll"], env))
    const add = ["address", "add", "--json"]
    const added = await Promise.all([
      home.cabinet([...add, receiver.url], env),
      home.cabinet([...add, inOrder.url, "--order=feed"], env),
    ])
    for (const { code, stderr } of added) if (code !== 0) throw new Error(stderr)
    const workers = [home.start(["worker", "--json"], env), home.start(["worker", "--json"], env)]
    await Promise.all(workers.map((worker) => once(worker.stdout!, "data")))
  }, 300_000)
  afterAll(async () => {
    await endAll()
    await receiver.close()
    await inOrder.close()
    await cluster.remove()
  }, 120_000)

  it(
    "a failover loses no acknowledged event, keeps the feed's order for earlier cursors, and delivers every event",
    async () => {
      const { source, key } = servers[0]!.welcome
      const watching = watchSelf()
      const load = new Load()
      const feed = `${servers[0]!.baseUrl}/api/v1/events`
      const begun = await fetch(feed, { headers: { "x-api-key": key!.key } })
      load.cursor = ((await begun.json()) as { next_cursor: string }).next_cursor
      const sending = servers.flatMap(({ baseUrl }, server) =>
        Array.from({ length: SENDERS_EACH }, (_, n) => send(load, `${server}-${n}`, baseUrl + source!.intake_path)),
      )
      const following = follow(load, servers, key!.key)
      const kept = followKept(load, servers, key!.key)
      const outages: Array<{ refused: number; silent: number }> = []
      const settled = async (count: number) => {
        const before = load.acknowledged.size
        while (load.acknowledged.size < before + count) await sleep(50)
      }
      const kinds = Object.keys(FAILURES)
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const kind = kinds[round % kinds.length]!
          await cluster.whole()
          await settled(40)
          const leader = await cluster.whole()
          const at = performance.now()
          expect(await FAILURES[kind]!(leader, cluster)).toBe(false)
          await settled(40)
          const seen = outage(load, at)
          outages.push(seen)
          process.stdout.write(
            `failover ${round + 1}, ${kind}: 503 for ${seen.refused.toFixed(1)} s, silence of ${seen.silent.toFixed(1)} s\n`,
          )
        }
        await cluster.whole()
      } finally {
        load.isOver = true
        await Promise.all(sending)
        load.isSent = true
        clearInterval(watching)
      }
      await following
      process.stdout.write(
        `${ROUNDS} failovers, ${load.acknowledged.size} acknowledged; ${inWords(
          "503",
          outages.map(({ refused }) => refused),
        )}; ${inWords(
          "silence",
          outages.map(({ silent }) => silent),
        )}; ${inWords(
          "a response",
          load.responses.map(({ seconds }) => seconds),
        )}\n`,
      )

      expect(load.others).toEqual([])
      const ids = load.followed.map(({ id }) => id)
      expect(ids.filter((id, n) => ids.indexOf(id) !== n)).toEqual([])
      const shown = new Map(load.followed.map(({ id, payload }) => [payload.mark, id]))
      expect([...load.acknowledged].filter(([mark, id]) => shown.get(mark) !== id)).toEqual([])
      // A client that starts now sees the same events in the same order.
      const again = new Load()
      again.isSent = true
      await follow(again, [servers[1]!], key!.key)
      expect(again.followed.map(({ id }) => id).slice(-ids.length)).toEqual(ids)

      // A page is sent again if its acknowledgement is lost; nothing is left out, nor comes before what precedes it.
      expect([...new Set(await kept)].slice(-ids.length)).toEqual(ids)

      const delivered = ({ received }: Receiver) => [
        ...new Set(received.map(({ body }) => (JSON.parse(body.toString()) as { data: Event }).data.id)),
      ]
      for (const each of [receiver, inOrder]) {
        await each.until(() => {
          const there = new Set(delivered(each))
          return ids.every((id) => there.has(id))
        })
      }
      // An event is repeated if the position after it was lost; the order of the first deliveries is that of the feed.
      expect(delivered(inOrder)).toEqual(ids)
    },
    ROUNDS * 180_000 + 180_000,
  )
}
