/** From the commit of an event to its arrival at a receiver, on an idle cabinet, in units of a bare POST to that receiver. */
import { Pool } from "undici"
import { cabinetCommand, ourServer, postOne, yardstick } from "../contestant.ts"
import { type Figure, median } from "../figure.ts"
import { orderJson } from "../load/request.ts"

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const headers = { "content-type": "application/json" }

export const arrival: Figure = {
  name: "arrival",
  title: "From commit to arrival",
  caption:
    "One event at a time on an idle cabinet, 30 ms apart. Measured from the moment at which the sender has the response, which is sent after the commit, until the receiver has the delivery's head; a delivery that arrives before the response counts as 0. In between: claim, address check, signature, connection. The bare POST is the same body to the same receiver on a kept-alive connection, from sending to arrival.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    const ours = await ourServer(url, ["--allowed-networks", "127.0.0.0/8"])
    await postOne(ours)
    const receiver = await yardstick("receiver", "arrivals")
    const target = `http://127.0.0.1:${receiver.port}`
    await cabinetCommand(url, "address", "add", `${target}/hook`, "--allowed-networks", "127.0.0.0/8")
    const intake = new Pool(`http://127.0.0.1:${ours.port}`, { connections: 1 })
    const bare = new Pool(target, { connections: 1 })
    let n = 0
    const one = async (pool: Pool, path: string, from: "sending" | "answer") => {
      await sleep(30)
      const arrived = receiver.hear()
      const sent = process.hrtime.bigint()
      const body = orderJson(String(++n).padStart(12, "0"))
      const { body: rest, statusCode } = await pool.request({ path, method: "POST", headers, body })
      const answered = process.hrtime.bigint()
      await rest.dump()
      if (statusCode > 299) throw new Error(`${path} answered ${statusCode}`)
      const millis = Number(BigInt((await arrived) as string) - (from === "answer" ? answered : sent)) / 1e6
      return Math.max(0, millis)
    }
    const all = { bare: [] as Array<number>, ours: [] as Array<number> }
    const ratios: Array<number> = []
    for (let round = -1; round < bench.rounds; round++) {
      const posts: Array<number> = []
      const arrivals: Array<number> = []
      for (let time = 0; time < bench.sized(15, 50); time++) {
        posts.push(await one(bare, "/hook", "sending"))
        arrivals.push(await one(intake, ours.intakePath, "answer"))
      }
      if (round === -1) continue
      const [post, arrived] = [median(posts), median(arrivals)]
      bench.say(`  ${round + 1} bare POST ${post.toFixed(2)} ms, commit to arrival ${arrived.toFixed(2)} ms`)
      all.bare.push(...posts)
      all.ours.push(...arrivals)
      ratios.push(Math.max(0, arrived - post) / post)
    }
    await Promise.all([intake.close(), bare.close(), ours.stop(), receiver.stop()])
    return {
      goals: [
        {
          work: "commit to arrival, idle, minus a measured bare POST",
          goal: "median ≤ 5 × that POST",
          atMost: 5,
          ratios,
          cpuRatios: [],
        },
      ],
      standings: [
        { contestant: "bare POST, to arrival", value: median(all.bare), unit: "ms" },
        { contestant: "ours, commit to arrival", value: median(all.ours), unit: "ms" },
      ],
    }
  },
}
