/** What only a browser shows of the console's ways: marking, folding, printing, and a one-time link in an open tab. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 60)
  headers = await cabinet.as("owner")
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

it("a one-time link signs in when it is opened in a tab that already shows the welcome screen", async () => {
  const visit = await chromium.visit({ locale: "en-US" })
  const { page } = visit
  const invited = await fetch(`${cabinet.base}/manage/v1/people`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "Grace", role: "viewer" }),
  })
  const { link } = (await invited.json()) as { readonly link: string }
  await page.goto(`${cabinet.base}/console/welcome`)
  await Promise.all([page.waitForURL(/\/console\/(?!welcome)/), page.goto(link)])
  assert.include(await page.textContent(".who"), "Grace")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("all events of a page are marked by one box, and the act stays at the filtered list", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/events?source_id=1`)
  await page.check("input[data-all]")
  assert.strictEqual(await page.locator("tbody input:checked").count(), 50)
  await page.locator("tbody input").first().uncheck()
  assert.isFalse(await page.isChecked("input[data-all]"))
  await Promise.all([page.waitForNavigation(), page.click("#trash button")])
  assert.include(page.url(), "/console/events?source_id=1")
  await Promise.all([page.waitForNavigation(), page.click(".above button")])
  assert.include(page.url(), "/console/events?source_id=1")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("Ctrl K opens the palette: what is typed is found, the arrows choose, Enter goes there, Esc leads back", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  const chosen = page.locator("dialog [aria-selected=true]")
  await page.goto(`${cabinet.base}/console/integrations`)
  await page.locator("[data-palette]").focus()
  await page.keyboard.press("Control+k")
  await page.keyboard.type("orders")
  await chosen.filter({ hasText: "orders" }).waitFor()
  assert.deepStrictEqual(await axeComplaints(page), [])
  await page.keyboard.press("ArrowUp")
  await chosen.filter({ hasText: "contain" }).waitFor()
  await page.keyboard.press("Escape")
  assert.strictEqual(await page.evaluate(() => document.activeElement?.hasAttribute("data-palette")), true)
  await page.keyboard.press("Control+k")
  await page.keyboard.type("add a delivery")
  // Enter before the list is there goes where the list will lead.
  await page.keyboard.press("Enter")
  await page.locator("#add-address input[name=url]:focus").waitFor()
  // Sources that would not count cannot be marked.
  assert.isTrue(await page.isHidden("#add-address input[name=source]"))
  await page.check("#add-address input[value=some]")
  await page.locator("#add-address input[name=source]").first().check()
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("a form's message is answered by two clicks: it opens beside the list, counts as read, and has a link to reply", async () => {
  const form = await cabinet.cabinet.sources.create({ name: "Contact" })
  const write = (name: string) => {
    const body = new URLSearchParams({ name, email: `${name}@example.com`, subject: "Order", message: "Where is it?" })
    return fetch(form.intakeUrl, { method: "POST", body })
  }
  for (const name of ["Ada", "Grace"]) await write(name)
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/inbox`)
  assert.include(await page.textContent("h1"), "2 new")
  await page.locator("a.live.on").waitFor()
  await write("Alan")
  // While the screen is open, its number grows and its list stays.
  await page.locator("h1").filter({ hasText: "3 new" }).waitFor()
  // All of the line opens it, not its name alone.
  await page.click(".people th small")
  const href = await page.getAttribute("#panel a.main", "href")
  assert.include(href, "mailto:Grace@example.com?subject=Re%3A%20Order&body=")
  assert.deepStrictEqual(await axeComplaints(page), [])
  await page.waitForFunction(() => document.querySelector(".people tbody tr")?.classList.contains("new") === false)
  await Promise.all([page.waitForNavigation(), page.click('#panel form[action*="/done#"] button')])
  assert.include(await page.textContent(".above"), "The message is done.")
  assert.deepStrictEqual(await page.locator(".people th a").allTextContents(), ["Alan (unread)", "Ada (unread)"])
  // The next message is open.
  await page.locator("#panel .prose").waitFor()
  assert.include(await page.textContent("#panel"), "Ada@example.com")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("deliveries open beside their list: keys walk, Back closes, and a delivery sent again stays open below a line", async () => {
  const address = await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
  for (const n of [1, 2, 3])
    await fetch(cabinet.source.intakeUrl, { method: "POST", body: new URLSearchParams({ n: `${n}` }) })
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const { page } = visit
  const list = `${cabinet.base}/console/deliveries?address_id=${address.id}`
  await page.goto(list)
  const opened = async (nth: number) => {
    const row = page.locator("table[data-walk] tbody tr").nth(nth)
    const number = (await row.getAttribute("id"))!.replace("delivery-", "")
    await page.waitForFunction(
      (text) => document.querySelector("#panel:not([hidden]) h2")?.textContent?.includes(text),
      number,
    )
    assert.strictEqual(page.url(), `${list}#open-delivery-${number}`)
    assert.isTrue(await row.evaluate(({ classList }) => classList.contains("on")))
  }
  await page.locator("tbody th a").first().click()
  await opened(0)
  await page.keyboard.press("j")
  await opened(1)
  await page.keyboard.press("k")
  await opened(0)
  await page.click('#panel a[href*="tab=request"]')
  await page.waitForSelector("#panel pre")
  assert.include(await page.textContent("#panel"), "X-Service-Signature")
  assert.deepStrictEqual(await axeComplaints(page), [])
  await Promise.all([page.waitForNavigation(), page.click('#panel form[action*="resend"] button')])
  await opened(0)
  assert.include(await page.textContent(".above"), "queued to be sent again")
  await page.keyboard.press("Escape")
  assert.isFalse(await page.isVisible("#panel"))
  await page.keyboard.press("j")
  await opened(0)
  await page.goBack()
  await page.waitForSelector("#panel", { state: "hidden" })
  assert.strictEqual(page.url(), list)
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("a value of a megabyte makes its screen little taller, and opens without JavaScript; a long name leaves it room", async () => {
  const send = async (note: string, name = "note") => {
    const body = JSON.stringify({ [name]: note })
    const json = { "content-type": "application/json" }
    return (await (await fetch(cabinet.source.intakeUrl, { method: "POST", headers: json, body })).json()).id as number
  }
  const [small, large] = [await send("lorem ipsum ".repeat(160)), await send("lorem ipsum ".repeat(83_000))]
  const { page } = await chromium.visit({ extraHTTPHeaders: { ...headers }, javaScriptEnabled: false })
  const tall = async () => (await page.locator("main").boundingBox())!.height
  const row = (id: number) => `${cabinet.base}/console/tables/sources/orders/row?fc=_event_id&fo=eq&fv=${id}`
  await page.goto(row(small))
  const least = await tall()
  await page.goto(row(large))
  assert.isAtMost(await tall(), 1.3 * least + 100)
  await page.click("summary")
  assert.isAbove(await tall(), 20 * least)
  await page.goto(`${cabinet.base}/console/events/${await send("short", "a long name ".repeat(40))}`)
  const width = async (part: string) => (await page.locator(part).boundingBox())!.width
  assert.isAbove(await width("dl.whole dd"), (await width("dl.whole")) / 2)
}, 300_000)

it("a column is as wide as its edge was dragged, also after a reload, until a double click; keys do the same", async () => {
  const { page, complaints } = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  await page.goto(`${cabinet.base}/console/tables/sources/orders`)
  const heading = page.locator("th", { hasText: "customer" })
  const box = async () => (await heading.boundingBox())!
  const before = await box()
  const edge = async () => {
    const { x, y, width, height } = await box()
    return [x + width - 3, y + height / 2] as const
  }
  const [x, y] = await edge()
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 60, y)
  await page.mouse.up()
  assert.approximately((await box()).width, before.width + 60, 2)
  // The click at the edge neither sorted nor opened the menu.
  assert.notInclude(page.url(), "sort")
  await page.reload()
  assert.approximately((await box()).width, before.width + 60, 2)
  await page.focus(".grid")
  const place = await heading.evaluate((one) => (one as HTMLTableCellElement).cellIndex)
  for (let n = 0; n < place; n++) await page.keyboard.press("ArrowRight")
  await page.keyboard.press("<")
  assert.approximately((await box()).width, before.width + 36, 2)
  await page.mouse.dblclick(...(await edge()))
  assert.approximately((await box()).width, before.width, 2)
  await page.reload()
  assert.approximately((await box()).width, before.width, 2)
  assert.deepStrictEqual(complaints, [])
})

it("Back closes the row that is open, and so does Esc without leaving a step behind", async () => {
  const { page, complaints } = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  const table = `${cabinet.base}/console/tables/sources/orders`
  await page.goto(`${cabinet.base}/console/tables`)
  await page.goto(table)
  for (const row of [2, 3]) await page.click(`tbody tr:nth-child(${row}) td:nth-child(4)`)
  await page.waitForSelector("#panel:not([hidden])")
  await page.goBack()
  await page.waitForSelector("#panel[hidden]", { state: "attached" })
  assert.strictEqual(page.url(), table)
  await page.click("tbody tr:nth-child(2) td:nth-child(4)")
  await page.waitForSelector("#panel:not([hidden])")
  const isBack = page.evaluate(() =>
    new Promise((done) => addEventListener("popstate", done, { once: true })).then(() => true),
  )
  await page.keyboard.press("Escape")
  assert.isTrue(await isBack)
  await page.waitForSelector("#panel[hidden]", { state: "attached" })
  await page.goBack()
  assert.strictEqual(page.url(), `${cabinet.base}/console/tables`)
  assert.deepStrictEqual(complaints, [])
})

it("a printed table has its rows one below the other, without gaps and menus", async () => {
  const { page } = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  await page.goto(`${cabinet.base}/console/tables/sources/orders`)
  await page.waitForSelector(".grid tbody tr[aria-rowindex]")
  await page.emulateMedia({ media: "print" })
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")))
  assert.isAtLeast(await page.locator(".grid tbody tr[aria-rowindex]:visible").count(), 58)
  const { scroll, height } = await page.locator(".grid").evaluate((box) => ({
    scroll: box.scrollHeight,
    height: box.clientHeight,
  }))
  assert.isAtMost(scroll, height + 1)
  assert.strictEqual(await page.locator(".grid .mini:visible, .tools:visible").count(), 0)
})
