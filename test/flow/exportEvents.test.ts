/** `cabinet export --events`: files that together hold every event once, in the feed's order, however a run ended. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { parse } from "csv-parse/sync"
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { endAll, newHome, type Home } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"
import { openCabinet, type Cabinet } from "data-cabinet"

const database = withDatabase()
let home: Home
let writer: Cabinet
let source: number
const env = () => ({ DATABASE_URL: database.url })
const file = (name: string) => join(home.dir, name)
const cursorOf = (name: string) => readFileSync(file(`${name}.cursor`), "utf8").trim()
const run = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await home.cabinet(["export", "--events", ...args], env())
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout
}
const events = (name: string) =>
  readFileSync(file(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
let sent = 0
const send = async (count: number) => {
  for (let left = count; left > 0; left--) await writer.intake(source, { fields: { n: ++sent, total: "12.50" } })
}
const numbers = (lines: ReadonlyArray<string>) =>
  lines.map((line) => (JSON.parse(line) as { readonly payload: { readonly n: number } }).payload.n)
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

beforeAll(async () => {
  home = newHome()
  writer = await openCabinet({ databaseUrl: database.url, log: { warn: () => {}, error: () => {} } })
  source = (await writer.sources.create({ name: "Orders" })).id
})
afterAll(async () => {
  await writer.close()
  await endAll()
})

it("each file begins where the previous one ended, in any format", async () => {
  await send(1_200)
  const printed = await run("--to", file("one.ndjson"), "--get", "next_cursor")
  assert.strictEqual(printed.trim(), cursorOf("one.ndjson"))
  await send(3)
  await run("--to", file("two.parquet"), "--after", cursorOf("one.ndjson"))
  await send(2)
  await run("--to", file("three.csv"), "--after", cursorOf("two.parquet"))
  await run("--to", file("none.ndjson"), "--after", cursorOf("three.csv"))
  assert.deepStrictEqual(numbers(events("one.ndjson")), upTo(1_200))
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file("two.parquet")))
  assert.deepStrictEqual(metadata.key_value_metadata, [
    { key: "data_cabinet.next_cursor", value: cursorOf("two.parquet") },
  ])
  const duck = await (await DuckDBInstance.create(":memory:")).connect()
  const read = await duck.runAndReadAll(
    `SELECT payload->>'n' AS n, payload->>'total' AS total, source->>'name' AS source, channel FROM '${file("two.parquet")}'`,
  )
  const event = { total: "12.50", source: "Orders", channel: "webhook" }
  assert.deepStrictEqual(
    read.getRowObjectsJson(),
    ["1201", "1202", "1203"].map((n) => ({ n, ...event })),
  )
  duck.closeSync()
  const rows: ReadonlyArray<Record<string, string>> = parse(readFileSync(file("three.csv")), { columns: true })
  assert.deepStrictEqual(
    rows.map(({ payload, verified, spam }) => [JSON.parse(payload!).n, verified, spam]),
    [
      [1_204, "", "false"],
      [1_205, "", "false"],
    ],
  )
  assert.deepStrictEqual([events("none.ndjson"), cursorOf("none.ndjson")], [[], cursorOf("three.csv")])
})

it("a directory continues after its last complete file, and a file without its cursor is written again", async () => {
  const dir = file("stretches")
  mkdirSync(dir)
  await run("--dir", dir)
  await send(5)
  await run("--dir", dir)
  await run("--dir", dir)
  assert.deepStrictEqual(readdirSync(dir).sort(), [
    "events-000001.ndjson",
    "events-000001.ndjson.cursor",
    "events-000002.ndjson",
    "events-000002.ndjson.cursor",
  ])
  // The state after a run that is killed between the two.
  rmSync(join(dir, "events-000002.ndjson.cursor"))
  writeFileSync(join(dir, "events-000002.ndjson"), "half\n")
  await send(1)
  await run("--dir", dir)
  const all = [1, 2].flatMap((number) => events(`stretches/events-00000${number}.ndjson`))
  assert.deepStrictEqual(numbers(all), upTo(sent))
  const refused = await home.cabinet(["export", "--events", "--dir", dir, "--after", "x"], env())
  assert.deepStrictEqual([refused.code, /omit --after/.test(refused.stderr)], [2, true])
  const missing = await home.cabinet(["export", "--events", "--dir", file("missing")], env())
  assert.deepStrictEqual([missing.code, /^Cannot write into .*missing: /.test(missing.stderr)], [1, true])
})

it("continues automatically, and loses or repeats nothing when killed", { timeout: 180_000 }, async () => {
  const dir = file("followed")
  mkdirSync(dir)
  const whole = () => readdirSync(dir).filter((name) => name.endsWith(".cursor")).length
  for (let round = 1; round <= 2; round++) {
    await send(20)
    const child = home.start(["export", "--events", "--dir", dir, "--follow", "--every", "10s"], env())
    const exit = new Promise((resolve) => child.once("close", resolve))
    await expect.poll(whole, { timeout: 100_000 }).toBe(round)
    child.kill("SIGKILL")
    await exit
  }
  await send(1)
  await run("--dir", dir)
  const files = readdirSync(dir).filter((name) => name.endsWith(".ndjson"))
  assert.deepStrictEqual(numbers(files.sort().flatMap((name) => events(`followed/${name}`))), upTo(sent))
})

it("refuses options that contradict each other", async () => {
  for (const args of [
    ["--events"],
    ["--events", "--to", "-"],
    ["--events", "--to", file("x.ndjson"), "--dir", home.dir],
    ["--events", "--to", file("x.ndjson"), "--where", "n=1"],
    ["--events", "--to", file("x.ndjson"), "--follow"],
    ["--events", "--dir", home.dir, "--every", "1h"],
    ["public.orders", "--events", "--to", file("x.ndjson")],
    ["public.orders", "--to", file("x.ndjson"), "--after", "x"],
    ["--to", file("x.ndjson")],
    ["public.orders"],
  ]) {
    const { code, stdout, stderr } = await home.cabinet(["export", ...args], env())
    assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
    assert.match(stderr, /\S/)
  }
  const { code, stderr } = await home.cabinet(["export", "--events", "--to", file("x.ndjson"), "--after", "x"], env())
  assert.deepStrictEqual([code, existsSync(file("x.ndjson"))], [1, false], stderr)
})
