/**
 * A server whose database does not exist yet waits during temporary errors, and says so; a permanent error ends it at once.
 */
import { connect, createServer } from "node:net"
import type { ChildProcess } from "node:child_process"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { freePorts } from "../support/packed.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Refusal, refusingServer } from "../support/refusingServer.ts"

let home: Home
const database = withDatabase()
beforeAll(() => {
  home = newHome()
})
afterAll(() => endAll())

const textOf = (child: ChildProcess) => {
  const text = { out: "", log: "" }
  child.stdout!.on("data", (chunk: Buffer) => (text.out += chunk.toString()))
  child.stderr!.on("data", (chunk: Buffer) => (text.log += chunk.toString()))
  return text
}
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 100_000, interval: 50 }).toBe(true)
const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve))

it.each([
  ["serve", ["serve", "--json", "--port", "0"], "base_url"],
  ["worker", ["worker", "--json"], "working"],
])(
  "%s waits for a database that does not exist yet, with a message, and continues once it does",
  async (_, args, ready) => {
    const port = (await freePorts(1))[0]!
    const url = new URL(database.url)
    url.host = `127.0.0.1:${port}`
    url.search = ""
    const child = home.start(args, { DATABASE_URL: url.toString() })
    const text = textOf(child)
    await until(() => /waiting up to \d+ s for the database at 127\.0\.0\.1:\d+\/\w+: .*ECONNREFUSED/.test(text.log))
    const proxy = createServer((near) => {
      const far = connect(`${database.socketDir}/.s.PGSQL.5432`)
      near.on("error", () => far.destroy()).pipe(far)
      far.on("error", () => near.destroy()).pipe(near)
    })
    await new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve))
    await until(() => text.out.includes(ready))
    expect(text.log).toMatch(/the database at .* is available after \d+ s/)
    child.kill("SIGINT")
    expect(await ended(child)).toBe(0)
    proxy.close()
  },
)

it("serve waits while the database starts, stops immediately on a signal, and fails immediately for permanent errors", async () => {
  let refusal: Refusal = { code: "57P03", message: "the database system is starting up" }
  const server = await refusingServer(() => refusal)
  const serve = () => home.start(["serve", "--json", "--port", "0"], { DATABASE_URL: server.url })
  const waiting = serve()
  const waitingText = textOf(waiting)
  await until(() => /waiting up to \d+ s .*it is starting up/.test(waitingText.log))
  const stopped = ended(waiting)
  const toldAt = performance.now()
  waiting.kill("SIGINT")
  expect(await stopped).toBe(0)
  // By itself it would wait for a minute.
  expect(performance.now() - toldAt).toBeLessThan(30_000)
  refusal = { code: "08P01", message: "unsupported startup parameter: jit" }
  const refused = serve()
  const text = textOf(refused)
  expect(await ended(refused)).toBe(1)
  expect(text.log).toMatch(/^The database at .* cannot be used: the connection pooler refuses sessions/)
  expect(text.log).not.toContain("waiting")
  await server.close()
})

it("a command does not wait", async () => {
  const result = await home.cabinet(["source", "list"], { DATABASE_URL: "postgres://nobody@127.0.0.1:9/cabinet" })
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/cannot be reached/) })
  expect(result.stderr).not.toContain("waiting")
})
