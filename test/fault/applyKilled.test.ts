/**
 * Real processes of `cabinet apply`: two at once take turns, and one that is killed at any moment and run again ends as one
 * that nobody killed. Every second one goes over a server. A trial; APPLY_KILLS is how often one is killed.
 */
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cabinetState } from "data-cabinet/config/CabinetState"
import { fileText } from "data-cabinet/config/ExportFile"
import { SECTIONS } from "data-cabinet/config/FileSchema"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { randomFile } from "../../packages/cli/test/config/randomFile.ts"
import { endAll, newHome } from "../support/cabinetProcess.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { type Random, seeded } from "../support/random.ts"
import { testCabinet } from "../support/testCabinet.ts"

const KILLS = Number(process.env["APPLY_KILLS"] ?? "10")

/** Not how long it takes, but when it hangs. */
const TIMEOUT = 300_000 + KILLS * 30_000

const SEED = Number(process.env["SEED"] ?? "1")

const home = newHome()
let dir: string
let killed: TestDatabase
let whole: TestDatabase
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-apply-killed-"))
  mkdirSync(join(dir, "destinations"))
  killed = await testDatabase()
  whole = await testDatabase()
})
afterAll(async () => {
  await endAll()
  await Promise.all([killed, whole].map((database) => database.drop()))
  rmSync(dir, { recursive: true })
})

const environment = (database: TestDatabase) => ({
  DATABASE_URL: database.url,
  CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
  CABINET_DESTINATION_ROOT: join(dir, "destinations"),
  RANDOM_SECRET: "hush-hush",
})

/** Some of its secrets are written to files, whose names tell the rounds apart. */
const fileOf = (random: Random, round: number) => {
  const file = randomFile(random)
  const keys = [
    ...file.keys,
    ...["one", "two"].map((name) => ({ name: `${name} ${round}`, write_to: `${name}-${round}.key` })),
  ]
  return { ...file, keys, tokens: [...file.tokens, { name: "trial", role: "owner" }] }
}

const written = (folder: string, file: object): string => {
  const path = join(dir, folder, "cabinet.json")
  writeFileSync(path, JSON.stringify(file))
  return path
}

/** What the cabinet is, as a file, and its keys that are valid. */
const stateOf = async (database: TestDatabase) => {
  const cabinet = testCabinet(database.url)
  const text = await cabinet.runPromise(Effect.map(cabinetState(SECTIONS), fileText))
  await cabinet.dispose()
  const keys = "SELECT name FROM cabinet.api_key WHERE revoked_at IS NULL ORDER BY name"
  return { text, keys: await database.run(keys) }
}

const ARGS = ["--prune", "--yes"]

/** Applies a file; killed so many milliseconds after its plan, which is printed before its first step, if any are given. */
const run = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, killAfter?: number) => {
  const child = home.start(["apply", ...args, ...ARGS], env)
  const ended = once(child, "close")
  let said = ""
  child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()))
  await Promise.race([once(child.stdout!, "data"), ended])
  const planned = performance.now()
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter)
  await ended
  clearTimeout(timer)
  return { code: child.exitCode, said, millis: performance.now() - planned }
}

/** Applies a file to its end; returns how many milliseconds that took after the plan. */
const apply = async (database: TestDatabase, path: string): Promise<number> => {
  const { code, said, millis } = await run([path], environment(database))
  expect(code, said).toBe(0)
  return millis
}

/** Forgets the turn of a killed process: its lease ends. */
const later = (database: TestDatabase) =>
  database.run("UPDATE cabinet.clock SET shift = shift + interval '16 s' WHERE EXISTS (SELECT FROM cabinet.apply_turn)")

const folder = (): string => mkdtempSync(join(dir, "of-")).slice(dir.length + 1)

it(
  `an apply that is killed and run again ends as one that nobody killed (${KILLS} times)`,
  async () => {
    const random = seeded(SEED)
    const [ours, theirs] = [folder(), folder()]
    const token = (
      await home.cabinet(["token", "add", "trial", "--role", "owner", "--get", "token"], environment(killed))
    ).stdout.trim()
    await home.cabinet(["token", "add", "trial", "--role", "owner", "--get", "token"], environment(whole))
    const server = (await home.serve([], environment(killed))).baseUrl
    const changed = { before: 0, during: 0, after: 0 }
    for (let round = 0; round < KILLS; round++) {
      const file = fileOf(random, round)
      const path = written(ours, file)
      const remote = round % 2 === 0 ? [] : ["--server", server]
      const env = { ...environment(killed), ...(remote.length === 0 ? {} : { CABINET_TOKEN: token }) }
      const before = (await stateOf(killed)).text
      // The same from the same state, so it takes about as long.
      const span = await apply(whole, written(theirs, file))
      await run([path, ...remote], env, random(Math.ceil(span)))
      await later(killed)
      const between = (await stateOf(killed)).text
      const again = await run([path, ...remote], env)
      expect(again, `round ${round}, seed ${SEED}`).toMatchObject({ code: 0, said: "" })
      const state = await stateOf(killed)
      const { text, keys } = await stateOf(whole)
      expect(state.text.split("\n").sort(), `round ${round}, seed ${SEED}`).toEqual(text.split("\n").sort())
      expect(state.keys).toEqual(keys)
      changed[between === before ? "before" : between === state.text ? "after" : "during"]++
      // Each file has the key that is valid, and nothing lies beside it.
      expect(readdirSync(join(dir, ours)).sort()).toEqual(readdirSync(join(dir, theirs)).sort())
      for (const name of ["one", "two"]) {
        const secret = readFileSync(join(dir, ours, `${name}-${round}.key`), "utf8").trim()
        const asked = await fetch(`${server}/api/v1/tables`, { headers: { authorization: `Bearer ${secret}` } })
        expect(asked.status, `round ${round}, ${name}`).toBe(200)
      }
    }
    console.log(`killed before the first change, between changes, after the last: ${Object.values(changed).join(", ")}`)
    expect(changed.during).toBeGreaterThan(0)
  },
  TIMEOUT,
)

it(
  "two at once take turns: the cabinet is as after one and then the other, and no key is issued twice",
  async () => {
    const random = seeded(SEED + 1)
    for (let pair = 0; pair < Math.max(1, KILLS / 10); pair++) {
      const files = [fileOf(random, 0), fileOf(random, 0)] as const
      const at = async (work: (database: TestDatabase) => Promise<unknown>) => {
        const database = await testDatabase()
        await work(database)
        const state = await stateOf(database)
        await database.drop()
        expect(new Set(state.keys.map(({ name }) => name)).size).toBe(state.keys.length)
        return state.text.split("\n").sort()
      }
      const inOrder = (order: typeof files) =>
        at(async (database) => {
          for (const file of order) await apply(database, written(folder(), file))
        })
      const both = await at((database) => Promise.all(files.map((file) => apply(database, written(folder(), file)))))
      const ends = [await inOrder(files), await inOrder([files[1], files[0]])]
      expect(ends, `pair ${pair}, seed ${SEED}`).toContainEqual(both)
    }
  },
  TIMEOUT,
)
