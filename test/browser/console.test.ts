/** The console in Chromium: by mouse, by keyboard and without JavaScript, within its budget. */
import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import { ASSETS } from "@data-cabinet/console/assets/Assets"
import type { Request } from "playwright-core"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { zipOf } from "../support/workbooks/zipOf.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet, DIGITS } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 300)
  headers = await cabinet.as("owner")
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

/** A workbook of sheets with one column each. */
const odsOf = (sheets: Readonly<Record<string, ReadonlyArray<string>>>): Buffer => {
  const names = ["office", "table", "text"].map(
    (name) => ` xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  )
  const row = (text: string) =>
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`
  const tables = Object.entries(sheets).map(
    ([name, rows]) => `<table:table table:name="${name}">${rows.map(row).join("")}</table:table>`,
  )
  return zipOf([
    ["mimetype", "application/vnd.oasis.opendocument.spreadsheet"],
    [
      "content.xml",
      `<office:document-content${names.join("")}><office:body><office:spreadsheet>${tables.join("")}</office:spreadsheet></office:body></office:document-content>`,
    ],
  ])
}

it("a visitor who is not signed in sees only how to sign in", async () => {
  const visit = await chromium.visit({ locale: "en-US" })
  await visit.page.goto(`${cabinet.base}/console/tables`)
  assert.strictEqual(new URL(visit.page.url()).pathname, new URL(`${cabinet.base}/console/sign-in`).pathname)
  assert.notInclude(await visit.page.content(), "orders")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("script and style are loaded once, from URLs with their hash", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers } })
  await visit.page.goto(`${cabinet.base}/console/tables`)
  const address = await visit.page.getAttribute("script", "src")
  const response = await fetch(new URL(address!, cabinet.base))
  assert.match(response.headers.get("cache-control")!, /immutable/)
  assert.strictEqual(await response.text(), ASSETS["console.js"].text)
})

it("scrolling down and back shows every row once, with few elements", async () => {
  const visit = await chromium.visit({ viewport: { width: 1280, height: 700 }, extraHTTPHeaders: { ...headers } })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/sources/orders?limit=40`)
  const seen = new Map<number, string>()
  let most = 0
  const look = async () => {
    const { rows, nodes } = await page.evaluate(() => ({
      nodes: document.querySelectorAll("*").length,
      rows: [...document.querySelectorAll<HTMLTableRowElement>(".grid tbody tr[aria-rowindex]")].map(
        (row) => [Number(row.ariaRowIndex), row.cells[1]?.textContent ?? ""] as const,
      ),
    }))
    most = Math.max(most, nodes)
    for (const [index, id] of rows) {
      if (id === "") continue
      assert.strictEqual(seen.get(index) ?? id, id)
      seen.set(index, id)
    }
  }
  await page.focus(".grid")
  const last = async () => page.getAttribute(".grid tbody tr[aria-rowindex]:nth-last-child(2)", "aria-rowindex")
  await expect.poll(async () => (await page.keyboard.press("PageDown"), await look(), await last())).toBe("301")
  const first = async () => page.getAttribute(".grid tbody tr[aria-rowindex]", "aria-rowindex")
  await expect.poll(async () => (await page.keyboard.press("PageUp"), await look(), await first())).toBe("2")
  assert.strictEqual(seen.size, 300)
  assert.deepStrictEqual(
    [...seen.keys()].toSorted((one, other) => one - other).map((index) => seen.get(index)),
    Array.from({ length: 300 }, (_, index) => String(300 - index)),
  )
  assert.isBelow(most, 1_500)
  assert.strictEqual(await page.textContent("#count"), "300 rows in all")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("the keyboard alone can search, open a row, copy a number of 40 digits, and return", async () => {
  const permissions = ["clipboard-read", "clipboard-write"]
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, permissions, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/sources/orders`)
  await page.keyboard.press("/")
  await page.keyboard.type("0007")
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
  assert.include(page.url(), "?q=0007")
  await page.focus(".grid")
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key)
  await page.locator("#panel dl").waitFor()
  assert.include(await page.textContent("#panel"), `${DIGITS.slice(0, 36)}0007`)
  await page.keyboard.press("c")
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${DIGITS.slice(0, 36)}0007`)
  await page.keyboard.press("Escape")
  assert.isTrue(await page.isHidden("#panel"))
  await page.goBack()
  assert.notInclude(page.url(), "?")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

/** Values that are easily altered on the way to a screen: directions, control characters, line ends, digits, lengths. */
const VALUES = {
  bidi: '"\\u202e1234 \\u05e9\\u05dc\\u05d5\\u05dd \\u2066x <b>&amp;"',
  controls: '"\\n\\u0001\\u001f\\t\\r\\n\\r \\u0085\\u2028 end\\n"',
  digits: `-${DIGITS}.${DIGITS}`,
  nested: `{"deep":[${Array.from({ length: 40 }, (_, n) => `${DIGITS}${n}`).join()}],"bidi":"\\u202eabc"}`,
  long: `"${"\\ud83d\\ude00 0123456789".repeat(40_000)}"`,
} as const

it("every value is copied from its cell as sent, and the open row shows it the same way", async () => {
  const values = await cabinet.cabinet.sources.create({ name: "Values" })
  const body = `{${Object.entries(VALUES)
    .map(([name, token]) => `"${name}":${token}`)
    .join()}}`
  const json = { "content-type": "application/json" }
  const sent = await fetch(values.intakeUrl, { method: "POST", headers: json, body })
  assert.strictEqual(sent.status, 200)
  const rows = `${cabinet.base}/api/v1/tables/sources/values/rows?${new URLSearchParams(Object.keys(VALUES).map((name) => ["col", name]))}`
  const [, row] = /"data":\[(.*)\],"has_more"/s.exec(
    await (await fetch(rows, { headers: { "x-api-key": cabinet.key } })).text(),
  )!
  const stored = cellTokens(row!).map(shownText)
  assert.deepStrictEqual(stored[1], JSON.parse(VALUES.controls))
  assert.deepStrictEqual(stored[2], VALUES.digits)

  const permissions = ["clipboard-read", "clipboard-write"]
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, permissions, locale: "en-US" })
  const { page } = visit
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await page.goto(`${cabinet.base}/console/tables/sources/values`)
  await page.focus(".grid")
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key)
  for (const value of stored) {
    await page.keyboard.press("c")
    await expect.poll(copied).toBe(value)
    await page.keyboard.press("ArrowRight")
  }
  await page.keyboard.press("Enter")
  await page.locator("#panel dl").waitFor()
  const shown = await page
    .locator("#panel [id^=value-]")
    .evaluateAll((all) => all.map(({ textContent }) => textContent))
  assert.deepStrictEqual(shown.slice(2), stored)
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.isAtMost(await wide(), 0)

  const { id } = (await sent.json()) as { readonly id: number }
  await page.goto(`${cabinet.base}/console/events/${id}`)
  const fields = await page
    .locator("dl.whole > dd")
    .evaluateAll((all) => all.map((field) => (field.querySelector(".value") ?? field).textContent))
  const texts = ["bidi", "controls", "digits", "long"].map((name) => Object.keys(VALUES).indexOf(name))
  assert.deepStrictEqual(
    texts.map((at) => fields[at]),
    texts.map((at) => stored[at]),
  )
  // Only its first 64 KB are kept.
  assert.include(
    await page.locator("pre.text").evaluateAll((all) => all.map(({ textContent }) => textContent)),
    body.slice(0, 65_536),
  )
  assert.include(await page.textContent("main"), "bytes, only the first 65,536 bytes are kept")
  assert.isAtMost(await wide(), 0)
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("keys open the list of shortcuts and go to a section, unless single letters are switched off", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables`)
  await page.keyboard.press("?")
  await page.locator("#keys").waitFor({ state: "visible" })
  await page.keyboard.press("Escape")
  await page.locator("#keys").waitFor({ state: "hidden" })
  // The letter counts for a while after the `g`: nothing is waited for in between.
  const pressed = ["g", "e"].map((key) => page.keyboard.press(key))
  await Promise.all([page.waitForURL("**/console/events"), ...pressed])
  await page.goto(`${cabinet.base}/console/me`)
  await page.uncheck("input[name=letters]")
  await Promise.all([page.waitForNavigation(), page.click("form[action$='me/keys'] button")])
  await page.keyboard.press("?")
  assert.isTrue(await page.isHidden("#keys"))
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("a column's values and a selection's count appear where they were requested, on the same screen", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  const many = await cabinet.cabinet.sources.create({ name: "Many" })
  for (let batch = 0; batch < 12; batch++) {
    const json = { "content-type": "application/json" }
    const body = JSON.stringify(Array.from({ length: 100 }, (_, n) => ({ n: 100 * batch + n })))
    assert.strictEqual((await fetch(many.intakeUrl, { method: "POST", headers: json, body })).status, 200)
  }
  await page.goto(`${cabinet.base}/console/tables/sources/many`)
  await page.click("a[data-into=total]")
  await page.getByText("1,200 rows in all").waitFor()

  await page.goto(`${cabinet.base}/console/tables/sources/orders`)
  // All rows have been fetched, so the screen does not offer to count them.
  await expect.poll(() => page.textContent("#count")).toBe("300 rows in all")
  assert.isTrue(await page.isHidden("#total"))
  await page.click("a[data-menu][aria-label='Column customer']")
  await page.click("#column-menu a[data-into]")
  await Promise.all([page.waitForNavigation(), page.click("#column-menu .facet:has-text('Ada')")])
  assert.include(page.url(), "?fc=customer&fo=eq&fv=Ada")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("a file is checked and then imported on one screen, with the result beside the form", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/files`)
  const file = { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from("name\nAda\n<img src=x>\n") }
  await page.setInputFiles("input[type=file]", file)
  await page.click("button[value=true]")
  await page.getByText("2 rows would become events").waitFor()
  await page.click("button[value=false]")
  await page.getByText("2 rows have become events.").waitFor()
  await page.setInputFiles("input[type=file]", file)
  await page.click("button[value=false]")
  await page.locator("#report [role=alert]").waitFor()
  assert.deepStrictEqual(visit.outside, [])
})

it("a workbook's sheet is chosen by name without JavaScript, and a wrong name is refused at its field", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US", javaScriptEnabled: false })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/files`)
  const buffer = odsOf({ First: ["name", "Ada"], Second: ["city", "Paris", "Rome"] })
  const file = { name: "book.xlsx", mimeType: "application/octet-stream", buffer }
  const check = async (sheet: string) => {
    await page.setInputFiles("input[type=file]", file)
    if (!(await page.isVisible("[name=sheet]"))) await page.click("form[enctype] summary")
    await page.fill("[name=sheet]", sheet)
    await Promise.all([page.waitForNavigation(), page.click("button[value=true]")])
  }
  await check("Third")
  assert.include(await page.locator("[role=alert]").innerText(), "its sheets are First, Second")
  assert.strictEqual(await page.inputValue("[name=sheet]"), "Third")
  await check("Second")
  await page.getByText("2 rows would become events").waitFor()
  assert.include(await page.locator("#report").innerText(), "Rome")
  assert.deepStrictEqual(visit.outside, [])
})

it("search, filters, sorting and paging work without JavaScript", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, javaScriptEnabled: false })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/sources/orders?limit=30`)
  await Promise.all([page.waitForNavigation(), page.click("th a:has-text('total')")])
  assert.include(page.url(), "sort=total&dir=asc")
  await page.click("[popovertarget=filters]")
  await page.selectOption("#filters select[name=fc]", "customer")
  await page.fill("#filters input[name=fv]", "Ada")
  await Promise.all([page.waitForNavigation(), page.click("#filters button.main")])
  assert.include(page.url(), "fc=customer&fo=eq&fv=Ada")
  await Promise.all([page.waitForNavigation(), page.click("a[rel=next]")])
  assert.strictEqual(await page.locator(".grid tbody tr").count(), 30)
})

it("on a phone, search and menus take two lines, and the rarer acts are behind a button, without JavaScript too", async () => {
  const visit = await chromium.visit({
    extraHTTPHeaders: { ...headers },
    javaScriptEnabled: false,
    locale: "ru-RU",
    viewport: { width: 375, height: 800 },
  })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/sources/orders?fc=total&fo=gt&fv=1&sort=customer&dir=asc&hide=note`)
  const shown = await page.locator(".tools>:visible:not(.hide)").all()
  const tops = await Promise.all(shown.map(async (one) => (await one.boundingBox())!.y))
  assert.deepStrictEqual([tops.length, new Set(tops).size], [5, 2])
  assert.isFalse(await page.isVisible("#acts"))
  await page.focus("[popovertarget=acts]")
  // Jump, save, erase, copy, export.
  for (const key of ["Enter", "Tab", "Tab", "Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key)
  assert.isTrue(await page.isVisible("#acts [href*='export.csv']"))
  for (const key of ["Escape", "Escape"]) await page.keyboard.press(key)
  assert.isFalse(await page.isVisible("#acts"))
})

it("a first visit to a full table is at most 40 KB", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers } })
  const sizes: Array<ReturnType<Request["sizes"]>> = []
  const measure = (request: Request) => void sizes.push(request.sizes())
  visit.page.on("requestfinished", measure)
  await visit.page.goto(`${cabinet.base}/console/tables/sources/orders`, { waitUntil: "networkidle" })
  // A request that finishes later, at the latest with the page, has no size any more.
  visit.page.off("requestfinished", measure)
  const bytes = (await Promise.all(sizes)).reduce((sum, one) => sum + one.responseBodySize + one.responseHeadersSize, 0)
  assert.isAtMost(bytes, 40 * 1024)
  assert.isAbove(bytes, 5_000)
})
