/** Texts that the console offers for copying mean the same elsewhere: a selection as SQL, and a request as it was sent. */
import { execFileSync } from "node:child_process"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { randomOf, seeded } from "../support/random.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 20)
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
}, 120_000)
afterAll(() => cabinet.close())

/** The text of a field that is copied from. */
const fieldOf = (screen: string, id: string): string => {
  const [, value] = new RegExp(`<input id="${id}" readonly class="mono" value="([^"]*)">`).exec(screen) ?? []
  assert.isDefined(value, id)
  const entities: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", "#39": "'" }
  return value!.replaceAll(/&(quot|amp|lt|gt|#39);/g, (_, name: string) => entities[name]!)
}

const UNITS = [
  "'",
  "''",
  "\\",
  "\\'",
  "$1",
  "$$",
  '"',
  "\n",
  "\r\n",
  "\t",
  "--",
  "/*",
  ";",
  "%",
  "_",
  "ё",
  "🗄",
  "\u202e",
  " E'",
]

/** Texts of characters that might end a literal or a word of a shell. */
const TEXTS = Array.from({ length: 60 }, (_, seed) => {
  const next = seeded(seed)
  return `${Array.from({ length: 1 + next(6) }, () => randomOf(next, UNITS)).join("")}${seed}`
})

it("a selection copied as SQL finds the rows shown, for any values", async () => {
  const items = TEXTS.map((customer) => JSON.stringify({ customer, total: 1 }))
  const headers = { "content-type": "application/json" }
  const sent = await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: `[${items.join()}]` })
  assert.strictEqual(sent.status, 200, await sent.text())
  const selections = [
    ...TEXTS.map((text) => ({ fc: "customer", fo: "eq", fv: text })),
    ...TEXTS.slice(0, 10).map((text) => ({ q: text })),
    { sort: "total", dir: "desc", limit: "7" },
    { fc: "customer", fo: "contains", fv: "'", sort: "note", dir: "asc" },
  ]
  for (const selection of selections) {
    const query = new URLSearchParams(selection).toString()
    const { text } = await viewer.get(`/console/tables/sources/orders?${query.toString()}`)
    const sql = fieldOf(text, "copy-sql")
    assert.notMatch(sql, /[\n\r]/)
    const answer = await fetch(`${cabinet.base}/api/v1/tables/sources/orders/rows?${query}`, {
      headers: { "x-api-key": cabinet.key },
    })
    const { data } = (await answer.json()) as { data: ReadonlyArray<{ _event_id: number }> }
    const rows = await runSql(database.url, sql)
    assert.deepStrictEqual(
      rows.map((row) => Number(row["_event_id"])),
      data.map((row) => row._event_id),
      sql,
    )
    assert.isAtLeast(rows.length, 1, sql)
  }
})

it("a refused selection has no SQL", async () => {
  const refused = (await viewer.get("/console/tables/sources/orders?sort=nothing")).text
  assert.notInclude(refused, "copy-sql")
})

/** The words and the input that a program gets when a shell runs a line. */
const called = (shell: string, program: string, line: string): ReadonlyArray<string> =>
  execFileSync(shell, ["-c", `${program}() { printf '%s\\0' "$@"; cat; }\n${line}`], {
    env: { INTAKE_SECRET: "S" },
    stdio: ["ignore", "pipe", "pipe"],
  })
    .toString()
    .split("\0")

const HOSTILE = ["'\n; echo pwned >&2; exit 9 #", "\u001b]0;x\u0007'$(exit 9)`exit 9`\\", "a\n\n", "\\'; exit 9 #"]

it("a request copied as curl has the same bytes in every shell, and is not offered when no command line can hold it", async () => {
  for (const text of [...TEXTS.slice(0, 25), ...HOSTILE]) {
    const sent = await fetch(cabinet.source.intakeUrl, {
      method: "POST",
      headers: { "content-type": "text/plain; charset=utf-8; x='\"; exit 9; '" },
      body: text,
    })
    const { id } = (await sent.json()) as { id: number }
    const screen = (await viewer.get(`/console/events/${id}`)).text
    const line = fieldOf(screen, "copy-curl")
    for (const shell of ["sh", "bash"]) {
      const type = "Content-Type: text/plain; charset=utf-8; x='\"; exit 9; '"
      const [body, input] = text.endsWith("\n") ? [["--data-binary", "@-"], text] : [["--data-raw", text], ""]
      const words = ["-X", "POST", "-H", type, ...body, `${cabinet.base}/webhook/S`, input]
      assert.deepStrictEqual(called(shell, "curl", line), words, `${shell}: ${line}`)
    }
  }
  const binary = await fetch(cabinet.source.intakeUrl, { method: "POST", body: Uint8Array.of(0xff, 0xfe, 0x00, 0x41) })
  const { id } = (await binary.json()) as { id: number }
  assert.notInclude((await viewer.get(`/console/events/${id}`)).text, "copy-curl")
})

it("a selection copied as a command keeps any values", async () => {
  for (const value of [...TEXTS.slice(0, 25), ...HOSTILE]) {
    const query = new URLSearchParams({ fc: "customer", fo: "eq", fv: value })
    const { text } = await viewer.get(`/console/tables/sources/orders?${query.toString()}`)
    if (value.endsWith("\n")) {
      assert.notInclude(text, "copy-command")
      continue
    }
    for (const shell of ["sh", "bash"]) {
      const line = fieldOf(text, "copy-command")
      const words = ["rows", "sources.orders", "--fc", "customer", "--fo", "eq", "--fv", value, ""]
      assert.deepStrictEqual(called(shell, "cabinet", line), words)
    }
  }
})
