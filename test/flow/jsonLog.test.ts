/**
 * A server with a JSON log: every line of its output can be parsed, whatever happens. And a taken port, which is detected
 * before a database is created.
 */
import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { afterAll, expect, it } from "vitest"
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { endAll, newHome } from "../support/cabinetProcess.ts"

afterAll(() => endAll())

interface Line {
  readonly level: string
  readonly message: string
}

/** Everything that a process writes to either stream. */
const linesOf = (child: ChildProcess) => {
  let text = ""
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
  return () => text.split("\n").filter((line) => line !== "")
}
const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve))

it("every line of a server is JSON with LOG_FORMAT=json, and one says that it has started, where and which version", async () => {
  const home = newHome()
  const child = home.start(["serve", "--port", "0"], { LOG_FORMAT: "json" })
  const lines = linesOf(child)
  await expect.poll(() => lines().some((line) => line.includes("is running at")), { timeout: 120_000 }).toBe(true)
  child.kill("SIGINT")
  expect(await ended(child)).toBe(0)
  const records = lines().map((line) => JSON.parse(line) as Line)
  expect(records.filter(({ message }) => message.includes("is running at"))).toEqual([
    expect.objectContaining({
      level: "INFO",
      version: VERSION,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      data_dir: home.dataDir,
    }),
  ])
  // The port was chosen only for this run, so it is not recorded.
  const { stdout } = await home.cabinet(["source", "list", "--json"])
  expect(stdout).not.toContain(
    (records.find(({ message }) => message.includes("is running at")) as never as { url: string }).url,
  )
})

it("a server that cannot start says so in JSON, and creates no database when its port is taken", async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve))
  const { port } = taken.address() as AddressInfo
  const home = newHome()
  const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp, number]> = [
    [["--port", String(port), "--log-format", "json"], /--port or PORT/, 1],
    [["--log-format=json", "--no-such-flag"], /no-such-flag/, 2],
    [["--log-format=json", "--data-dir", "/proc/cabinet"], /cannot be created/, 1],
  ]
  for (const [args, message, code] of wrong) {
    const child = home.start(["serve", ...args], {})
    const lines = linesOf(child)
    expect(await ended(child)).toBe(code)
    const records = lines().map((line) => JSON.parse(line) as Line)
    expect(records).toEqual([{ time: expect.any(String), level: "ERROR", message: expect.stringMatching(message) }])
  }
  expect(existsSync(home.dataDir)).toBe(false)
  taken.close()
})
