/** `npm run bench` leaves nothing behind, however it ends. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, globSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, it } from "vitest"

const main = join(import.meta.dirname, "main.ts")
let home: string
beforeAll(() => {
  // Short: a unix socket's path holds 107 bytes.
  home = mkdtempSync("/tmp/dc-b-")
  chmodSync(home, 0o755)
})
afterAll(() => rmSync(home, { recursive: true }))

/** Starts the benchmark; the code in `more` runs in its process first. */
const start = (more = "") => {
  const first = `--import=data:text/javascript,${encodeURIComponent(more)}`
  return spawn(process.execPath, ["--conditions=source", first, main, "arrival", "--quick"], {
    env: { ...process.env, TMPDIR: home },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  })
}
const clusters = () => readdirSync(home).filter((name) => name.startsWith("dc-bench-"))

type Run = ReturnType<typeof start>
const interrupt = (bench: Run) => void bench.kill("SIGINT")

const LOST = `() => setImmediate(() => { throw new Error("lost") })`
it.each([
  ["nobody reads what it says", 1, "", (bench: Run) => void bench.stderr.destroy()],
  ["it is interrupted", 130, "", interrupt],
  ["it is interrupted and fails at that", 130, `process.once("SIGINT", ${LOST})`, interrupt],
  ["it fails where nobody waits", 1, `process.once("SIGUSR2", ${LOST})`, (bench: Run) => void bench.kill("SIGUSR2")],
])("npm run bench leaves nothing behind when %s", { timeout: 60_000 }, async (_, code, more, stop) => {
  const bench = start(more)
  await once(bench.stderr, "data")
  assert.strictEqual(clusters().length, 1)
  stop(bench)
  assert.deepStrictEqual(await once(bench, "exit"), [code, null])
  assert.deepStrictEqual(clusters(), [])
})

it("npm run bench leaves nothing behind when it is interrupted before it begins", { timeout: 60_000 }, async () => {
  const bench = start()
  const made = () => globSync("dc-bench-*/**/pg_filenode.map", { cwd: home })
  while (made().length === 0) await sleep(5)
  // As from a terminal, which signals its children as well.
  process.kill(-bench.pid!, "SIGINT")
  const [exit, said] = await Promise.all([once(bench, "exit"), text(bench.stderr)])
  assert.deepStrictEqual(exit, [130, null])
  assert.strictEqual(said, "")
  assert.deepStrictEqual(clusters(), [])
})
