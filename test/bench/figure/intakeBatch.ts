/** Intake of batches of 100, against the accept statement driven alone with batches of the same events. */
import { ourServer, yardsticks } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { orderJson, postRequest } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"

const EVENTS = 100
const CONNECTIONS = 8

export const intakeBatch: Figure = {
  name: "intake-batch",
  title: "Intake of batches of 100",
  caption:
    "ours: one request with an array of 100 objects, which gets 100 receipts after the commit. the statement alone: the accept statement for the same events, with arrays prepared in advance, 200 at a time on two connections, as our server sends it; no HTTP, no parsing.",
  measure: async (bench) => {
    const { cluster } = bench
    const [ours, alone] = await Promise.all([
      cluster.database("ours").then((url) => ourServer(url)),
      yardsticks("the statement alone", "acceptAlone", async (number) => ({
        DATABASE_URL: await cluster.database(`alone_${number}`),
      })),
    ])
    const body = `[${Array.from({ length: EVENTS }, () => orderJson()).join(",")}]`
    const rounds = await alternate(
      bench,
      [
        { ...ours, units: EVENTS, requests: [postRequest(ours.intakePath, "application/json", body)] },
        { ...alone, drives: true },
      ],
      { connections: CONNECTIONS, rate: null },
    )
    await Promise.all([ours.stop(), alone.stop()])
    return {
      goals: [faster(rounds, "ours", "the statement alone", { work: "intake, batches of 100", atLeast: 0.8 })],
      standings: standingsOf(rounds, "events/s"),
    }
  },
}
