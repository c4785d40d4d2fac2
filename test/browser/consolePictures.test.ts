/**
 * The distributions below the headings of a table: a bar filters by the rows that it counts, with and without a script, and a
 * view is not run to draw them. The filters as a line of text, and exact sums.
 */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const ROWS = 3_000

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 60)
  headers = await cabinet.as("viewer")
  chromium = await startChromium()
  await cabinet.cabinet.sql(
    "CREATE TABLE public.sales (id bigint PRIMARY KEY, total numeric, state text, day date, at timestamptz, big numeric, note text, data jsonb, raw bytea, tags text[], free time, ratio float8)",
  )
  await database.run(`INSERT INTO public.sales
    SELECT g, g * 1.25, CASE WHEN g % 3 = 0 THEN '<b>new & "big"' ELSE 'paid' END, '2026-01-01'::date + g % 90,
      '2026-01-01'::timestamptz + g * interval '1 hour', CASE WHEN g % 10 = 0 THEN 'NaN' ELSE 12345678901234567890123456789.0000001 + g END,
      NULL, '{"a":1}', '\\x00', '{x}', '10:00'::time + g * interval '1 second', 0.1
    FROM generate_series(1, ${ROWS}) g`)
  await database.run("VACUUM ANALYZE public.sales")
  await cabinet.cabinet.sql("CREATE VIEW public.seen AS SELECT id, state FROM public.sales")
}, 300_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

const countAt = async (address: string): Promise<string> => {
  const url = new URL(address)
  const response = await fetch(`${url.origin}${url.pathname}/count${url.search}`, {
    headers: { ...headers, "x-fragment": "1" },
  })
  assert.strictEqual(response.status, 200)
  return response.text()
}

/** The number of rows in a part's title, such as `100 … < 200: ≈ 80 · 3 %`. */
const rowsOf = (title: string | null): string => /: (?:≈ )?([\d,]+) · /.exec(title ?? "")?.[1] ?? `none in ${title}`

it("each part of an exact distribution filters by exactly the rows that it counts", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/public/sales?fc=id&fo=le&fv=1500`)
  await page.waitForSelector("#pictures .bars")
  assert.strictEqual(await page.textContent("#pictures .o"), "=")
  const parts = await page
    .locator("#pictures :is(.bars,.segments) a")
    .evaluateAll((all) => all.map((one) => [(one as HTMLAnchorElement).href, one.getAttribute("title")] as const))
  assert.isAbove(parts.length, 80)
  for (const [href, title] of parts.filter((_, at) => at % 7 === 0)) {
    assert.strictEqual(await countAt(href), `${rowsOf(title)} rows in all`, `${href} ${title}`)
  }
  assert.isTrue(
    await page
      .locator("#pictures :is(.bars,.segments) a")
      .evaluateAll((all) => all.every((one) => (one as HTMLElement).tabIndex === -1)),
  )
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
}, 300_000)

it("an estimate says so, a bar filters by a click, and the caption opens the same as a list", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US", colorScheme })
    const { page } = visit
    await page.goto(`${cabinet.base}/console/tables/public/sales`)
    await page.waitForSelector("#pictures .bars")
    assert.include(await page.locator("#pictures .o a").getAttribute("aria-label"), "Estimate from the database")
    const captions = await page.locator("#pictures .caption").allTextContents()
    assert.isTrue(
      captions.every((one) => one.startsWith("≈ ")),
      captions.join("\n"),
    )
    assert.include(captions, "≈ all empty")
    assert.deepStrictEqual(await axeComplaints(page), [])
    await page.locator("#pictures td:nth-child(4) .caption").press("Enter")
    await page.waitForSelector("#column-menu:popover-open .facet")
    assert.include(await page.textContent("#column-menu"), '<b>new & "big"')
    assert.deepStrictEqual(await axeComplaints(page), [])
    await page.keyboard.press("Escape")
    await Promise.all([
      page.waitForURL(/fc=total&fo=ge/),
      page.locator("#pictures td:nth-child(3) .bars a").nth(2).click(),
    ])
    await page.waitForSelector("#pictures .bars")
    assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
  }
}, 300_000)

it("a view is run for its distributions only when they are asked for", async () => {
  const { page } = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const asked: Array<string> = []
  page.on("request", (request) => asked.push(request.url()))
  await page.goto(`${cabinet.base}/console/tables/public/seen`)
  const link = page.locator("#pictures a")
  assert.strictEqual(await link.textContent(), "Value distributions")
  assert.isNull(await link.getAttribute("data-now"))
  assert.deepStrictEqual(
    asked.filter((url) => url.includes("/pictures")),
    [],
  )
  await link.click()
  await page.waitForSelector("#pictures .segments")
  assert.include(await page.locator("#pictures .o a").getAttribute("title"), "Only the first 2,000 rows")
})

it("without JavaScript the distributions are a screen, also in Russian on a phone", async () => {
  const { page } = await chromium.visit({
    extraHTTPHeaders: { ...headers },
    locale: "ru-RU",
    javaScriptEnabled: false,
    viewport: { width: 375, height: 700 },
  })
  await page.goto(`${cabinet.base}/console/tables/public/sales`)
  await page.click("#pictures a")
  assert.strictEqual(await page.textContent("h1"), "Распределение значений")
  assert.include(await page.textContent("main"), "Оценка по статистике базы данных")
  const width = () => page.evaluate(() => document.documentElement.scrollWidth)
  assert.isAtMost(await width(), 375)
  await page.locator(".facet").first().click()
  assert.include(page.url(), "fc=id&fo=ge")
  await page.goto(`${cabinet.base}/console/tables/public/sales/picture?column=big`)
  assert.match((await page.textContent("main")) ?? "", /Точно: 3\s000 строк/)
  assert.include(await page.textContent("main"), "бесконечность")
  assert.isAtMost(await width(), 375)
})

it("filters are typed as a line, shown as one, and a wrong one keeps the selection", async () => {
  for (const javaScriptEnabled of [true, false]) {
    const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US", javaScriptEnabled })
    const { page } = visit
    await page.goto(`${cabinet.base}/console/tables/public/sales?sort=id&dir=desc`)
    const line = page.getByLabel("Filter as text")
    await line.fill("total >= 100 and state = paid or id in (3, 4)")
    await Promise.all([page.waitForURL(/fc=/), line.press("Enter")])
    const selection = new URL(page.url()).search
    const groups = "fc=total&fo=ge&fv=100&fc=id&fo=eq&fv=3&fc=id&fo=eq&fv=4"
    const others = "fc=state&fo=eq&fv=paid&fc=id&fo=eq&fv=3&fc=id&fo=eq&fv=4&fj=or&fj=or&fj=and&fj=or&fj=or"
    assert.strictEqual(selection, `?sort=id&dir=desc&${groups}&${others}`)
    const shown = "total >= 100 or id = 3 or id = 4, state = paid or id = 3 or id = 4"
    assert.strictEqual(await line.inputValue(), shown)
    assert.strictEqual(await countAt(page.url()), "1,949 rows in all")
    await line.fill("total >= 100, state == paid")
    await Promise.all([page.waitForURL(/\/filter\?/), line.press("Enter")])
    assert.include(await page.textContent(".wrong"), "Character 22: a value is missing.")
    assert.strictEqual(await page.textContent(".wrong mark"), "= paid")
    assert.strictEqual(await line.inputValue(), "total >= 100, state == paid")
    assert.strictEqual(await page.locator(".chip").count(), 6)
    if (javaScriptEnabled) {
      assert.deepStrictEqual(await axeComplaints(page), [])
      await line.fill("total >= 100 or sta")
      assert.include(
        await page.locator("datalist option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value)),
        "total >= 100 or state",
      )
    }
    assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
  }
}, 300_000)

it("sums are exact, also of floats and of numbers with many digits, and come at the foot of the table", async () => {
  const sales = `${cabinet.base}/console/tables/public/sales`
  const all = "3,000 rows in all"
  const plain = async (query: string) => (await countAt(`${sales}?${query}`)).replaceAll(/<.*?>/g, "")
  assert.strictEqual(await plain("exact=1"), all)
  const total = `total: sum 5626875.00 · average 1875.625 · least 1.25 · greatest 3750.00 · ${all}`
  assert.strictEqual(await plain("column=total&q="), total)
  assert.strictEqual(await plain("column=ratio"), `ratio: sum 300.0 · average 0.1 · least 0.1 · greatest 0.1 · ${all}`)
  assert.strictEqual(await plain("column=day"), `day: least 2026-01-01 · greatest 2026-03-31 · ${all}`)
  const nine = 12345678901234567890123456789n * 9n + 45n
  assert.include(await plain("column=big&fc=id&fo=le&fv=9"), `big: sum ${nine}.0000009 · average `)
  assert.strictEqual(await plain("column=total&fc=id&fo=lt&fv=0"), "total: 0 rows in all")
  const { page } = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  await page.goto(sales)
  await page.getByLabel("Column total").click()
  await page.click("#column-menu a[data-into=sum]")
  await page.waitForSelector("#sum b")
  assert.strictEqual(await page.textContent("#sum"), total)
  assert.strictEqual(await page.locator(":popover-open").count(), 0)
})

it("a drag over bars selects their range, and the foot sums the column that is in focus", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/public/sales?fc=id&fo=le&fv=1500`)
  await page.waitForSelector("#pictures .bars")
  const bars = page.locator("#pictures td:nth-child(3) .bars > *")
  const box = async (at: number) => (await bars.nth(at).boundingBox())!
  const [from, to] = [await box(2), await box(5)]
  const rows = await bars.evaluateAll((all) => all.slice(2, 6).map((one) => one.getAttribute("title")))
  // From right to left, past the empty space between two bars.
  await page.mouse.move(to.x + 1, to.y + 5)
  await page.mouse.down()
  await page.mouse.move(from.x + 1, from.y + 20, { steps: 4 })
  assert.match((await page.locator("#pictures td:nth-child(3) .caption").textContent())!, / … /)
  await page.keyboard.press("Escape")
  assert.strictEqual(await page.locator("#pictures .in").count(), 0)
  await page.mouse.up()
  await page.mouse.move(from.x + 1, from.y + 20)
  await page.mouse.down()
  await page.mouse.move(to.x + 1, to.y + 5, { steps: 4 })
  await Promise.all([page.waitForURL(/fc=total&fc=total/), page.mouse.up()])
  assert.deepStrictEqual(new URL(page.url()).searchParams.getAll("fo"), ["le", "ge", "lt"])
  const sum = rows.reduce((all, title) => all + Number(rowsOf(title).replace(",", "")), 0)
  assert.strictEqual(await countAt(page.url()), `${sum} rows in all`)
  await page.locator("tbody tr:nth-child(2) td:nth-child(3)").click()
  await page.waitForFunction(() => /average/.test(document.getElementById("sum")?.textContent ?? ""))
  assert.include(await page.textContent("#sum"), `${sum} rows in all`)
  await page.keyboard.press("ArrowRight")
  assert.strictEqual(await page.textContent("#sum"), "")
  await page.goto(`${cabinet.base}/console/tables/public/seen`)
  await page.locator("tbody tr:nth-child(2) td:nth-child(2)").click()
  // A view is not summed by itself.
  assert.strictEqual(await page.textContent("#sum"), "id: Sum, average, least, greatest")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
}, 300_000)
