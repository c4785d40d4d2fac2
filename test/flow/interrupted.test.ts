/**
 * The exit code of a command that a signal interrupts: `cabinet … && rm …` continues after Ctrl-C only if a signal is the
 * normal way to end the command. A database that accepts connections and never responds holds up each command.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"

let home: Home
let silent: Server
const sockets = new Set<Socket>()

beforeAll(async () => {
  home = newHome()
  silent = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
  })
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  await endAll()
  for (const socket of sockets) socket.destroy()
  silent.close()
})

const codeOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve))

it.each([
  ["SIGINT", 130, "key list"],
  ["SIGTERM", 143, "key list"],
  ["SIGHUP", 129, "key list"],
  ["SIGTERM", 143, "migrate"],
  ["SIGINT", 130, "events --json"],
  ["SIGTERM", 143, "doctor"],
  ["SIGINT", 0, "events --follow"],
  ["SIGTERM", 0, "events -f --json"],
  ["SIGINT", 0, "serve --port 0"],
  ["SIGTERM", 0, "serve --port 0"],
  ["SIGTERM", 0, "work"],
])("%s ends with %d: cabinet %s", async (signal, code, words) => {
  const { port } = silent.address() as AddressInfo
  const heldUp = once(silent, "connection")
  const child = home.start(words.split(" "), { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/cabinet` })
  const ended = codeOf(child)
  await heldUp
  child.kill(signal as NodeJS.Signals)
  expect(await ended).toBe(code)
})

it("a signal interrupts even a script that waits for its text", async () => {
  const child = home.start(["sql", "-"])
  const ended = codeOf(child)
  // The only sign that it reads is that its input has left the pipe.
  child.stdin!.write("SELECT 1;".repeat(200_000))
  await once(child.stdin!, "drain")
  child.kill("SIGINT")
  expect(await ended).toBe(130)
})

const PREPARE = new URL("../../scripts/prepare.mjs", import.meta.url).href

it.each([
  [{ stays: true }, 0],
  [{}, 143],
])("npm's scripts end as interrupted by a signal, except a server: %j", async (options, code) => {
  const inner = `process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000); console.log("up")`
  const outer = `import { runAndExit } from ${JSON.stringify(PREPARE)}
    runAndExit(["-e", ${JSON.stringify(inner)}], ${JSON.stringify(options)})`
  const child = spawn(process.execPath, ["--input-type=module", "-e", outer], { stdio: ["ignore", "pipe", "inherit"] })
  const ended = codeOf(child)
  await once(child.stdout, "data")
  child.kill("SIGTERM")
  expect(await ended).toBe(code)
})
