/**
 * Takes the screenshots of the README and `docs/console.md` from the current console:
 * `SCREENSHOTS=docs/images CHROMIUM=… vitest run --config test/browser/vitest.config.ts test/browser/screenshots.test.ts`.
 * Without `SCREENSHOTS` they are taken and discarded, so that a change that breaks them is noticed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
/** Refuses what lacks a city. */
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.writeHead(body.includes('"city"') ? 200 : 400, { "content-type": "application/json" })
  response.end(body.includes('"city"') ? '{"ok":true}' : '{"error":{"message":"Field \\"city\\" is required"}}')
})
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0, true)
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
  receiver.close()
  receiver.closeAllConnections()
})

const root = fileURLToPath(new URL("../../", import.meta.url))

/** Their content, above all times, changes their size by some percent. Twice as many points as shown, to be sharp. */
const MAX_BYTES = 600_000

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

const LETTERS = [
  ["Invoice", "Could you send me the invoice for my last order, please? I need it for my taxes."],
  ["Возврат", "Здравствуйте! Лампа пришла с трещиной. Как её вернуть?"],
  ["Do you ship to Zürich?", "I would like to order two chairs. What would the delivery cost?"],
  ["Thank you", "The table arrived today, and it is even nicer than in the pictures."],
  ["Wrong colour", "I ordered the blue one but got a green one. Can I change it?"],
] as const

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
  const shop = await cabinet.cabinet.sources.create({ name: "Shop" })
  await send(letters.intakeUrl, '{"email":"ada@example.com","language":"en"}')
  for (const [n, [subject, message]] of LETTERS.entries()) {
    const fields = { name: NAMES[n], email: `customer${n}@example.com`, subject, message }
    await send(contact.intakeUrl, JSON.stringify(fields))
  }
  await deliver(shop)
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
}

/** Orders that are delivered to a host of its own name, all but two. */
const deliver = async (shop: { readonly id: number; readonly intakeUrl: string }) => {
  const { port } = receiver.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/orders`
  await cabinet.cabinet.addresses.create({ url, sources: [shop.id] })
  for (let n = 0; n < 9; n++) await send(shop.intakeUrl, order(n).replace(n % 4 === 2 ? /"city":"[^"]*",/ : "", ""))
  const attempted = async () => {
    const answer = await fetch(`${cabinet.base}/manage/v1/deliveries`, { headers: await cabinet.as("viewer") })
    const { data } = (await answer.json()) as { data: ReadonlyArray<{ readonly last_attempt: unknown }> }
    return data.filter(({ last_attempt: last }) => last !== null).length === 9
  }
  await expect.poll(attempted, { timeout: 60_000, interval: 100 }).toBe(true)
  await database.run("UPDATE cabinet.address SET url = 'https://erp.example.com/orders' WHERE id = 1")
  // A day of attempts, which are otherwise counted some minutes later.
  await database.run(`INSERT INTO cabinet.attempt_activity (hour, address_id, within, attempts)
    SELECT date_trunc('hour', now()) - n * interval '1 hour', 1, kind.within, kind.share * (3 + (n * 7) % 11)
    FROM generate_series(0, 23) n, (VALUES (75, 12), (200, 5), (-1, 1)) AS kind (within, share)`)
}

const PICTURES = [
  { name: "console-table", path: "tables/sources/orders?fc=status&fo=eq&fv=paid&sort=total&dir=desc" },
  { name: "console-event", path: "events/240" },
  { name: "console-overview", path: "" },
  { name: "console-inbox", path: "inbox/3", open: ".people tr:nth-child(3) a" },
  {
    name: "console-deliveries",
    path: "deliveries",
    open: "tbody tr:nth-child(3) th a",
    tab: "#panel .tabs li:last-child a",
  },
] as ReadonlyArray<{ readonly name: string; readonly path: string; readonly open?: string; readonly tab?: string }>

it("each screenshot can be taken, is small, and is used in a document", async () => {
  await fill()
  const { token } = await cabinet.cabinet.tokens.create({ name: "Ada Lovelace", role: "owner" })
  const headers = { authorization: `Bearer ${token}` }
  const visit = await chromium.visit({
    viewport: { width: 1200, height: 720 },
    deviceScaleFactor: 2,
    extraHTTPHeaders: headers,
    locale: "en-US",
    colorScheme: "light",
  })
  const documents = ["README.md", "docs/console.md"].map((path) => readFileSync(`${root}${path}`, "utf8")).join("")
  for (const { name, path, open, tab } of PICTURES) {
    await visit.page.goto(`${cabinet.base}/console/${path}`, { waitUntil: "networkidle" })
    if (open !== undefined) {
      await visit.page.click(open)
      await visit.page.locator("#panel:not([hidden])").waitFor()
    }
    if (tab !== undefined) {
      await visit.page.click(tab)
      await visit.page.locator(".beside").waitFor()
    }
    await visit.page.evaluate(() => scrollTo(0, 0))
    const picture = await visit.page.screenshot()
    assert.isBelow(picture.length, MAX_BYTES, name)
    assert.include(documents, `images/${name}.png`)
    const into = process.env["SCREENSHOTS"]
    if (into !== undefined && into !== "") writeFileSync(`${root}${into}/${name}.png`, picture)
    else assert.isBelow(readFileSync(`${root}docs/images/${name}.png`).length, MAX_BYTES, name)
  }
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})
