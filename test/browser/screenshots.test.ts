/**
 * Takes the screenshots of the README and `docs/console.md` from the current console:
 * `SCREENSHOTS=docs/images CHROMIUM=… vitest run --config test/browser/vitest.config.ts test/browser/screenshots.test.ts`.
 * Without `SCREENSHOTS` they are taken and discarded, so that a change that breaks them is noticed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

const root = fileURLToPath(new URL("../../", import.meta.url))

/** Their content, above all times, changes their size by some percent. */
const MAX_BYTES = 200_000

const NAMES = [
  "Ada Lovelace",
  "Иван Петров",
  "Grace Hopper",
  "Łucja Nowak",
  "Zoë Müller",
  "Amara Okafor",
  "José García",
]
const CITIES = ["London", "Санкт-Петербург", "New York", "Kraków", "Zürich", "Lagos", "Sevilla"]
const STATES = ["paid", "new", "shipped", "paid", "refunded"]

const order = (n: number): string =>
  `{"order_no":${1_000_000_001_541_251_200n + BigInt(n)},"customer":"${NAMES[n % 7]}","city":"${CITIES[n % 7]}","status":"${STATES[n % 5]}","total":${(((n * 7919) % 90_000) / 100 + 10).toFixed(2)},"items":[{"sku":"T-${100 + (n % 37)}","price":${(((n * 37) % 5_000) / 100).toFixed(2)}}]}`

const send = async (intake: string, body: string) => {
  const sent = await fetch(intake, { method: "POST", headers: { "content-type": "application/json" }, body })
  assert.strictEqual(sent.status, 200, await sent.text())
}

const fill = async () => {
  for (let from = 0; from < 240; from += 60) {
    await send(cabinet.source.intakeUrl, `[${Array.from({ length: 60 }, (_, n) => order(from + n)).join(",")}]`)
  }
  const letters = await cabinet.cabinet.sources.create({ name: "Newsletter" })
  const contact = await cabinet.cabinet.sources.create({ name: "Contact form" })
  await send(letters.intakeUrl, '{"email":"ada@example.com","language":"en"}')
  await send(contact.intakeUrl, '{"name":"Grace","message":"Do you ship to Zürich?"}')
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
}

const PICTURES = [
  { name: "console-table", path: "tables/sources/orders?fc=status&fo=eq&fv=paid&sort=total&dir=desc" },
  { name: "console-event", path: "events/240" },
  { name: "console-overview", path: "" },
] as const

it("each screenshot can be taken, is small, and is used in a document", async () => {
  await fill()
  const { token } = await cabinet.cabinet.tokens.create({ name: "Ada Lovelace", role: "owner" })
  const headers = { authorization: `Bearer ${token}` }
  const visit = await chromium.visit({
    viewport: { width: 1200, height: 720 },
    extraHTTPHeaders: headers,
    locale: "en-US",
    colorScheme: "light",
  })
  const documents = ["README.md", "docs/console.md"].map((path) => readFileSync(`${root}${path}`, "utf8")).join("")
  for (const { name, path } of PICTURES) {
    await visit.page.goto(`${cabinet.base}/console/${path}`, { waitUntil: "networkidle" })
    const picture = await visit.page.screenshot()
    assert.isBelow(picture.length, MAX_BYTES, name)
    assert.include(documents, `images/${name}.png`)
    const into = process.env["SCREENSHOTS"]
    if (into !== undefined && into !== "") writeFileSync(`${root}${into}/${name}.png`, picture)
    else assert.isBelow(readFileSync(`${root}docs/images/${name}.png`).length, MAX_BYTES, name)
  }
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})
