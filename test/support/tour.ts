/**
 * Executes a page of the documentation as written: one shell runs its commands in order, and their output must be what the
 * page shows. Only what differs between machines is replaced: `npm start` and `npx cabinet` run the sources of this working
 * tree, with a separate data directory and port, and receivers also get another port.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import { type Home, newHome, type ServerProcess } from "./cabinetProcess.ts"
import { freePorts } from "./packed.ts"
import { compileCache } from "./program.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
/** The port of the receivers on the pages. */
const RECEIVER_PORTS = ["9400", "9401", "9402", "9403", "9404"]
const START = /^(?:([A-Z_]+)=(\S+) )?npm start$/

export interface Block {
  readonly commands: string
  /** The output that the page shows. */
  readonly shown: string | undefined
}

export const readPage = (page: string): string => readFileSync(join(ROOT, page), "utf8")

export const blocks = (markdown: string): ReadonlyArray<Block> =>
  [...markdown.matchAll(/```sh\n([\s\S]*?)```(?:\n+```text\n([\s\S]*?)```)?/g)].map(([, commands, shown]) => ({
    commands: commands!.trim(),
    shown: shown?.trimEnd(),
  }))

/** Masks times, durations of attempts, and the widths of columns, which differ. */
const comparable = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ $/gm, "")
    .replaceAll(/ in \d+ ms\./g, " in MS.")
    .replaceAll(/^(TIME \d+ \S+ \d+) \d+ /gm, "$1 MS ")

export interface Tour {
  readonly home: Home
  /** Runs a page's commands, all of which have to succeed. */
  readonly run: (page: string) => Promise<ReadonlyArray<Block>>
  /** The server that the page's `npm start` has started. */
  readonly server: () => ServerProcess | undefined
  readonly start: (env: Readonly<Record<string, string>>) => Promise<void>
  readonly end: () => void
}

export const newTour = async (): Promise<Tour> => {
  const home = newHome()
  const ports = await freePorts(RECEIVER_PORTS.length)
  const shell = openShell(home)
  let server: ServerProcess | undefined

  const start = async (env: Readonly<Record<string, string>>) => {
    if (server !== undefined) expect(await server.stop("SIGINT")).toBe(0)
    server = await home.serve([], env)
  }

  const run = async (page: string) => {
    let markdown = readPage(page)
    for (const [i, port] of RECEIVER_PORTS.entries()) markdown = markdown.replaceAll(port, String(ports[i]))
    const all = blocks(markdown)
    for (const { commands, shown } of all) {
      const started = START.exec(commands)
      if (started !== null) {
        const [, name, value] = started
        await start(name === undefined ? {} : { [name]: value! })
        continue
      }
      const printed = comparable(await shell.run(commands))
      for (const line of comparable(shown ?? "").split("\n")) expect(printed, commands).toContain(line)
    }
    return all
  }
  return { home, run, server: () => server, start, end: shell.end }
}

/** The shell that a reader has open. */
const openShell = (home: Home) => {
  const bin = join(home.dir, "bin")
  mkdirSync(bin)
  const command = home.commandLine([]).map((word) => `"${word}"`)
  writeFileSync(join(bin, "npx"), `#!/bin/sh\nshift\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 })
  symlinkSync(join(ROOT, "examples"), join(home.dir, "examples"))
  const shell: ChildProcess = spawn("sh", ["-s"], {
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
  let output = ""
  for (const stream of [shell.stdout!, shell.stderr!]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  }

  const run = async (commands: string): Promise<string> => {
    const mark = `done-${Math.random().toString(36).slice(2)}`
    output = ""
    shell.stdin!.write(`${commands}\necho "${mark}:$?"\n`)
    const end = new RegExp(`${mark}:(\\d+)\\n`)
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!end.test(output)) return
        shell.stdout!.off("data", look)
        resolve()
      }
      shell.stdout!.on("data", look)
      look()
    })
    expect(end.exec(output)![1], `${commands}\n${output}`).toBe("0")
    return output
  }

  const end = () => {
    // A page starts receivers in the background, so the whole process group is ended.
    if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL")
  }
  return { run, end }
}
