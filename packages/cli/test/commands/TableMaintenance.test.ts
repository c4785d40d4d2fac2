/** The commands that maintain a source's table, as a user calls them. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../../../../test/support/cabinetProcess.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let home: Home
let source: number
let events: ReadonlyArray<number>

const call = (...args: ReadonlyArray<string>) => home.cabinet(args, { DATABASE_URL: database.url })
const json = async (...args: ReadonlyArray<string>): Promise<any> => {
  const { stdout, stderr, code } = await call(...args, "--json")
  expect(stderr).toBe("")
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

beforeAll(async () => {
  home = newHome()
  const server = await home.serve([], { DATABASE_URL: database.url })
  source = server.welcome.source!.id
  const ids: Array<number> = []
  for (const total of ["7", "seven", "9"]) {
    const answer = await fetch(server.baseUrl + server.welcome.source!.intake_path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ total }),
    })
    ids.push(((await answer.json()) as { id: number }).id)
  }
  events = ids
  await server.stop("SIGTERM")
})
afterAll(() => endAll())

it("trash removes events from the table, restore brings them back, and purge erases them", async () => {
  const rows = () => json("rows", "sources.first_source", "--sort", "_event_id")
  const ids = async () => (await rows()).data.map((row: { _event_id: number }) => row._event_id)
  expect(await json("trash", String(source), String(events[0]), String(events[1]))).toEqual({
    source_id: source,
    trashed: 2,
  })
  expect(await ids()).toEqual([events[2]])
  expect(await json("untrash", String(source), String(events[1]))).toEqual({ source_id: source, restored: 1 })
  expect(await ids()).toEqual([events[1], events[2]])
  expect(await json("purge", String(events[0]), "--yes")).toEqual({ purged: 1 })
  const { event, original } = await json("event", String(events[0]))
  expect(event.payload).toEqual({})
  expect(original).toBeNull()
})

it("trash refuses an event of an unknown source, and a call without events as wrong usage", async () => {
  const refused = await call("trash", String(source), "999999")
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: `Source ${source} has no event 999999.\n` })
  expect((await call("purge")).code).toBe(2)
})

it("purge by conditions first counts what it would erase", async () => {
  const words = ["event", "purge", "--where", "total=nobody's"] as const
  const none = { events: 0, repeats: 0, rows: 0, originals: 0, deliveries: 0 }
  expect(await json(...words, "--dry-run")).toEqual({ dry_run: true, ...none })
  expect((await call(...words, "--source", String(source), "--dry-run")).stdout).toContain("Would erase 0 events")
  const unconfirmed = await call(...words)
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("Erase 0 events") as string })
  expect(unconfirmed.stderr).not.toContain("nobody")
  expect(await json(...words, "--yes")).toEqual({ dry_run: false, ...none })
  for (const wrong of [["1", "--where", "a=b"], [], ["1", "--dry-run"], ["--where", "nothing"]]) {
    expect(await call("event", "purge", ...wrong)).toMatchObject({ code: 2 })
  }
})

it("column and rows say that text is compared as text, and how to make the column numeric", async () => {
  const listed = await call("table", "column", String(source))
  expect(listed.stdout).toContain("9.50 comes after 10")
  expect(listed.stdout).toContain(`cabinet table column ${source} COLUMN --type numeric`)
  const asText = await call("rows", "sources.first_source", "--where", "total>=10")
  expect(asText.stdout).toContain("total is a column of text")
  const byNumber = await call("rows", "sources.first_source", "--where", "_event_id>=1", "--where", "total=7")
  expect(byNumber).toMatchObject({ code: 0, stdout: expect.not.stringContaining("column of text") as string })
})

it("column lists, relabels and retypes, and reports the values that do not fit", async () => {
  expect(await json("column", String(source))).toMatchObject([
    { name: "total", field: "total", label: "total", type: "text" },
  ])
  const changed = await json("column", String(source), "total", "--type", "numeric", "--label", "Total due")
  expect(changed).toMatchObject({ type: "numeric", label: "Total due", moved: 1, sibling: "total_text" })
  expect((await call("column", String(source), "--type", "text")).code).toBe(2)
  expect(await call("column", String(source), "nothing")).toMatchObject({
    code: 1,
    stderr: `Source ${source} has no column nothing.\n`,
  })
})

it("index creates an index once, lists and drops it, and refuses columns that cannot have one", async () => {
  const table = "sources.first_source"
  const made = await json("table", "index", table, "_received_at")
  expect(made).toMatchObject({ table, columns: ["_received_at", "_event_id"], method: "btree", built: true })
  expect(await json("table", "index", table, "_received_at")).toMatchObject({ index: made.index, built: false })
  expect(await json("table", "index", table)).toMatchObject([{ name: made.index, valid: true, progress: null }])
  expect((await call("table", "index", table)).stdout).toMatch(/_received_at, _event_id +btree +ready/)
  expect(await json("table", "index", table, "--drop", made.index)).toMatchObject({ dropped: { name: made.index } })
  expect(await call("table", "index", table, "nothing")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No column "nothing" in sources.first_source.'),
  })
})

it("source show has no intake address for the source of notices, which accepts nothing", async () => {
  const { source: own } = await json("notices", "on")
  expect(await json("source", "show", String(own.id))).toMatchObject({ intake_url: null, intake_path: null })
  const shown = (await call("source", "show", String(own.id))).stdout
  expect(shown).toContain("only the cabinet itself writes to it")
  expect(shown).not.toContain("/webhook/")
  expect((await call("source", "show", String(source))).stdout).toContain("/webhook/")
  await json("notices", "off")
})

it("search-index creates one, lists and drops it", async () => {
  const table = "sources.first_source"
  expect((await call("table", "search-index", table, "--list")).stdout).toContain(`${table} has no search index.`)
  const { index } = await json("table", "search-index", table)
  expect(await json("table", "search-index", table, "--list")).toMatchObject([{ name: index, complete: true }])
  expect((await call("table", "search-index", table, "--list")).stdout).toMatch(/ready +\S+ MB +0 +all/)
  expect(await call("table", "search-index", table, "--list", "--drop")).toMatchObject({ code: 2 })
  expect(await json("table", "search-index", table, "--drop")).toMatchObject({ dropped: 1 })
})

it("column tries out a change of type, and reads a text column in a notation", async () => {
  const trial = await json(
    "column",
    String(source),
    "total_text",
    "--type",
    "numeric",
    "--numbers",
    "comma",
    "--dry-run",
  )
  expect(trial).toMatchObject({ misfits: 1, examples: [{ value: "seven" }] })
  const shown = await call(
    "column",
    String(source),
    "total_text",
    "--type",
    "numeric",
    "--numbers",
    "comma",
    "--dry-run",
  )
  expect(shown.stdout).toMatch(/1 value of total_text would move to .*\n {2}event \d+: seven/)
  expect((await call("column", String(source), "total_text", "--numbers", "comma")).code).toBe(2)
  expect((await call("column", String(source), "total_text", "--dry-run")).code).toBe(2)
  expect(await call("column", String(source), "total_text", "--type", "date", "--numbers", "dot")).toMatchObject({
    code: 1,
    stderr: "A notation of numbers applies to the type numeric only.\n",
  })
})

it("search-index creates an index once, drops it, and refuses an object that cannot have one", async () => {
  const table = "sources.first_source"
  const made = await json("search-index", table)
  expect(made).toMatchObject({ table, built: true })
  expect(await json("search-index", table)).toEqual({ table, index: made.index, built: false })
  expect((await json("rows", table, "--q", "seven")).data).toHaveLength(1)
  expect(await json("search-index", table, "--drop")).toEqual({ table, dropped: 1 })
  expect(await call("search-index", "sources.nothing")).toMatchObject({
    code: 1,
    stderr: "No readable table or view is named sources.nothing.\n",
  })
  expect((await call("search-index", "nothing")).code).toBe(2)
})
