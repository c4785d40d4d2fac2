/** `cabinet table latest`: the latest row that a source has for each thing. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../../../../test/support/cabinetProcess.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let home: Home
let send: (body: object) => Promise<void>

const call = (...args: ReadonlyArray<string>) => home.cabinet(args, { DATABASE_URL: database.url })
const rows = async (name: string) => {
  const { stdout } = await call("rows", name, "--sort", "_event_id", "--columns", "order_id,status", "--json")
  return (JSON.parse(stdout) as { readonly data: ReadonlyArray<object> }).data
}

beforeAll(async () => {
  home = newHome()
  const server = await home.serve([], { DATABASE_URL: database.url })
  send = async (body) => {
    const response = await fetch(server.baseUrl + server.welcome.source!.intake_path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`the event was refused with ${response.status}`)
  }
  await send({ order_id: "A 1", status: "new" })
  await send({ order_id: "B 2", status: "new" })
  await send({ order_id: "A 1", status: "paid" })
  await send({ status: "of nothing" })
}, 120_000)
afterAll(() => endAll())

it("table latest shows its SQL, and creates a view that follows the table", { timeout: 120_000 }, async () => {
  const table = ["table", "latest", "sources.first_source", "--key", "order_id"]
  const dry = await call(...table, "--dry-run")
  expect(dry.stdout).toContain('CREATE VIEW "public"."first_source_latest" AS\n  SELECT DISTINCT ON ("order_id") *')
  expect((await call("rows", "public.first_source_latest")).code).toBe(1)
  const done = await call(...table)
  expect(done).toMatchObject({ code: 0, stderr: "" })
  const [b, a] = [
    { order_id: "B 2", status: "new" },
    { order_id: "A 1", status: "paid" },
  ]
  expect(await rows("public.first_source_latest")).toEqual([b, a])
  await send({ order_id: "B 2", status: "sent", note: "a new column" })
  expect(await rows("public.first_source_latest")).toEqual([a, { order_id: "B 2", status: "sent" }])
  expect((await call(...table)).code).toBe(1)
  expect((await call(...table, "--replace")).code).toBe(0)
  const shown = await call("table", "show", "public.first_source_latest", "--json")
  expect((JSON.parse(shown.stdout) as { columns: ReadonlyArray<{ name: string }> }).columns.at(-1)!.name).toBe("note")
  expect(await call("table", "latest", "sources.first_source", "--key", "nothing")).toMatchObject({
    code: 1,
    stderr: "The object sources.first_source has no column nothing.\n",
  })
})

it("the order column may be empty or equal, and a view over itself is refused", { timeout: 120_000 }, async () => {
  await database.run("CREATE TABLE public.stock (id int PRIMARY KEY, sku text, seen int)")
  await database.run(
    "INSERT INTO public.stock VALUES (1, 'a', 5), (2, 'a', NULL), (3, 'b', 7), (4, 'b', 7), (5, NULL, 9)",
  )
  await database.run("GRANT SELECT ON public.stock TO PUBLIC")
  expect(await call("table", "latest", "public.stock", "--key", "sku", "--by", "seen")).toMatchObject({ code: 0 })
  const { stdout } = await call("rows", "public.stock_latest", "--sort", "id", "--columns", "id", "--json")
  expect((JSON.parse(stdout) as { data: unknown }).data).toEqual([{ id: 1 }, { id: 4 }])
  const again = ["table", "latest", "public.stock_latest", "--key", "sku", "--by", "seen", "--replace"]
  expect((await call(...again, "--as", "public.stock_latest")).stderr).toContain("another name than its own")
  expect((await call(...again, "--as", "public.second")).code).toBe(0)
  // `second` reads `stock_latest`, which must therefore never read `second`.
  const loop = ["table", "latest", "public.second", "--key", "sku", "--by", "seen", "--replace"]
  expect((await call(...loop, "--as", "public.stock_latest")).stderr).toContain("infinite recursion")
  expect((await call("rows", "public.second")).code).toBe(0)
})
