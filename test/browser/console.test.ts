/** The console's screens in Chromium: readable by everybody, on every width, in both languages, by day and by night. */
import { ASSETS } from "@data-cabinet/console/assets/Assets"
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
  cabinet = await consoleCabinet(database.url, 300)
  chromium = await startChromium()
  headers = await cabinet.as("owner")
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

const SCREENS = ["tables", "tables?find=nothing", "me"]

const LOOKS = [
  { width: 1280, colorScheme: "light", locale: "en-US" },
  { width: 375, colorScheme: "dark", locale: "ru-RU" },
] as const

it.each(LOOKS)("every screen is fit at $width in a $colorScheme scheme in $locale", async ({ width, ...look }) => {
  const visit = await chromium.visit({ viewport: { width, height: 800 }, extraHTTPHeaders: { ...headers }, ...look })
  for (const path of SCREENS) {
    await visit.page.goto(`${cabinet.base}/console/${path}`)
    const wider = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.isAtMost(wider, 0, path)
    assert.deepStrictEqual(await axeComplaints(visit.page), [], path)
  }
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("whoever is not known sees nothing but that", async () => {
  const visit = await chromium.visit({ locale: "en-US" })
  const response = await visit.page.goto(`${cabinet.base}/console/tables`)
  assert.strictEqual(response!.status(), 401)
  assert.notInclude(await visit.page.content(), "orders")
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

it("the script and the style come once, under addresses of their content", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers } })
  await visit.page.goto(`${cabinet.base}/console/tables`)
  const address = await visit.page.getAttribute("script", "src")
  const response = await fetch(new URL(address!, cabinet.base))
  assert.match(response.headers.get("cache-control")!, /immutable/)
  assert.strictEqual(await response.text(), ASSETS["console.js"].text)
})
