import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { binariesIn, shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { startPostmaster, stopPostmaster } from "@data-cabinet/store-pg/embedded/Postmaster"
import { candidates, findLauncher, giveTo, type Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { afterEach, beforeEach, expect, it } from "vitest"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-launch-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const works = (launcher: Launcher, program: string) => {
  try {
    return findLauncher(program, {}, dir, [launcher]) === launcher
  } catch {
    return false
  }
}

it("findLauncher gives a way to run PostgreSQL here, whoever we are", () => {
  const { postgres, env } = shippedBinaries(join(dir, "lib"))
  expect(candidates()).toContainEqual(findLauncher(postgres, env, dir))
})

it("findLauncher passes over a way that does not work", () => {
  const { postgres, env } = shippedBinaries(join(dir, "lib"))
  const broken: Launcher = { name: "namespace", prefix: ["no-such-program"] }
  expect(findLauncher(postgres, env, dir, [broken, ...candidates()]).prefix).not.toEqual(broken.prefix)
})

it("findLauncher says why each way failed when none works", () => {
  const broken: Launcher = { name: "namespace", prefix: ["no-such-program"] }
  expect(() => findLauncher("postgres", {}, dir, [broken])).toThrow(/no-such-program/u)
})

it("one cluster runs by every way that works here, one after another", { timeout: 60_000 }, async () => {
  const binaries = shippedBinaries(join(dir, "lib"))
  const pgdata = join(dir, "pgdata")
  const ways = candidates().filter((launcher) => works(launcher, binaries.postgres))
  expect(ways.length).toBeGreaterThan(0)
  await initCluster({ binaries, launcher: ways[0]!, pgdata, superuser: "postgres" })
  for (const launcher of ways) {
    const socketDir = mkdtempSync(join(dir, "s-"))
    giveTo(launcher, socketDir)
    const server = await startPostmaster({
      binaries,
      launcher,
      pgdata,
      logFile: join(dir, "log"),
      settings: { listen_addresses: "", unix_socket_directories: socketDir, fsync: "off" },
      startTimeoutMillis: 20_000,
    })
    if (launcher.owner !== undefined) expect(statSync(pgdata).uid).toBe(launcher.owner.uid)
    await stopPostmaster(pgdata, server, 20_000)
  }
})

it("binariesIn refuses a directory without PostgreSQL in words", () => {
  expect(() => binariesIn(dir)).toThrow(/DATABASE_URL/u)
})
