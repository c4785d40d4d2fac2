/** A table of 300 columns in the console: each of its screens is small, and together they show every column of every row. */
import { unescapeHtml } from "@data-cabinet/http-node/html/Html"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const OTHERS = 299
const MAX_BYTES = 150_000
const MAX_ELEMENTS = 3_000

const database = withDatabase()
let cabinet: ConsoleCabinet
let viewer: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  viewer = await cabinet.as("viewer")
  const kinds = ["text", "numeric", "timestamptz", "jsonb"] as const
  const values = ["'text of ' || g", "g * 1.5", "to_timestamp(g)", `jsonb_build_object('a', g)`] as const
  const each = Array.from({ length: OTHERS }, (_, n) => n)
  await cabinet.cabinet.sql(
    `CREATE TABLE public.wide (id bigint PRIMARY KEY, ${each.map((n) => `column_number_${n} ${kinds[n % 4]}`).join(", ")})`,
  )
  const cells = each.map((n) => values[n % 4]).join(", ")
  await database.run(`INSERT INTO public.wide SELECT g, ${cells} FROM generate_series(1, 200) g`)
})
afterAll(() => cabinet.close())

const see = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(new URL(path, `${cabinet.base}/console/tables/public/wide`), {
    headers: { ...viewer, ...headers },
  })
  const html = await response.text()
  assert.strictEqual(response.status, 200, html)
  return html
}

const elementsOf = (html: string) => html.match(/<[a-z]/g)!.length

const linkOf = (html: string, rel: string) =>
  unescapeHtml(new RegExp(`<a rel="${rel}" href="([^"]*)"`).exec(html)?.[1] ?? "")

const headingsOf = (html: string) =>
  [...html.matchAll(/<th scope="col".*?<span>(.*?)<\/span>/g)].map(([, name]) => name)

const linesOf = (html: string) =>
  [...html.matchAll(/^<tr><td class="o">(.*)<\/tr>$/gm)].map(([, line]) =>
    [...line!.matchAll(/<td(?: class="[njp]")?>(.*?)<\/td>/g)].map(([, inside]) =>
      unescapeHtml(/^<time datetime="([^"]*)">/.exec(inside!)?.[1] ?? inside!).replaceAll(" ", ""),
    ),
  )

it("the parts of a wide table show every column once, each in a page of bounded size, by links alone", async () => {
  const rows: Array<Array<string>> = []
  const columns: Array<string> = []
  for (let path = "wide?sort=id"; path !== "";) {
    const html = await see(path)
    assert.isAtMost(Buffer.byteLength(html), MAX_BYTES)
    assert.isAtMost(elementsOf(html), MAX_ELEMENTS)
    columns.push(...(headingsOf(html) as ReadonlyArray<string>))
    for (const [at, line] of linesOf(html).entries()) (rows[at] ??= []).push(...line)
    path = linkOf(html, "section")
  }
  assert.deepStrictEqual(columns, ["id", ...Array.from({ length: OTHERS }, (_, n) => `column_number_${n}`)])
  const api = `${cabinet.base}/api/v1/tables/public/wide/rows?sort=id&limit=${rows.length}`
  const { data } = (await (await fetch(api, { headers: { "x-api-key": cabinet.key } })).json()) as {
    readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(" ", "")
  assert.isAtLeast(rows.length, 25)
  assert.deepStrictEqual(
    rows.map((row) => row.map((value) => value.replace(/\.0$/, ""))),
    data.map((row) => columns.map((name) => text(row[name]))),
  )
})

it("the next page of rows keeps the part, and its cursor is valid for every part", async () => {
  const next = linkOf(await see("wide?sort=id&part=3"), "next")
  assert.match(next, /[?&]part=3&cursor=/)
  const [third, fifth] = [await see(next), await see(next.replace("part=3", "part=5"))]
  const idsOf = (html: string) => [...html.matchAll(/fc=id&amp;fo=eq&amp;fv=(\d+)"/g)].map(([, id]) => id)
  assert.isAbove(Number(idsOf(third)[0]), 25)
  assert.deepStrictEqual(idsOf(fifth), idsOf(third))
  assert.strictEqual(headingsOf(fifth)[0], "column_number_95")
})

it("a sorted column is in the part that is shown, and is named beside the search", async () => {
  const html = await see("wide?sort=column_number_200&dir=desc")
  assert.match(html, /aria-sort="descending"/)
  assert.include(headingsOf(html), "column_number_200")
  assert.include(html, "Sort: column_number_200")
})

it("the menu of a column and the settings of a selection are read on demand, and are screens without a script", async () => {
  const html = await see("wide?sort=id")
  assert.notInclude(html, "dir=desc&amp;order=")
  const menu = unescapeHtml(/href="([^"]*\/menu\?column=column_number_2&[^"]*)"/.exec(html)![1]!)
  const [screen, fragment] = [await see(menu), await see(menu, { "x-fragment": "1" })]
  for (const text of [screen, fragment]) assert.include(text, "sort=column_number_2&amp;dir=desc")
  assert.include(screen, "<main")
  assert.notInclude(fragment, "<main")
  const settings = await see("wide/settings?sort=id&hide=column_number_7")
  assert.isAtMost(Buffer.byteLength(settings), MAX_BYTES)
  assert.isAtMost(elementsOf(settings), MAX_ELEMENTS)
  assert.include(settings, 'name="show" value="column_number_8" checked')
  assert.notInclude(settings, 'name="show" value="column_number_7" checked')
})
