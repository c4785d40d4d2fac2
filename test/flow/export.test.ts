/** `cabinet export` as a process: a file exists whole or not at all, and every failure is visible. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { endAll, newHome, type Home } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let home: Home
const env = () => ({ DATABASE_URL: database.url })
const cabinet = (...args: ReadonlyArray<string>) => home.cabinet(args, env())
const done = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await cabinet(...args)
  assert.deepStrictEqual([code, stderr], [0, ""], stderr)
  return stdout
}
const file = (name: string) => join(home.dir, name)
const exported = async (name: string, ...args: ReadonlyArray<string>) => {
  await done("export", "public.orders", "--to", file(name), ...args)
  return readFileSync(file(name), "utf8")
}
/** The files of the directory, without the cabinet's own. */
const files = () => readdirSync(home.dir).filter((name) => !name.startsWith("."))

beforeAll(async () => {
  home = newHome()
  writeFileSync(
    file("orders.sql"),
    `CREATE TABLE orders (id int PRIMARY KEY, total numeric, note text, day date);
     INSERT INTO orders VALUES (1, 12345678901234567890.10, '=1+1', '2026-01-31'), (2, NULL, '', '2026-02-01'), (3, -0.50, 'a;"b', '2026-03-01');
     CREATE VIEW slow AS SELECT g AS id, repeat('x', 1000) || pg_sleep(0.01)::text AS pad FROM generate_series(1, 100000) g;
     CREATE TABLE wide AS SELECT g AS id, repeat('x', 1000) AS pad FROM generate_series(1, 20000) g;`,
  )
  await done("sql", file("orders.sql"))
  await done("schema", "expose", "public")
})
afterAll(endAll)

const BACKENDS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%reader export%' AND state = 'active'`
const untilExporting = () =>
  expect.poll(() => database.run(`SELECT 1 ${BACKENDS}`), { timeout: 100_000 }).toHaveLength(1)

it("writes the format implied by the file's name, digit by digit, and reports the result", async () => {
  assert.strictEqual(
    await exported("orders.csv"),
    'id,total,note,day\r\n1,12345678901234567890.10,=1+1,2026-01-31\r\n2,,"",2026-02-01\r\n3,-0.50,"a;""b",2026-03-01\r\n',
  )
  assert.strictEqual(
    await exported("orders.tsv", "--columns", "note,id", "--sort", "id", "--desc"),
    'note\tid\r\n"a;""b"\t3\r\n""\t2\r\n=1+1\t1\r\n',
  )
  const shape = ["--delimiter", ";", "--bom", "--safe-for-spreadsheets", "--where", "total is not empty"]
  assert.strictEqual(
    await exported("orders.csv", ...shape),
    '\ufeffid;total;note;day\r\n1;12345678901234567890.10;\'=1+1;2026-01-31\r\n3;-0.50;"a;""b";2026-03-01\r\n',
  )
  for (const [form, magic] of [
    ["xlsx", "PK\u0003\u0004"],
    ["parquet", "PAR1"],
  ] as const) {
    assert.strictEqual((await exported(`orders.${form}`)).slice(0, 4), magic)
  }
  const ndjson = '{"id":2,"total":null,"note":"","day":"2026-02-01"}\n'
  const february = ["--period", "day=2026-02-01..2026-02-28"]
  const printed = await done("export", "public.orders", "--to", file("orders.jsonl"), ...february, "--json")
  assert.strictEqual(readFileSync(file("orders.jsonl"), "utf8"), ndjson)
  assert.deepStrictEqual(JSON.parse(printed), {
    file: file("orders.jsonl"),
    format: "ndjson",
    rows: 1,
    bytes: ndjson.length,
    snapshot: true,
  })
  assert.strictEqual(await done("export", "public.orders", "--to", "-", "--format", "ndjson", ...february), ndjson)
  assert.strictEqual(
    await done("export", "public.orders", "--to", "-", "--live", "--where", "id=2"),
    'id,total,note,day\r\n2,,"",2026-02-01\r\n',
  )
})

it("replaces a file, even through a symbolic link, and nothing but a file", async () => {
  writeFileSync(file("before.csv"), "before")
  symlinkSync(file("before.csv"), file("link.csv"))
  const said = await done("export", "public.orders", "--to", file("link.csv"), "--columns", "id")
  assert.match(said, /^3 rows of public\.orders exported into .*link\.csv \(0\.0 MB\), as it was at one moment\.\n$/)
  assert.strictEqual(readFileSync(file("before.csv"), "utf8"), "id\r\n1\r\n2\r\n3\r\n")
  for (const name of [home.dir, "/dev/null", file("nowhere/orders.csv")]) {
    const { code, stderr } = await cabinet("export", "public.orders", "--to", name, "--format", "csv")
    assert.deepStrictEqual([code, stderr.startsWith(`Cannot write ${name}: `)], [1, true], stderr)
  }
})

it("refuses an impossible export, and leaves no file behind", async () => {
  const before = files()
  const cases: ReadonlyArray<readonly [number, RegExp, ...ReadonlyArray<string>]> = [
    [2, /does not determine a format/, "public.orders", "--to", file("orders.txt")],
    [2, /--delimiter: .*one character/, "public.orders", "--to", file("x.csv"), "--delimiter", ";;"],
    [2, /for CSV and TSV/, "public.orders", "--to", file("x.ndjson"), "--bom"],
    [2, /for Parquet/, "public.orders", "--to", file("x.csv"), "--text", "note"],
    [2, /such as total=12,2/, "public.orders", "--to", file("x.parquet"), "--decimal", "total=1,2"],
    [
      1,
      /^Row 1 has 12345678901234567890\.10 in column "total"/,
      "public.orders",
      "--to",
      file("x.parquet"),
      "--decimal",
      "total=12,2",
    ],
    [1, /has no column "nope"/, "public.orders", "--to", file("x.parquet"), "--text", "nope"],
    [2, /leave --json out/, "public.orders", "--to", "-", "--json"],
    [1, /^There is no readable table/, "public.nothing", "--to", file("x.csv")],
    [1, /^--where number 1 does not fit/, "public.orders", "--to", file("x.csv"), "--where", "id=many"],
  ]
  for (const [expected, words, ...args] of cases) {
    const { code, stdout, stderr } = await cabinet("export", ...args)
    assert.deepStrictEqual([code, stdout], [expected, ""], args.join(" "))
    assert.match(stderr, words)
  }
  assert.deepStrictEqual(files(), before)
})

it("leaves no file when the database or a signal ends it", async () => {
  const before = files()
  const lost = cabinet("export", "public.slow", "--to", file("lost.csv"))
  await untilExporting()
  await database.run(`SELECT pg_terminate_backend(pid) ${BACKENDS}`)
  const { code, stdout, stderr } = await lost
  assert.deepStrictEqual([code, stdout], [1, ""])
  assert.match(stderr, /\S/)
  const stopped = home.start(["export", "public.slow", "--to", file("stopped.csv")], env())
  const exit = new Promise((resolve) => stopped.once("close", resolve))
  await untilExporting()
  stopped.kill("SIGTERM")
  assert.strictEqual(await exit, 143)
  assert.deepStrictEqual(files(), before)
  await expect.poll(() => database.run(`SELECT 1 ${BACKENDS}`)).toHaveLength(0)
})

it("ends standard output with an error if the rows break off", async () => {
  const child = home.start(["export", "public.wide", "--to", "-"], env())
  const exit = new Promise((resolve) => child.once("close", resolve))
  const said = text(child.stderr!)
  await untilExporting()
  await database.run(`SELECT pg_terminate_backend(pid) ${BACKENDS}`)
  const printed = await text(child.stdout!)
  assert.strictEqual(await exit, 1)
  assert.match(await said, /\S/)
  assert.isBelow(printed.split("\r\n").length, 20_000)
})

it("walks the pages of a cabinet on another machine, and says so", async () => {
  const server = await home.serve([], env())
  const { token } = JSON.parse(await done("token", "add", "me", "--role", "viewer", "--json")) as { token: string }
  const asked = await home.cabinet(["export", "public.wide", "--to", file("wide.csv"), "--server", server.baseUrl], {
    CABINET_TOKEN: token,
  })
  assert.deepStrictEqual([asked.code, asked.stderr], [0, ""])
  assert.match(asked.stdout, /^20000 rows .*, page by page: /)
  assert.strictEqual(readFileSync(file("wide.csv"), "utf8"), await done("export", "public.wide", "--to", "-"))
  await server.stop("SIGTERM")
})
