/** Every screen of the console in Chromium: accessible, at every width, in both languages, in light and dark mode. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"
import { SCREENS } from "./support/screenList.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 300)
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
  headers = await cabinet.as("owner")
  await manage("people", { name: "Ada Lovelace <b>", role: "editor" })
  const letters = await cabinet.cabinet.sources.create({ name: "Letters" })
  for (const text of ["first", "second"]) {
    await (await fetch(letters.intakeUrl, { method: "POST", body: new URLSearchParams({ text }) })).text()
  }
  await manage("events/trash", { source_id: letters.id, events: [301, 302] })
  await manage("addresses/1/ping", {})
  await manage("views", { title: "Unpaid <b>", schema: "sources", name: "orders", query: "fc=paid&fo=eq&fv=false" })
  await manage("polls", { source_id: 1, url: `${cabinet.base}/console/` })
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

const manage = async (path: string, body: unknown) => {
  const init = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  }
  const answer = await fetch(`${cabinet.base}/manage/v1/${path}`, init)
  assert.isTrue(answer.ok, await answer.clone().text())
  return answer.json() as Promise<any>
}

/** Pairwise. The first two have every width, scheme and language; `npm run trials -- screens` has all, with `LOOKS=all`. */
const LOOKS = [
  { width: 1280, colorScheme: "light", locale: "en-US" },
  { width: 375, colorScheme: "dark", locale: "ru-RU" },
  { width: 1280, colorScheme: "dark", locale: "ru-RU" },
  { width: 375, colorScheme: "light", locale: "en-US" },
] as const

it.each(process.env["LOOKS"] === "all" ? LOOKS : LOOKS.slice(0, 2))(
  "every screen is fit at $width in a $colorScheme scheme in $locale",
  async ({ width, ...look }) => {
    const visit = await chromium.visit({ viewport: { width, height: 800 }, extraHTTPHeaders: { ...headers }, ...look })
    for (const path of SCREENS) {
      await visit.page.goto(`${cabinet.base}/console/${path}`)
      const wider = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.isAtMost(wider, 0, path)
      assert.deepStrictEqual(await axeComplaints(visit.page), [], path)
    }
    assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
  },
  300_000,
)
