/** Deliveries in the order of the feed, alone and in batches, against deliveries by rows: CPU an event, and latency at rest. */
import { cabinetCommand, type Contestant, ourServer, ourWorker, postOne, yardstick } from "../contestant.ts"
import { type Bench, divided, type Figure, median } from "../figure.ts"
import { orderJson } from "../load/request.ts"
import type { Measured } from "../load/load.ts"
import { standingsOf, tell } from "../rounds.ts"
import { seedEvents } from "../seed.ts"
import { deliverer, type Deliverer, drain, runIn } from "./deliveries.ts"

const BATCH = 100
const LOOPBACK = ["--allowed-networks", "127.0.0.0/8"]
const FEED_CHANNEL = "cabinet_feed"

/** `cabinet worker` with one address in order, whose position is set back for each round. */
const orderedDeliverer = async (
  { cluster, sized }: Bench,
  receiver: string,
  name: string,
  batch: number,
): Promise<Deliverer> => {
  const url = await cluster.database(name.replace(" ", "_"))
  const server = await ourServer(url, ["--no-delivery"], name)
  await postOne(server)
  await server.stop()
  await seedEvents(cluster, url, sized(2_000, 50_000))
  await cabinetCommand(url, "address", "add", receiver, "--order", "feed", "--batch", String(batch), ...LOOPBACK)
  await cluster.run(url, "UPDATE cabinet.address_rule SET epoch = 0, xid = 0")
  const next = (count: number) =>
    `SELECT epoch, xid, id FROM cabinet.event ORDER BY epoch DESC, xid DESC, id DESC OFFSET ${count} LIMIT 1`
  return {
    ...(await ourWorker(url, name)),
    database: url,
    eventsEach: batch,
    enqueue: (count) =>
      cluster.run(
        url,
        `UPDATE cabinet.follower f SET epoch = e.epoch, xid = e.xid, event_id = e.id FROM (${next(count)}) e WHERE f.kind = 'delivery'`,
        `NOTIFY ${FEED_CHANNEL}, ''`,
      ),
    left: async () =>
      (
        await cluster.run(
          url,
          `SELECT 1 FROM cabinet.follower f, (${next(0)}) e WHERE f.kind = 'delivery' AND (f.epoch, f.xid, f.event_id) < (e.epoch, e.xid, e.id)`,
        )
      ).length,
  }
}

/** Milliseconds from the start of a request to the arrival of its delivery, for each of two sources, at rest. */
const latencies = async ({ cluster, sized }: Bench, receiver: Contestant, address: string) => {
  const url = await cluster.database("latency")
  const added = (name: string) =>
    cabinetCommand(url, "source", "add", name) as Promise<{ id: number; intake_path: string }>
  const server = await ourServer(url, LOOPBACK, "latency")
  const rows = await added("Rows")
  const ordered = await added("Ordered")
  await cabinetCommand(url, "address", "add", address, "--source", String(rows.id), ...LOOPBACK)
  await cabinetCommand(url, "address", "add", address, "--source", String(ordered.id), "--order", "feed", ...LOOPBACK)
  const once = async (path: string) => {
    await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 400))
    // Another body for each: a repeat would not be delivered.
    const arrived = receiver.ask({ expect: 1 })
    const began = performance.now()
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"nonce":${Math.random()},"order":${orderJson()}}`,
    }
    const { status } = await fetch(`http://127.0.0.1:${server.port}${path}`, init)
    if (status !== 200) throw new Error(`intake answered ${status}`)
    await arrived
    return performance.now() - began
  }
  const all = { rows: [] as Array<number>, ordered: [] as Array<number> }
  for (let n = 0; n < sized(5, 40); n++) {
    all.rows.push(await once(rows.intake_path))
    all.ordered.push(await once(ordered.intake_path))
  }
  await server.stop()
  return all
}

const cpuOf = ({ cpu }: Measured): number => cpu.server + cpu.database

export const deliveriesOrdered: Figure = {
  name: "deliveries-ordered",
  title: "Deliveries in order",
  longOnly: true,
  caption:
    "All are ours: cabinet worker with one address, a local receiver that responds with 204, events of the same size. rows: an address without an order. ordered: each event after the response to the one before. batches: 100 events a request. CPU is that of the worker and of PostgreSQL, for each event. Latency: from the start of a request to the arrival of its delivery, one event every half second, one server for everything.",
  measure: async (bench) => {
    const receiver = await yardstick("receiver", "receiver")
    const address = `http://127.0.0.1:${receiver.port}/hook`
    const all = [
      await deliverer(bench, address, { name: "rows" }),
      await orderedDeliverer(bench, address, "ordered", 1),
      await orderedDeliverer(bench, address, "batches", BATCH),
    ]
    const rounds = new Map(all.map(({ name }) => [name, [] as Array<Measured>]))
    const jobs = new Map<Deliverer, number>()
    // CPU is counted by the hundredth of a second: few jobs would not show it.
    const least = bench.sized(400, 5_000)
    for (const one of all) jobs.set(one, Math.max(least, await runIn(bench, receiver, one)))
    for (let round = 0; round < bench.rounds; round++) {
      for (let turn = 0; turn < all.length; turn++) {
        const one = all[(turn + round) % all.length]!
        const measured = await drain(bench, receiver, one, jobs.get(one)!)
        rounds.get(one.name)!.push(measured)
        tell(bench, round, one.name, measured)
      }
    }
    await Promise.all(all.map((one) => one.stop()))
    const late = await latencies(bench, receiver, address)
    await receiver.stop()
    const cpu = (name: string) => rounds.get(name)!.map(cpuOf)
    const atMost = (name: string, most: number) => ({
      work: `deliveries ${name === "batches" ? `in batches of ${BATCH}` : "in order"}, CPU an event`,
      goal: `≤ ${most} × by rows`,
      atMost: most,
      ratios: divided(cpu(name), cpu("rows")),
      cpuRatios: [],
    })
    return {
      goals: [
        atMost("ordered", 0.6),
        atMost("batches", 0.45),
        {
          work: "latency of a delivery in order, at rest",
          goal: "≤ 2 × by rows",
          atMost: 2,
          ratios: [median(late.ordered) / median(late.rows)],
          cpuRatios: [],
        },
      ],
      standings: [
        ...standingsOf(rounds, "events/s"),
        { contestant: "latency by rows", value: median(late.rows), unit: "ms" },
        { contestant: "latency in order", value: median(late.ordered), unit: "ms" },
      ],
    }
  },
}
