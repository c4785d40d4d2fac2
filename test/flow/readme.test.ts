/**
 * The README, taken at its word: every command of it is run by a shell as it stands there, in its order, and what the
 * README says comes of it has to come. Only what differs from machine to machine is replaced: `npm start` and `npx
 * cabinet` run the sources of this working tree, on a data directory and a port of their own, and so does the receiver.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { freePorts } from "../support/packed.ts"
import { compileCache } from "../support/program.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
/** Where the README has its receiver listen. */
const RECEIVER_PORT = "9400"
const START = /^(?:([A-Z_]+)=(\S+) )?npm start$/

interface Block {
  readonly commands: string
  /** What the README shows below it. */
  readonly shown: string | undefined
}

const blocks = (markdown: string): ReadonlyArray<Block> =>
  [...markdown.matchAll(/```sh\n([\s\S]*?)```(?:\n+```text\n([\s\S]*?)```)?/g)].map(([, commands, shown]) => ({
    commands: commands!.trim(),
    shown: shown?.trimEnd(),
  }))

/** Times differ, and how long an attempt took, and how wide a column is with them. */
const comparable = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ $/gm, "")
    .replaceAll(/^(TIME \d+ \S+ \d+) \d+ /gm, "$1 MS ")

let home: Home
let server: ServerProcess | undefined
let shell: ChildProcess
let shellOutput = ""

beforeAll(() => {
  home = newHome()
  const bin = join(home.dir, "bin")
  mkdirSync(bin)
  const command = home.commandLine([]).map((word) => `"${word}"`)
  writeFileSync(join(bin, "npx"), `#!/bin/sh\nshift\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 })
  symlinkSync(join(ROOT, "examples"), join(home.dir, "examples"))
  shell = spawn("sh", ["-s"], {
    cwd: home.dir,
    detached: true,
    env: {
      PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: home.dir,
      NODE_OPTIONS: "--conditions=source",
      ...compileCache(),
      CABINET_DATA_DIR: home.dataDir,
    },
  })
  for (const stream of [shell.stdout!, shell.stderr!]) {
    stream.on("data", (chunk: Buffer) => (shellOutput += chunk.toString()))
  }
})
afterAll(async () => {
  // The receiver of the tour runs in the shell's background: the whole group that was started here ends.
  if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL")
  await endAll()
}, 60_000)

/** Runs commands in the one shell that the reader has open, and gives what they printed. */
const inShell = async (commands: string): Promise<string> => {
  const mark = `done-${Math.random().toString(36).slice(2)}`
  shellOutput = ""
  shell.stdin!.write(`${commands}\necho "${mark}:$?"\n`)
  const end = new RegExp(`${mark}:(\\d+)\\n`)
  await new Promise<void>((resolve) => {
    const look = () => {
      if (!end.test(shellOutput)) return
      shell.stdout!.off("data", look)
      resolve()
    }
    shell.stdout!.on("data", look)
    look()
  })
  expect(end.exec(shellOutput)![1], `${commands}\n${shellOutput}`).toBe("0")
  return shellOutput
}

it("every command of the README does what the README says", async () => {
  const [port] = await freePorts(1)
  const readme = readFileSync(join(ROOT, "README.md"), "utf8")
  const tour = blocks(readme.replaceAll(RECEIVER_PORT, String(port)))
  expect(tour.length).toBeGreaterThan(8)
  for (const { commands, shown } of tour) {
    const start = START.exec(commands)
    if (start !== null) {
      if (server !== undefined) expect(await server.stop("SIGINT")).toBe(0)
      const [, name, value] = start
      server = await home.serve([], name === undefined ? {} : { [name]: value! })
      continue
    }
    const printed = comparable(await inShell(commands))
    for (const line of comparable(shown ?? "").split("\n")) expect(printed, commands).toContain(line)
  }
  // What the README filters by size has to be in numbers: as text, 9.50 comes after 10.
  const filters = [...readme.matchAll(/\.rows\("([\w.]+)", \{ fc: "(\w+)", fo: "([gl][te])", fv: "([^"]+)"/g)]
  expect(filters.length).toBeGreaterThan(0)
  for (const [, object, column, condition, value] of filters) {
    const filter = ["--fc", column!, "--fo", condition!, "--fv", value!]
    const { stdout } = await home.cabinet(["rows", object!, ...filter, "--json"])
    const { data, columns } = JSON.parse(stdout) as { data: Array<unknown>; columns: Array<Record<string, string>> }
    expect(data.length).toBeGreaterThan(0)
    expect(columns.find(({ name }) => name === column)!["type"]).toBe("numeric")
  }
  expect(await server!.stop("SIGINT")).toBe(0)
}, 900_000)
