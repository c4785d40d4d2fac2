import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Binaries, binariesIn, shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { EmbeddedPostgresError } from "@data-cabinet/store-pg/embedded/EmbeddedPostgresError"
import { startPostmaster, stopPostmaster } from "@data-cabinet/store-pg/embedded/Postmaster"
import { candidates, giveTo, type Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { byWorkingLauncher } from "@data-cabinet/store-pg/embedded/WorkingLauncher"
import { afterEach, beforeEach, expect, it } from "vitest"

let dir: string
let shipped: Binaries
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-launch-"))
  chmodSync(dir, 0o711)
  shipped = shippedBinaries(join(dir, "lib"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Creates the cluster if it does not exist, and starts and stops its server. */
const run = (binaries: Binaries) => async (launcher: Launcher) => {
  const pgdata = join(dir, "pgdata")
  if (statSync(pgdata, { throwIfNoEntry: false }) === undefined) {
    await initCluster({ binaries, launcher, pgdata, superuser: "postgres" })
  }
  const socketDir = mkdtempSync(join(dir, "s-"))
  giveTo(launcher, socketDir)
  const settings = { listen_addresses: "", unix_socket_directories: socketDir, fsync: "off" }
  const logFile = join(dir, "log")
  const server = await startPostmaster({ binaries, launcher, pgdata, logFile, settings, startTimeoutMillis: 20_000 })
  await stopPostmaster(pgdata, server)
  return launcher
}

/** A launcher that runs commands but no server: up to the version check it seems to work. */
const boaster = (): Launcher => {
  const script = join(dir, "boaster")
  const body = `case "$*" in *--version*|*"test "*) exec "$@";; *) echo "could not locate my own executable path" >&2; exit 1;; esac`
  writeFileSync(script, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return { ...candidates()[0]!, name: "namespace", prefix: [...candidates()[0]!.prefix, script] }
}

it("byWorkingLauncher runs PostgreSQL here as any user", async () => {
  expect(candidates()).toContainEqual(await byWorkingLauncher(shipped, dir, run(shipped)))
})

it("byWorkingLauncher skips a launcher that does not run, and one that runs no server", async () => {
  const broken: Launcher = { name: "namespace", prefix: ["no-such-program"] }
  const used = await byWorkingLauncher(shipped, dir, run(shipped), [broken, boaster(), ...candidates()])
  expect(candidates()).toContainEqual(used)
})

it("byWorkingLauncher makes no second trial of a launcher that has worked for the directory", async () => {
  const once = async () => "ran"
  const failure = new EmbeddedPostgresError({ code: "start_failed", message: "Permission denied" })
  expect(await byWorkingLauncher(shipped, dir, once, [boaster()])).toBe("ran")
  // A trial would fail with this one, and it would be blamed.
  await expect(byWorkingLauncher(shipped, dir, () => Promise.reject(failure), [boaster()])).rejects.toBe(failure)
})

it("byWorkingLauncher reports why each launcher failed when none works, and what to do", async () => {
  const broken: Launcher = { name: "namespace", prefix: ["no-such-program"] }
  const working = byWorkingLauncher(shipped, dir, run(shipped), [broken, boaster()])
  await expect(working).rejects.toMatchObject({ code: "no_unprivileged_user" })
  await expect(working).rejects.toThrow(/no-such-program.*could not locate.*DATABASE_URL/su)
  await expect(working).rejects.not.toThrow(/log/u)
})

it("byWorkingLauncher blames no launcher for a failure of the work itself", async () => {
  const tried: Array<Launcher> = []
  const fault = new EmbeddedPostgresError({ code: "start_failed", message: "The cluster is damaged." })
  const [first] = candidates()
  // Also as root, because an ordinary user has only one launcher.
  const named: Launcher = { ...first!, name: "namespace" }
  const working = byWorkingLauncher(
    shipped,
    dir,
    (launcher) => {
      tried.push(launcher)
      return Promise.reject(fault)
    },
    [named, ...candidates()],
  )
  await expect(working).rejects.toBe(fault)
  expect(tried).toEqual([named])
})

it("a launcher that would have to pass a directory that only root may enter is not used", async () => {
  const closed = join(dir, "closed")
  mkdirSync(closed, { mode: 0o700 })
  cpSync(dirname(dirname(shipped.postgres)), join(closed, "native"), { recursive: true, verbatimSymlinks: true })
  const binaries = binariesIn(join(closed, "native", "bin"))
  const ways = candidates()
  const plain = ways.filter(({ name }) => name === "user")
  for (const launcher of plain) {
    // The only launcher left to an ordinary clone below /root if namespaces and capabilities are forbidden.
    const alone = byWorkingLauncher(binaries, dir, run(binaries), [launcher])
    await expect(alone).rejects.toMatchObject({ code: "no_unprivileged_user" })
    await expect(alone).rejects.toThrow(`Only root may enter ${closed}: move`)
  }
  expect(ways).toContainEqual(await byWorkingLauncher(binaries, dir, run(binaries), [...plain, ...ways]))
})

it("one cluster runs under each launcher that works here, one after another", { timeout: 100_000 }, async () => {
  const used: Array<string> = []
  for (const launcher of candidates()) {
    try {
      await byWorkingLauncher(shipped, dir, run(shipped), [launcher])
      used.push(launcher.name)
    } catch (error) {
      expect(error).toMatchObject({ code: "no_unprivileged_user" })
      continue
    }
    if (launcher.owner !== undefined) expect(statSync(join(dir, "pgdata")).uid).toBe(launcher.owner.uid)
  }
  expect(used.length).toBeGreaterThan(0)
})

it("binariesIn refuses a directory without PostgreSQL with a message", () => {
  expect(() => binariesIn(dir)).toThrow(/DATABASE_URL/u)
})
