/** A table is rebuilt in the console: the changes first, a confirmation, progress without a reload, and cancelling. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { heldTable } from "../support/heldTable.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"
import { heldResponse } from "./support/heldResponse.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 10)
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

const ownTriggers = () =>
  database.run("SELECT tgname FROM pg_trigger WHERE tgrelid = 'sources.orders'::regclass AND NOT tgisinternal")

it("a rebuild is shown first, confirmed, followed to its end, and cancelled without a reload", async () => {
  const extraHTTPHeaders = { ...(await cabinet.as("editor")) }
  const { page, complaints } = await chromium.visit({ extraHTTPHeaders, locale: "en-US" })
  const start = async () => {
    await page.click("[popovertarget=start-rebuild]")
    await page.click("#start-rebuild button.danger")
  }
  await page.goto(`${cabinet.base}/console/tables/sources/orders/rebuild`)
  await page.selectOption("select[name=column]", "note")
  await page.fill("input[name=name]", "remark")
  await page.click("input[name=show] + button")
  await page.click("[popovertarget=start-rebuild]")
  assert.include(await page.textContent("#start-rebuild-says"), "10 rows of sources.orders")
  await page.click("#start-rebuild button.danger")
  await page.waitForSelector("text=The table was rebuilt: 10 rows")
  assert.strictEqual((await cabinet.cabinet.columns.list(cabinet.source.id))[0]!.name, "remark")

  const first = await heldTable(database.url, "sources.orders")
  await page.click("input[name=show] + button")
  await start()
  await page.waitForSelector("#rebuild >> text=waiting for the table")
  // The question is opened while the next state is on its way.
  const next = await heldResponse(page, /\/rebuild$/)
  await next.requested
  await page.click("[popovertarget=cancel-rebuild]")
  next.release()
  await page.waitForSelector("#rebuild:not([aria-busy])")
  assert.isTrue(await page.isVisible("#cancel-rebuild button.danger"))
  await page.click("#cancel-rebuild button.danger")
  await page.waitForSelector("#rebuild >> text=The rebuild was cancelled")

  await first[Symbol.asyncDispose]()
  // A start is refused while the remains of the cancelled rebuild wait for the table.
  while ((await ownTriggers()).length > 0) await new Promise((done) => setTimeout(done, 20))
  await page.click("input[name=show] + button")
  const second = await heldTable(database.url, "sources.orders")
  await start()
  await page.waitForSelector("#rebuild progress")
  await page.evaluate(() => document.body.setAttribute("data-same", ""))
  await second[Symbol.asyncDispose]()
  await page.waitForSelector("text=The table was rebuilt: 10 rows")
  assert.isTrue(await page.evaluate(() => document.body.hasAttribute("data-same")))
  assert.deepStrictEqual(complaints, [])
}, 120_000)
