/** Every screen of the console in Chromium: accessible, at every width, in both languages, in light and dark mode. */
import type { BrowserContextOptions } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"
import { EMPTY_SCREENS, SCREENS } from "./support/screenList.ts"

const database = withDatabase()
const emptyDatabase = withDatabase()
let cabinet: ConsoleCabinet
let empty: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 300)
  empty = await consoleCabinet(emptyDatabase.url, 0)
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
  await database.run("CREATE VIEW public.the_monthly_totals_of_each_customer AS SELECT 1 AS one")
  await database.run("GRANT SELECT ON public.the_monthly_totals_of_each_customer TO PUBLIC")
  const only = ["sources.orders", "sources.letters", "public.the_monthly_totals_of_each_customer"]
  await manage("tokens", { name: "Accountant", role: "reader", only, expires_in_seconds: 86_400 })
  await manage("polls", { source_id: 1, url: `${cabinet.base}/console/` })
  const bytes = Buffer.from("customer,an_import_of_a_column_with_a_long_name\n<b>Ada,1\n")
  await cabinet.cabinet.imports.file(1, { name: "a list of customers with a long name.csv", bytes })
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
  await empty.close()
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

const ALL_LOOKS = ([1280, 375] as const).flatMap((width) =>
  (["light", "dark"] as const).flatMap((colorScheme) =>
    ["en-US", "ru-RU"].map((locale) => ({ width, colorScheme, locale })),
  ),
)

/** Two have every width, scheme and language; `npm run trials -- screens` has all eight, with `LOOKS=all`. */
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
    assert.deepStrictEqual(await axeComplaints(visit.page), [], path)
  }
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
}

it.each(looks)(
  "every screen is fit at $width in a $colorScheme scheme in $locale",
  ({ width, ...look }) =>
    areFit(cabinet.base, SCREENS, { viewport: { width, height: 800 }, extraHTTPHeaders: { ...headers }, ...look }),
  900_000,
)

it.each(looks)(
  "screens without anything are fit at $width in a $colorScheme scheme in $locale",
  async ({ width, ...look }) => {
    const extraHTTPHeaders = { ...(await empty.as("owner")) }
    await areFit(empty.base, EMPTY_SCREENS, { viewport: { width, height: 800 }, extraHTTPHeaders, ...look })
  },
  300_000,
)
