/** What `cabinet bench` leaves behind: nothing, however it ends. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, it } from "vitest"

const main = join(import.meta.dirname, "main.ts")
let home: string
beforeAll(() => {
  // Short: a unix socket's path holds 107 bytes.
  home = mkdtempSync("/tmp/dc-b-")
  chmodSync(home, 0o755)
})
afterAll(() => rmSync(home, { recursive: true }))

const started = async () => {
  const bench = spawn(process.execPath, ["--conditions=source", main, "arrival", "--quick"], {
    env: { ...process.env, TMPDIR: home },
    stdio: ["ignore", "ignore", "pipe"],
  })
  await once(bench.stderr, "data")
  assert.strictEqual(readdirSync(home).filter((name) => name.startsWith("dc-bench-")).length, 1)
  return bench
}

it.each([
  ["nobody reads what it says", 1, (bench: Awaited<ReturnType<typeof started>>) => void bench.stderr.destroy()],
  ["it is interrupted", 130, (bench: Awaited<ReturnType<typeof started>>) => void bench.kill("SIGINT")],
])("cabinet bench leaves nothing behind when %s", { timeout: 60_000 }, async (_, code, stop) => {
  const bench = await started()
  stop(bench)
  assert.deepStrictEqual(await once(bench, "exit"), [code, null])
  assert.deepStrictEqual(
    readdirSync(home).filter((name) => name.startsWith("dc-bench-")),
    [],
  )
})
