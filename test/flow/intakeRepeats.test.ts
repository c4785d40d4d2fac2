import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { startIntakeProcess } from "../support/intakeProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
let servers: ReadonlyArray<Awaited<ReturnType<typeof startIntakeProcess>>>

beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
  servers = await Promise.all([startIntakeProcess(database.url), startIntakeProcess(database.url)])
})
afterAll(async () => {
  await Promise.all(servers.map(({ stop }) => stop()))
  await cabinet.close()
})

interface Answer {
  readonly id: number
  readonly duplicate: boolean
}

it("exactly one of equal bodies is the first when 64 callers send them to two processes at once", async () => {
  const source = await cabinet.source("At once")
  await database.run(
    `INSERT INTO cabinet.address (url, secret, every_source) VALUES ('http://127.0.0.1:9/', 's', true)`,
  )
  const send = async (caller: number, body: number): Promise<Answer> => {
    const response = await fetch(
      `http://127.0.0.1:${servers[caller % servers.length]!.port}/webhook/${source.intakeSecret}`,
      { method: "POST", headers: { "content-type": "application/json" }, body: `{"order":${body},"a":[1,2]}` },
    )
    assert.strictEqual(response.status, 200)
    return (await response.json()) as Answer
  }
  const rounds = 8
  for (let body = 0; body < rounds; body++) {
    const answers = await Promise.all(Array.from({ length: 64 }, (_, caller) => send(caller, body)))
    const firsts = answers.filter(({ duplicate }) => !duplicate)
    assert.strictEqual(firsts.length, 1)
    const [first] = firsts
    assert.isTrue(answers.every(({ id }) => id >= first!.id))
    const [found] = await database.run(
      `SELECT count(*)::int AS repeats FROM cabinet.event WHERE source_id = ${source.id} AND repeat_of = ${first!.id}`,
    )
    assert.strictEqual(found!["repeats"], 63)
  }
  const [rows] = await database.run(`SELECT count(*)::int AS n FROM sources."${source.table!.name}"`)
  assert.strictEqual(rows!["n"], rounds)
  const [deliveries] = await database.run(
    `SELECT count(*)::int AS n, count(DISTINCT event_id)::int AS events FROM cabinet.delivery_all`,
  )
  assert.deepStrictEqual(deliveries, { n: rounds, events: rounds })
  const feed = (await cabinet.feed(source.id)).map(
    (item) => JSON.parse(item) as { id: number; repeat_of: number | null },
  )
  assert.strictEqual(feed.length, rounds * 64)
  const seen = new Set<number>()
  for (const event of feed) {
    if (event.repeat_of !== null) assert.isTrue(seen.has(event.repeat_of), "a repeat stands before its first")
    seen.add(event.id)
  }
})
