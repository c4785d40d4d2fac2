/** An open screen shows the progress and the end of an index build by itself. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type RawSession, rawSession } from "../support/rawSession.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"
import { heldResponse } from "./support/heldResponse.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let holding: RawSession
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 10)
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  holding.end()
  await chromium.close()
  await cabinet.close()
})

it("the end of a build is shown without a reload, and the focus stays where it was", async () => {
  const extraHTTPHeaders = { ...(await cabinet.as("editor")) }
  const { page, complaints } = await chromium.visit({ extraHTTPHeaders, locale: "en-US" })
  await page.goto(`${cabinet.base}/console/tables/sources/orders/indexes`)
  holding = await rawSession(database)
  // A build waits for the transactions that may have written to the table.
  await holding.executeWithoutSync("DELETE FROM sources.orders WHERE false")
  await page.click("#indexes button")
  await page.waitForSelector("#indexes progress")
  const next = await heldResponse(page, /\/indexes$/)
  await next.requested
  await page.focus("#indexes a[data-again]")
  await page.evaluate(() => document.querySelector("#indexes progress")!.setAttribute("data-old", ""))
  next.release()
  await page.waitForSelector("#indexes progress:not([data-old])")
  assert.isTrue(await page.evaluate(() => document.activeElement?.hasAttribute("data-again")))
  holding.end()
  await page.waitForSelector("#indexes .badge.good")
  assert.isNull(await page.$("a[data-again]"))
  assert.strictEqual(await page.textContent("#said"), "ready")
  assert.deepStrictEqual(complaints, [])
}, 120_000)
