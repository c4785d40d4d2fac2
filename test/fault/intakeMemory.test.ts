/** A hostile sender whose bodies become large in memory, beside an honest one, while the database makes no progress. */
import { MemoryBudget } from "@data-cabinet/core/limit/MemoryBudget"
import { afterEach, assert, beforeEach, it, vi } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
let cabinet: IntakeCabinet
let budget: MemoryBudget
beforeEach(async () => {
  database = await testDatabase()
  budget = new MemoryBudget(6 * 1_048_576)
  cabinet = await intakeCabinet(database.url, { proxies: ["127.0.0.1"], memory: budget })
})
afterEach(async () => {
  await cabinet.close()
  await database.drop()
})

const send = async (url: string, ip: string, body: string) => {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "x-forwarded-for": ip },
  })
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() }
}

/** Some 1 MB in memory: 65 times its bytes. */
const SWELLING = `{"a":[${'{"":1},'.repeat(2_200)}1],"n":`
const HONEST = "203.0.113.1"
const HOSTILE = "198.51.100.9"

it("a sender whose bodies grow in memory has to retry, and an honest one is served meanwhile", async () => {
  const hostile = cabinet.address(await cabinet.source("Hostile"))
  const shared = cabinet.address(await cabinet.source("Shared"))
  const honest = cabinet.address(await cabinet.source("Honest"))
  assert.strictEqual((await send(honest, HONEST, "{}")).status, 200)
  await database.run("CREATE TABLE public.go ()")
  await database.run("GRANT SELECT ON public.go TO PUBLIC")
  await database.run(`
    CREATE FUNCTION public.until_go() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN WHILE NOT EXISTS (SELECT FROM public.go) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END $$`)
  await database.run(
    `CREATE TRIGGER until_go BEFORE INSERT ON cabinet.event FOR EACH ROW EXECUTE FUNCTION public.until_go()`,
  )
  // The address floods two sources, one of which others use as well.
  const refused: Array<Awaited<ReturnType<typeof send>>> = []
  const swelling = Array.from({ length: 10 }, (_, n) =>
    send(n % 2 === 0 ? hostile : shared, HOSTILE, `${SWELLING}${n}}`).then((answer) => {
      if (answer.status === 503) refused.push(answer)
      return answer
    }),
  )
  await vi.waitFor(() => assert.isAtLeast(refused.length, 7), { timeout: 120_000 })
  assert.isAbove(budget.free, budget.limit / 2)
  for (const { retryAfter, text } of refused) {
    assert.strictEqual(retryAfter, "5")
    assert.deepInclude(JSON.parse(text), { ok: false, error: "unavailable" })
    assert.match(text, /Nothing can be saved right now; send it again/)
  }
  const free = budget.free
  const text = `{"text":"${"x".repeat(20_000)}","n":`
  const fair = [honest, shared, honest, shared].map((url, n) => send(url, HONEST, `${text}${n}}`))
  await vi.waitFor(() => assert.isAtMost(budget.free, free - 4 * 60_000), { timeout: 120_000 })
  await database.run("INSERT INTO public.go DEFAULT VALUES")
  for (const answer of await Promise.all(fair)) assert.deepInclude(JSON.parse(answer.text), { ok: true })
  const taken = (await Promise.all(swelling)).filter(({ status }) => status === 200).length
  assert.strictEqual(taken + refused.length, 10)
  const [events] = await database.run("SELECT count(*)::int AS n FROM cabinet.event")
  assert.deepStrictEqual(events, { n: 1 + taken + 4 })
  assert.isTrue(budget.isUnused)
})
