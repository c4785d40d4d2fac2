/**
 * A large table in Chromium. Scrolling far down and back takes few elements and little memory, and shows every row in its place.
 * `npm run trials -- sizes` scrolls a million rows, and jumps into ten million, which costs as much as the first page.
 */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const ROWS = Number(process.env["TABLE_ROWS"] ?? 100_000)
const SCROLLED_ROWS = Number(process.env["SCROLLED_ROWS"] ?? 2_500)
const JUMP_ROWS = Number(process.env["JUMP_ROWS"] ?? 100_000)
const MAX_ELEMENTS = 1_500
const MAX_GROWTH_BYTES = 15 * 1024 ** 2

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  headers = await cabinet.as("owner")
  chromium = await startChromium()
  await cabinet.cabinet.sql("CREATE TABLE public.many (id bigint PRIMARY KEY, name text, total numeric)")
  await cabinet.cabinet.sql("CREATE TABLE public.most (id bigint PRIMARY KEY, note text)")
  await database.run(`INSERT INTO public.many SELECT g, 'Name ' || g, g * 1.25 FROM generate_series(1, ${ROWS}) g`)
  await database.run(`INSERT INTO public.most SELECT g, 'x' FROM generate_series(1, ${JUMP_ROWS}) g`)
  await database.run("VACUUM ANALYZE public.many")
  await database.run("VACUUM ANALYZE public.most")
}, 900_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

it(`scrolling to row ${SCROLLED_ROWS} of ${ROWS} and back shows every row in its place`, async () => {
  const visit = await chromium.visit({ viewport: { width: 1280, height: 800 }, extraHTTPHeaders: { ...headers } })
  const { page } = visit
  await page.goto(`${cabinet.base}/console/tables/public/many?sort=id&dir=asc`)
  await page.waitForSelector(".grid tbody tr[aria-rowindex]")
  const session = await page.context().newCDPSession(page)
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage")
    return (await session.send("Runtime.getHeapUsage")).usedSize
  }
  const before = await heap()
  const walked = await page.evaluate(async (rows) => {
    const box = document.querySelector<HTMLElement>(".grid")!
    const seen = new Uint8Array(rows + 1)
    const wrong: Array<string> = []
    let most = 0
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const look = () => {
      most = Math.max(most, document.querySelectorAll("*").length)
      let last = 0
      for (const row of box.querySelectorAll<HTMLTableRowElement>("tbody tr[aria-rowindex]")) {
        const id = row.cells[1]?.textContent ?? ""
        if (id === "") continue
        last = Number(row.ariaRowIndex) - 1
        if (Number(id) !== last) wrong.push(`row ${last} shows ${id}`)
        if (last <= rows) seen[last] = 1
      }
      return last
    }
    const walk = async (step: number, isThere: (last: number) => boolean) => {
      let waited = 0
      for (let at = look(); !isThere(at) && waited < 2_000;) {
        box.scrollTop += step
        await frame()
        const now = look()
        waited = now === at ? waited + 1 : 0
        at = now
      }
    }
    const step = box.clientHeight * 0.9
    await walk(step, (last) => last >= rows)
    const missing = seen.subarray(1).reduce((none, one) => none + (one === 0 ? 1 : 0), 0)
    await walk(-step, () => box.scrollTop === 0)
    await frame()
    look()
    return {
      missing,
      wrong: wrong.slice(0, 10),
      most,
      first: box.querySelector("tbody tr[aria-rowindex] td")?.textContent,
    }
  }, SCROLLED_ROWS)
  const growth = (await heap()) - before
  assert.deepStrictEqual([walked.missing, walked.wrong], [0, []])
  assert.isAtMost(walked.most, MAX_ELEMENTS)
  assert.isAtMost(growth, MAX_GROWTH_BYTES)
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
  console.log(`${walked.most} elements at most, the heap grew by ${(growth / 1024 ** 2).toFixed(1)} MB`)
}, 1_800_000)

it(`a jump into ${JUMP_ROWS} rows leads to the value`, async () => {
  const path = `${cabinet.base}/console/tables/public/most`
  const value = Math.round(JUMP_ROWS * 0.9)
  const timed = async (address: string) => {
    const begun = performance.now()
    const response = await fetch(address, { headers })
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return { millis: performance.now() - begun, text }
  }
  const jump = await fetch(`${path}/jump?sort=id&value=${value}`, { headers, redirect: "manual" })
  const place = new URL(jump.headers.get("location")!, cabinet.base).href
  assert.include((await timed(place)).text, `>${value}<`)
  // How long it takes says little about a table that is small, or about a machine that is busy.
  if (process.env["JUMP_ROWS"] === undefined) return
  const [first, jumped]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < 40; round++) {
    first.push((await timed(`${path}?sort=id`)).millis)
    jumped.push((await timed(place)).millis)
  }
  // The minimum of each, to exclude other work of the machine.
  const [least, leastJumped] = [Math.min(...first), Math.min(...jumped)]
  console.log(`the first page in ${least.toFixed(1)} ms, the one jumped to in ${leastJumped.toFixed(1)} ms`)
  assert.isAtMost(leastJumped, 1.2 * least + 1)
}, 300_000)
