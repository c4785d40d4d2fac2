/** Common first calls, and calls that must not happen by mistake. */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { EXAMPLES } from "../../src/commands/Examples.ts"
import { call } from "./call.ts"

const database = withDatabase({ empty: true })

beforeAll(async () => {
  vi.stubEnv("DATABASE_URL", database.url)
  // The test runner has its own such flag.
  vi.stubEnv("BASE_URL", "")
  await call(["migrate"])
  await call(["source", "add", "Invoices"])
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
  ["source delete 1001", "Delete source 1001?"],
  ["source delete 1001 --drop-table", "Delete source 1001 and its table with all its rows?"],
  ["address remove 1", "Remove address 1 and cancel its pending deliveries?"],
  ["delivery resend --where", "No filter is given: send every delivery again (0 deliveries)?"],
  ["poll remove 1", "Remove poll 1, its headers and its record of items already seen?"],
])("%s requires a confirmation and names the flag for it", async ([words, question]) => {
  await database.run(
    "INSERT INTO cabinet.source (id, name, intake_secret, secret_hash) OVERRIDING SYSTEM VALUE VALUES (1001, 'S', 's', 'h') ON CONFLICT DO NOTHING",
  )
  expect(await call(words!.split(" "))).toEqual({
    code: 2,
    printed: "",
    said: `${question} This cannot be undone: pass --yes to confirm.\n`,
  })
  expect(await database.run("SELECT id FROM cabinet.source WHERE id = 1001")).toHaveLength(1)
})

it("delivery resend asks a script only where nothing is filtered", async () => {
  for (const words of ["--where --since 1h", "--where --retrying", "--where --yes"]) {
    const { code, printed } = await call(["delivery", "resend", "--json", ...words.split(" ")])
    expect([code, JSON.parse(printed)]).toEqual([0, { resent: 0 }])
  }
})

it("a misspelled flag of every command suggests the flag that was meant", async () => {
  const { code, said } = await call(["source", "list", "--databse-url", "x"])
  expect(code).toBe(2)
  expect(said).toContain("Did you mean --database-url?")
})

it("rows, export and table show suggest the table that was meant", async () => {
  for (const words of [
    ["rows", "sources.invoice"],
    ["export", "sources.invoice", "--to", "-"],
    ["table", "show", "sources.invoice"],
  ]) {
    const { code, said } = await call(words)
    expect(code).toBe(1)
    expect(said).toContain("Did you mean sources.invoices?")
  }
})

it("a source that is not known suggests the one that was meant, and else how to list them", async () => {
  await call(["source", "add", "Parcel desk"])
  expect((await call(["source", "show", "Parcel dsk"])).said).toBe(
    'There is no source named "Parcel dsk". Did you mean "Parcel desk"?\n',
  )
  expect((await call(["source", "show", "Zebra"])).said).toMatch(/named "Zebra"\. See: cabinet source list/)
})

it.for([
  ["audit --limit 0", "10000"],
  ["poll log 1 --limit 1001", "1000"],
])("%s is refused with the range", async ([words, most]) => {
  const { code, said } = await call(words!.split(" "))
  expect(code).toBe(2)
  expect(said).toMatch(new RegExp(`--limit is -?[0-9]+: it must be an integer from 1 to ${most}\\b`))
})

it("address list ends a page with where the next one begins", async () => {
  await database.run(
    `INSERT INTO cabinet.address (url, secret, every_source, paused_at)
     SELECT 'https://example.com/' || n, '\\x00', true, now() FROM generate_series(1, 3) n`,
  )
  const ids = (await database.run(
    "SELECT id::int AS id FROM cabinet.address WHERE removed_at IS NULL ORDER BY id",
  )) as ReadonlyArray<{
    readonly id: number
  }>
  const { printed } = await call(["address", "list", "--limit", "2"])
  expect(printed).toMatch(new RegExp(`More results: --after ${ids[1]!.id}\n$`))
  const rest = await call(["address", "list", "--after", String(ids[1]!.id), "--json"])
  expect(JSON.parse(rest.printed).map(({ id }: { readonly id: number }) => id)).toEqual(
    ids.slice(2).map(({ id }) => id),
  )
  await database.run("UPDATE cabinet.address SET removed_at = now()")
})

it.each(["key", "token"])("%s list ends a page with where the next one begins", async (kind) => {
  const words = kind === "key" ? [] : ["--role", "viewer"]
  for (const name of ["one", "two"]) await call([kind, "add", `${kind} ${name}`, ...words])
  const all = JSON.parse((await call([kind, "list", "--json"])).printed) as ReadonlyArray<{ readonly id: number }>
  const { printed } = await call([kind, "list", "--limit", "1"])
  expect(printed).toMatch(new RegExp(`More results: --after ${all[0]!.id}\n$`))
  const last = String(all.at(-1)!.id)
  expect((await call([kind, "list", "--after", last])).printed).toBe(`No more ${kind}s.\n`)
})

it("rows names the flag that was given, not the parameter of the API", async () => {
  await call(["source", "add", "Parcels"])
  const friendly = await call(["rows", "sources.parcels", "--where", "receivd_at>=1"])
  expect(friendly.said).toMatch(/^--where names a column "receivd_at".*Did you mean "_received_at"\?/)
  const plain = await call(["rows", "sources.parcels", "--fc", "nothing", "--fo", "eq", "--fv", "1"])
  expect(plain.said).toMatch(/^--fc names a column "nothing"/)
  expect(plain.said).not.toContain("Did you mean")
})

it("sql suggests -c when it gets a statement in place of a file name", async () => {
  expect((await call(["sql", "SELECT 1"])).said).toContain('cabinet sql -c "…"')
  expect((await call(["sql", "missing.sql"])).said).not.toContain("-c")
})

it("source add says so when another source has the name, and that a provider is not verified yet", async () => {
  expect((await call(["source", "add", "Twin"])).said).toBe("")
  expect((await call(["source", "add", "Twin", "--json"])).said).toMatch(/Another source is also named "Twin"/)
  const { said } = await call(["source", "add", "Code", "--from", "github", "--json"])
  expect(said).toMatch(/The signatures of GitHub are not verified yet/)
})

const WORDS: Readonly<Record<string, ReadonlyArray<string>>> = { cabinet: [], column: ["table", "column"] }

it.each(Object.keys(EXAMPLES))("the help of %s shows an example", async (noun) => {
  const { printed } = await call([...(WORDS[noun] ?? [noun]), "--help"])
  expect(printed).toContain("EXAMPLES")
  expect(printed).toContain(EXAMPLES[noun as keyof typeof EXAMPLES][0].command)
})
