/** Deliveries settled, against graphile-worker at its best and at its default, and pg-boss. */
import { runCommand, type Contestant, ourServer, ourWorker, postOne, yardstick } from "../contestant.ts"
import type { Bench, Figure } from "../figure.ts"
import type { Measured } from "../load/load.ts"
import { orderJson } from "../load/request.ts"
import { processCpu } from "../processCpu.ts"
import { shippedCabinet } from "../shipped.ts"
import { faster, standingsOf, tell } from "../rounds.ts"
import { seedDeliveries, seedEvents } from "../seed.ts"

const WORK = "deliveries to a fast local receiver"

export interface Deliverer {
  readonly name: string
  readonly pid: number
  readonly database: string
  /** Creates this many jobs at once. */
  readonly enqueue: (count: number) => Promise<unknown>
  /** Jobs of one request; 1 if not given. */
  readonly eventsEach?: number
  /** How many are not settled yet. */
  readonly left: () => Promise<number>
  readonly stop: () => Promise<void>
}

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** As many jobs as one round can complete. */
const MOST_JOBS = 50_000

interface OurWorker {
  readonly name: string
  /** Another build of the command. */
  readonly program?: string
}

/** `cabinet worker`, with its own database. */
export const deliverer = async (
  { cluster, sized }: Bench,
  receiver: string,
  { name, program = shippedCabinet() }: OurWorker = { name: "ours" },
): Promise<Deliverer> => {
  const url = await cluster.database(name)
  const server = await ourServer(url, ["--no-delivery"], name, program)
  await postOne(server)
  await server.stop()
  await seedEvents(cluster, url, sized(2000, MOST_JOBS))
  const { id } = (await runCommand(program, url, "address", "add", receiver, "--allowed-networks", "127.0.0.0/8")) as {
    id: number
  }
  return {
    ...(await ourWorker(url, name, [], program)),
    database: url,
    enqueue: (count) => seedDeliveries(cluster, url, [id], count),
    left: async () =>
      Number((await cluster.run(url, "SELECT count(*) AS n FROM cabinet.delivery WHERE state = 'due'"))[0]!["n"]),
  }
}

/** What a job of the yardsticks carries: as much as the body of one of our deliveries. */
const payload = `jsonb_build_object('id', n, 'type', 'event.received', 'created_at', '2026-11-21T10:15:30Z',
  'source', jsonb_build_object('id', 1, 'name', 'My first source'), 'data', '${orderJson()}'::jsonb)`

/** Each process of a yardstick has its own queue. */
const PROCESSES = 3

const ofEach = (made: (number: number) => Promise<Deliverer>): Promise<ReadonlyArray<Deliverer>> =>
  Promise.all(Array.from({ length: PROCESSES }, (_, number) => made(number)))

interface Graphile {
  readonly name: string
  readonly mode: string
  readonly receiver: string
}

const graphile = async ({ cluster }: Bench, { name, mode, receiver }: Graphile, number: number): Promise<Deliverer> => {
  const url = await cluster.database(`graphile_${mode}_${number}`)
  const env = { DATABASE_URL: url, RECEIVER_URL: receiver, WORKER_MODE: mode }
  return {
    ...(await yardstick(name, "graphileWorker", env)),
    database: url,
    enqueue: (count) =>
      cluster.run(
        url,
        `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
           SELECT ROW('deliver', (${payload})::json, NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
           FROM generate_series(1, ${count}) n))`,
      ),
    left: async () => Number((await cluster.run(url, "SELECT count(*) AS n FROM graphile_worker.jobs"))[0]!["n"]),
  }
}

const boss = async ({ cluster }: Bench, receiver: string, number: number): Promise<Deliverer> => {
  const url = await cluster.database(`boss_${number}`)
  return {
    ...(await yardstick("pg-boss", "pgBoss", { DATABASE_URL: url, RECEIVER_URL: receiver })),
    database: url,
    enqueue: (count) =>
      cluster.run(
        url,
        `INSERT INTO pgboss.job (name, data) SELECT 'deliver', ${payload} FROM generate_series(1, ${count}) n`,
      ),
    left: async () =>
      Number(
        (
          await cluster.run(url, "SELECT count(*) AS n FROM pgboss.job WHERE name = 'deliver' AND state < 'completed'")
        )[0]!["n"],
      ),
  }
}

/**
 * Measures from the first tenth of the jobs on, so that neither their creation nor the first claim counts. Dead rows of
 * earlier rounds are removed, as vacuum would do: any queue is slow over dead rows.
 */
export const drain = async (
  { cluster }: Bench,
  receiver: Contestant,
  one: Deliverer,
  wanted: number,
): Promise<Measured> => {
  const { eventsEach = 1 } = one
  const jobs = Math.ceil(wanted / eventsEach) * eventsEach
  await cluster.run(one.database, "VACUUM ANALYZE")
  await cluster.settle()
  const before = { server: processCpu(one.pid), database: cluster.cpu() }
  const whole = receiver.ask({ expect: jobs / eventsEach })
  await one.enqueue(jobs)
  const made = cluster.cpu()
  const answered = (await whole) as { done: number; seconds: number }
  const { seconds } = answered
  const done = answered.done * eventsEach
  while ((await one.left()) > 0) await sleep(20)
  const each = (millis: number) => (millis * 1000) / jobs
  return {
    done,
    seconds,
    rate: done / seconds,
    failures: 0,
    firstFailure: null,
    median: 0,
    p99: 0,
    most: 0,
    late: 0,
    cpu: { server: each(processCpu(one.pid) - before.server), database: each(cluster.cpu() - made), load: 0 },
  }
}

/** Until it has run for as long as every contestant is run in; answers how many jobs it does in the time of a round. */
export const runIn = async (bench: Bench, receiver: Contestant, one: Deliverer): Promise<number> => {
  const until = Date.now() + bench.runIn * 1000
  let jobs = 400
  do {
    const { rate } = await drain(bench, receiver, one, jobs)
    jobs = Math.max(400, Math.min(bench.sized(400, MOST_JOBS), Math.round(rate * bench.seconds)))
  } while (Date.now() < until)
  return jobs
}

export const deliveries: Figure = {
  name: "deliveries",
  title: "Deliveries",
  caption:
    "All: one local receiver that responds with 204, kept-alive connections, at most 32 at once, jobs of the same size created in one statement, as many as a round processes, in a freshly vacuumed and analysed database; the rate is what arrived after the first tenth, and a round ends when everything is settled. ours: cabinet worker; builds the body from the event, signs it, checks the address, sends it, records the attempt and settles. graphile-worker at its best: local queue of 500, completions in batches; sends the job's payload unsigned and keeps no log. Its default: without these two. pg-boss: batches of 32, fetched without a pause while they are full; it keeps each job's outcome, and is not a goal.",
  measure: async (bench) => {
    const receiver = await yardstick("receiver", "receiver")
    const address = `http://127.0.0.1:${receiver.port}/hook`
    const all = await Promise.all([
      deliverer(bench, address).then((one) => [one]),
      ofEach((number) => graphile(bench, { name: "graphile-worker, best", mode: "best", receiver: address }, number)),
      ofEach((number) =>
        graphile(bench, { name: "graphile-worker, default", mode: "default", receiver: address }, number),
      ),
      ofEach((number) => boss(bench, address, number)),
    ])
    const rounds = new Map(all.map((processes) => [processes[0]!.name, [] as Array<Measured>]))
    const jobs = new Map<Deliverer, number>()
    for (const one of all.flat()) jobs.set(one, await runIn(bench, receiver, one))
    for (let round = 0; round < bench.rounds; round++) {
      for (let turn = 0; turn < all.length; turn++) {
        const processes = all[(turn + round) % all.length]!
        const one = processes[round % processes.length]!
        const measured = await drain(bench, receiver, one, jobs.get(one)!)
        rounds.get(one.name)!.push(measured)
        tell(bench, round, one.name, measured)
      }
    }
    await Promise.all([receiver, ...all.flat()].map((one) => one.stop()))
    const best = faster(rounds, "ours", "graphile-worker, best", { work: WORK, atLeast: 1.1 })
    return {
      goals: [
        best,
        {
          ...best,
          work: "the same, by CPU time",
          goal: "≥ 0.9 × graphile-worker, best",
          atLeast: 0.9,
          ratios: best.cpuRatios,
          cpuRatios: [],
        },
        faster(rounds, "ours", "graphile-worker, default", { work: WORK, atLeast: 4 }),
      ],
      standings: standingsOf(rounds, "deliveries/s"),
    }
  },
}
