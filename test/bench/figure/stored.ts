/** Intake with millions of events stored, and claims with a million waiting, against a cabinet that is nearly empty. */
import { ourServer, postOne, yardstick } from "../contestant.ts"
import type { Bench, Figure } from "../figure.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"
import { seedDeliveries, seedEvents } from "../seed.ts"
import { oursAt } from "./intakeJson.ts"

const intake = async (bench: Bench) => {
  const { cluster } = bench
  const stored = bench.sized(20_000, 1_000_000, 10_000_000)
  const filled = async () => {
    const url = await cluster.database("stored")
    const server = await ourServer(url, [], "stored")
    await postOne(server)
    await seedEvents(cluster, url, stored)
    return server
  }
  const [empty, full] = await Promise.all([
    cluster.database("empty").then((url) => ourServer(url, [], "empty")),
    filled(),
  ])
  const rounds = await alternate(bench, [oursAt(empty), oursAt(full)], { connections: 64, rate: null })
  await Promise.all([empty.stop(), full.stop()])
  const work = `intake with ${stored.toLocaleString("en")} events stored`
  return {
    goals: [faster(rounds, "stored", "empty", { work, atLeast: 0.9 })],
    standings: standingsOf(rounds, "requests/s"),
  }
}

const ADDRESSES = 10

const claims = async (bench: Bench) => {
  const { cluster } = bench
  const waiting = bench.sized(120_000, 1_000_000)
  const few = bench.rounds * bench.sized(30_000, 40_000)
  const contestant = async (name: string, database: string, count: number) => {
    const url = await cluster.database(database)
    const server = await ourServer(url, ["--no-delivery"])
    await postOne(server)
    await server.stop()
    await seedEvents(cluster, url, 10_000)
    await cluster.run(
      url,
      `INSERT INTO cabinet.address (url, secret, every_source)
       SELECT 'http://127.0.0.1:9/' || n, 'not used', false FROM generate_series(1, ${ADDRESSES}) n`,
    )
    const addresses = (await cluster.run(url, "SELECT id::int AS id FROM cabinet.address")).map(({ id }) => Number(id))
    for (let made = 0; made < count; made += 10_000 * ADDRESSES) {
      await seedDeliveries(cluster, url, addresses, Math.min(count - made, 10_000 * ADDRESSES))
    }
    await cluster.run(url, "VACUUM ANALYZE cabinet.delivery")
    return { ...(await yardstick(name, "claims", { DATABASE_URL: url })), drives: true as const }
  }
  const [small, large] = await Promise.all([
    contestant("few waiting", "few", few),
    contestant("many waiting", "many", waiting),
  ])
  // Short, so that the short queue does not come to its end. And no checkpoint before each round: after one, PostgreSQL
  // writes every page whole that a round is the first to change, and of a longer queue's indexes that is more pages.
  await cluster.settle()
  const brief = {
    ...bench,
    cluster: { ...cluster, settle: () => Promise.resolve() },
    runIn: bench.sized(0.2, 1),
    warmUp: bench.sized(0.1, 0.2),
    seconds: bench.sized(0.3, 0.6),
  }
  const rounds = await alternate(brief, [small, large], { connections: 0, rate: null })
  await Promise.all([small.stop(), large.stop()])
  const work = `claiming and settling with ${waiting.toLocaleString("en")} deliveries waiting`
  return {
    goals: [
      faster(rounds, "many waiting", "few waiting", {
        work,
        atLeast: 0.9,
        other: `${few.toLocaleString("en")} waiting`,
      }),
    ],
    standings: standingsOf(rounds, "deliveries/s"),
  }
}

export const stored: Figure = {
  name: "stored",
  title: "Growing",
  caption:
    "All are ours. Intake: the same JSON to a cabinet without events and to one with many. Claims: batches of a hundred over ten addresses, claimed and settled without being sent, from a short queue and from a long one.",
  measure: async (bench) => {
    const [taken, claimed] = [await intake(bench), await claims(bench)]
    return {
      goals: [...taken.goals, ...claimed.goals],
      standings: [...taken.standings, ...claimed.standings],
    }
  },
}
