/** Common first calls, and calls that nobody should make by mistake. */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase({ empty: true })

beforeAll(async () => {
  vi.stubEnv("DATABASE_URL", database.url)
  // The test runner has one of its own.
  vi.stubEnv("BASE_URL", "")
  await call(["migrate"])
})
afterAll(() => {
  vi.unstubAllEnvs()
})

it("help and version do the same as --help and --version", async () => {
  expect(await call(["help"])).toEqual(await call(["--help"]))
  expect(await call(["help", "source", "add"])).toEqual(await call(["source", "add", "--help"]))
  expect(await call(["version"])).toEqual({ code: 0, printed: "0.0.0\n", said: "" })
})

it("sql takes one script as an argument, not two", async () => {
  expect(await call(["sql", "-c", "SELECT 1 AS one", "--json"])).toEqual({
    code: 0,
    said: "",
    printed: '{"results":[{"rows":[{"one":1}],"count":1}]}\n',
  })
  expect(await call(["sql", "script.sql", "-c", "SELECT 1"])).toMatchObject({
    code: 2,
    said: "Either a FILE or -c, not both.\n",
  })
})

it.for([
  ["purge 1 2", "Erase 2 events for good, repeats included?"],
  ["source delete 1", "Delete source 1?"],
  ["source delete 1 --drop-table", "Delete source 1 and its table with all its rows?"],
  ["address remove 1", "Remove address 1 and cancel its pending deliveries?"],
  ["poll remove 1", "Remove poll 1, its headers and its record of items already seen?"],
])("%s requires a confirmation and names the flag for it", async ([words, question]) => {
  await database.run(
    "INSERT INTO cabinet.source (id, name, intake_secret, secret_hash) OVERRIDING SYSTEM VALUE VALUES (1, 'S', 's', 'h') ON CONFLICT DO NOTHING",
  )
  expect(await call(words!.split(" "))).toEqual({
    code: 2,
    printed: "",
    said: `${question} This cannot be undone: pass --yes to confirm.\n`,
  })
  expect(await database.run("SELECT id FROM cabinet.source")).toHaveLength(1)
})
