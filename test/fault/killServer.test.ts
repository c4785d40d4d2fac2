/**
 * `kill -9` of the server under load: every event whose sender got a 200 is in the feed, has its row, and is eventually
 * delivered.
 */
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { verifyDelivery } from "data-cabinet"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const SENDERS = 8
/** The server is killed after this many responses, whatever else is in flight. */
const ANSWERS_BEFORE_KILL = 150
const ENV = { CABINET_ALLOWED_NETWORKS: "127.0.0.0/8", CABINET_INTAKE_RATE: "0", CABINET_API_RATE: "100000" }

let home: Home
let receiver: Receiver

beforeAll(async () => {
  home = newHome()
  receiver = await startReceiver()
})
afterAll(async () => {
  await endAll()
  await receiver.close()
})

/** Sends numbered submissions one after the other until the server is gone; returns the acknowledged ids. */
const sendUntilGone = async (intake: string, sender: number, answered: () => void): Promise<ReadonlyArray<number>> => {
  const ids: Array<number> = []
  try {
    for (let n = 0; n < 10_000; n++) {
      const response = await fetch(intake, {
        method: "POST",
        body: new URLSearchParams({ sender: `${sender}`, n: `${n}` }),
      })
      const answer = (await response.json()) as { id: number }
      ids.push(answer.id)
      answered()
    }
  } catch {
    // The server is gone: requests in flight have no response, so nothing is promised about them.
  }
  return ids
}

/** Moves the database's clock forward, so that leases of a minute end without waiting. */
const twoMinutesLater = () =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(EmbeddedPostgres.join({ dataDir: home.dataDir }), ({ url }) =>
        Effect.promise(() => runSql(url, "UPDATE cabinet.clock SET shift = '2 minutes'")),
      ),
    ),
  )

it("every acknowledged event has its row and its delivery after the server was killed under load", async () => {
  const server = await home.serve([], ENV)
  const { key } = server.welcome.key!
  const added = await home.cabinet(["address", "add", receiver.url, "--json"], ENV)
  const { secret } = JSON.parse(added.stdout) as { secret: string }

  let answers = 0
  let enough = () => {}
  const killed = new Promise<void>((resolve) => (enough = resolve)).then(() => server.stop("SIGKILL"))
  const sent = Array.from({ length: SENDERS }, (_, sender) =>
    sendUntilGone(server.welcome.source!.intake_url, sender, () => {
      answers++
      if (answers === ANSWERS_BEFORE_KILL) enough()
    }),
  )
  const acknowledged = (await Promise.all(sent)).flat()
  await killed
  expect(acknowledged.length).toBeGreaterThanOrEqual(ANSWERS_BEFORE_KILL)

  const again = await home.serve([], ENV)
  await twoMinutesLater()
  const read = async (path: string) => {
    const all: Array<Record<string, unknown>> = []
    let cursor = ""
    for (let more = true; more;) {
      const url = `${again.baseUrl}${path}?limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      expect(response.status).toBe(200)
      const page = (await response.json()) as {
        data: Array<Record<string, unknown>>
        has_more: boolean
        next_cursor: string
      }
      all.push(...page.data)
      cursor = page.next_cursor
      more = page.has_more
    }
    return all
  }
  const events = new Set((await read("/api/v1/events")).map((event) => event["id"]))
  expect(acknowledged.filter((id) => !events.has(id))).toEqual([])
  // A row whose table could not get its columns in time is written a moment later.
  const withoutRow = async () => {
    const rows = new Set((await read("/api/v1/tables/sources/first_source/rows")).map((row) => row["_event_id"]))
    return acknowledged.filter((id) => !rows.has(id))
  }
  await expect.poll(withoutRow).toEqual([])

  const deliveredIds = () =>
    new Set(receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { data: { id: number } }).data.id))
  // Every committed event is delivered, acknowledged or not.
  await receiver.until(() => deliveredIds().size >= events.size)
  expect([...events].filter((id) => !deliveredIds().has(id as number))).toEqual([])
  expect(receiver.received.every(({ body, signature }) => verifyDelivery(body, signature, secret))).toBe(true)
  expect(await again.stop("SIGTERM")).toBe(0)
})
