/** What a restore refuses, each with a message and without leaving anything behind. */
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { backup } from "@data-cabinet/store-pg/embedded/Backup"
import { restore } from "@data-cabinet/store-pg/embedded/Restore"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { Effect } from "effect"
import { extract, pack } from "tar-stream"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

let dir: string
let good: Buffer

const path = (name: string) => join(dir, name)
const data = () => path("restored")

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-restore-"))
  const dataDir = path("data")
  await Effect.runPromise(Effect.scoped(EmbeddedPostgres.join({ dataDir })))
  await Effect.runPromise(backup({ dataDir, file: path("good.tar") }))
  good = readFileSync(path("good.tar"))
})

// Each unpacks a whole cluster, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 })

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** The message of a restore that must fail, after checking that it left no cluster, whole or partial. */
const refusal = async (bytes: Buffer | string): Promise<string> => {
  writeFileSync(path("given"), bytes)
  const error = await Effect.runPromise(Effect.flip(restore({ dataDir: data(), file: path("given") })))
  expect(existsSync(join(data(), "pgdata"))).toBe(false)
  return error.message
}

/** The valid backup with its entries changed on the way; undefined leaves an entry out. */
const changed = async (change: (name: string, content: Buffer) => readonly [string, Buffer] | undefined) => {
  const entries = extract()
  createReadStream(path("good.tar")).pipe(entries)
  const out = pack()
  const written = (async () => {
    const pieces: Array<Buffer> = []
    for await (const piece of out as unknown as Readable) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  })()
  for await (const entry of entries) {
    const pieces: Array<Buffer> = []
    for await (const piece of entry as unknown as Readable) pieces.push(piece as Buffer)
    const next = change(entry.header.name, Buffer.concat(pieces))
    if (next !== undefined) {
      await new Promise((done) => out.entry({ name: next[0], type: entry.header.type ?? "file" }, next[1], done))
    }
  }
  out.finalize()
  return written
}

const withHead = (change: object) =>
  changed((name, content) =>
    name === "cabinet-backup.json"
      ? [name, Buffer.from(JSON.stringify({ ...JSON.parse(content.toString()), ...change }))]
      : [name, content],
  )

it("restore refuses a file that is not a backup", async () => {
  expect(await refusal("")).toMatch(/it is empty/)
  expect(await refusal("not an archive at all".repeat(100))).toMatch(/it is damaged or incomplete/)
  expect(await refusal(await changed((name, content) => [name.replace("cabinet-backup", "other"), content]))).toMatch(
    /it was not created by `cabinet backup`/,
  )
})

it("restore refuses a file truncated at any point", async () => {
  expect(await refusal(good.subarray(0, good.length >> 1))).toMatch(/it is damaged or incomplete/)
  expect(
    await refusal(await changed((name, content) => (name.includes("-end") ? undefined : [name, content]))),
  ).toMatch(/it is truncated/)
})

it("restore refuses a file with one changed byte", async () => {
  const bytes = Buffer.from(good)
  // In the middle of a catalog page: only the digest can reveal it.
  const at = bytes.indexOf("pg_attribute")
  expect(at).toBeGreaterThan(0)
  bytes[at] = bytes[at]! ^ 1
  expect(await refusal(bytes)).toMatch(/its content is damaged/)
})

it("restore refuses a backup of another major version, format or machine, and says what to do", async () => {
  expect(await refusal(await withHead({ postgres: 17 }))).toMatch(
    /holds the files of PostgreSQL 17.*docs\/operations\.md/,
  )
  expect(await refusal(await withHead({ format: 2 }))).toMatch(/it was created by a newer version of this program/)
  expect(await refusal(await withHead({ arch: "mips" }))).toMatch(/was created on .*\(mips\)/)
})

it("restore refuses names that point outside the directory", async () => {
  for (const bad of ["pgdata/../../escaped", "escaped"]) {
    const archive = await changed((name, content) => [name === "pgdata/PG_VERSION" ? bad : name, content])
    expect(await refusal(archive)).toMatch(/which does not belong in a backup/)
  }
  expect(existsSync(path("escaped"))).toBe(false)
})

it("a data directory of another major version is refused in a sentence, and not touched", async () => {
  const dataDir = path("older")
  mkdirSync(join(dataDir, "pgdata"), { recursive: true })
  writeFileSync(join(dataDir, "pgdata", "PG_VERSION"), "15\n")
  const error = await Effect.runPromise(Effect.flip(Effect.scoped(EmbeddedPostgres.join({ dataDir }))))
  expect(error.message).toMatch(/were created by PostgreSQL 15, and this program ships 18\..*docs\/operations\.md/)
  expect(readdirSync(join(dataDir, "pgdata"))).toEqual(["PG_VERSION"])
})
