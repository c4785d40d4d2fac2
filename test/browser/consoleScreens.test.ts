/** Every screen of the console in Chromium: accessible, turned by no value, at every width, in both languages, in light and dark mode. */
import type { BrowserContextOptions } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"
import { fullCabinet } from "./support/fullCabinet.ts"
import { EMPTY_SCREENS, SCREENS } from "./support/screenList.ts"
import { turnedTexts } from "./support/turnedText.ts"

const database = withDatabase()
const emptyDatabase = withDatabase()
let cabinet: Awaited<ReturnType<typeof fullCabinet>>
let empty: ConsoleCabinet
let chromium: Chromium
beforeAll(async () => {
  cabinet = await fullCabinet(database)
  empty = await consoleCabinet(emptyDatabase.url, 0)
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
  await empty.close()
})

const ALL_LOOKS = ([1280, 375] as const).flatMap((width) =>
  (["light", "dark"] as const).flatMap((colorScheme) =>
    ["en-US", "ru-RU"].map((locale) => ({ width, colorScheme, locale })),
  ),
)

/** Two combinations cover every width, scheme and language; `npm run trials -- screens` tests all eight with `LOOKS=all`. */
const looks = process.env["LOOKS"] === "all" ? ALL_LOOKS : [ALL_LOOKS[0]!, ALL_LOOKS.at(-1)!]

const areFit = async (base: string, paths: ReadonlyArray<string>, options: BrowserContextOptions) => {
  const visit = await chromium.visit(options)
  for (const path of paths) {
    await visit.page.goto(`${base}/console/${path}`)
    const wider = await visit.page.evaluate(() => {
      for (const folded of document.querySelectorAll("details")) folded.open = true
      return document.documentElement.scrollWidth - innerWidth
    })
    assert.isAtMost(wider, 0, path)
    assert.deepStrictEqual(await turnedTexts(visit.page), [], path)
    assert.deepStrictEqual(await axeComplaints(visit.page), [], path)
  }
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
}

it.each(looks)(
  "every screen is usable at $width in a $colorScheme scheme in $locale",
  ({ width, ...look }) =>
    areFit(cabinet.base, SCREENS, {
      viewport: { width, height: 800 },
      extraHTTPHeaders: { ...cabinet.headers },
      ...look,
    }),
  900_000,
)

it.each(looks)(
  "empty screens are usable at $width in a $colorScheme scheme in $locale",
  async ({ width, ...look }) => {
    const extraHTTPHeaders = { ...(await empty.as("owner")) }
    await areFit(empty.base, EMPTY_SCREENS, { viewport: { width, height: 800 }, extraHTTPHeaders, ...look })
  },
  300_000,
)
