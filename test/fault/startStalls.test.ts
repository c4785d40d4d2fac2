/**
 * A database that stops responding at any moment of a server's start: the server waits, says so, and then serves. The silence
 * lasts until the server has noticed it; what was sent before is lost.
 */
import type { ChildProcess } from "node:child_process"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { testDatabase } from "../support/postgres.ts"
import { silentProxy } from "../support/silentProxy.ts"

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 })

let home: Home
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

// Statements of three steps: the first connection, the first objects, and the recorded base URL.
it.each([["pg_stat_activity"], ["INTO cabinet.source"], ["INTO cabinet.api_key"], ["INTO cabinet.base_address"]])(
  "serve waits for a database that falls silent when it is sent %s, and then serves",
  async (statement) => {
    const database = await testDatabase()
    let isFirst = true
    const proxy = await silentProxy(database, (sent) => {
      if (!isFirst || !sent.includes(statement)) return false
      isFirst = false
      return true
    })
    const env = { DATABASE_URL: proxy.url, BASE_URL: "http://127.0.0.1:1" }
    const child = home.start(["serve", "--json", "--port", "0"], env)
    const text = textOf(child)
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    await expect
      .poll(() => /waiting up to \d+ s for the database at 127\.0\.0\.1:\d+\/\w+: .+/.test(text.log), {
        timeout: 100_000,
      })
      .toBe(true)
    proxy.recover()
    await expect.poll(() => text.out.includes("base_url"), { timeout: 100_000 }).toBe(true)
    expect(isFirst).toBe(false)
    expect(text.log).toMatch(/the database at .* is available after \d+ s/)
    const { source, key } = JSON.parse(text.out) as { source: unknown; key: unknown }
    expect([source, key]).not.toContain(null)
    expect(await database.run("SELECT FROM cabinet.source")).toHaveLength(1)
    child.kill("SIGINT")
    expect(await ended).toBe(0)
    proxy.close()
    await database.drop()
  },
)
