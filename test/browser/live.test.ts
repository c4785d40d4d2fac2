/** Events that arrive while a screen is open are counted exactly and at once, without moving its content. */
import { createServer, request as requestTo } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 300)
  headers = await cabinet.as("owner")
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

let sent = 0
const send = async (count: number, intakeUrl = cabinet.source.intakeUrl) => {
  for (let left = count; left > 0; left -= 100) {
    const items = Array.from({ length: Math.min(100, left) }, () => `{"order_no":${++sent}}`)
    const json = { "content-type": "application/json" }
    const response = await fetch(intakeUrl, { method: "POST", headers: json, body: `[${items.join()}]` })
    assert.strictEqual(response.status, 200, await response.text())
  }
}

it("an open table and list count a new event by themselves, and move only on request", async () => {
  const [table, list] = await Promise.all(
    ["tables/sources/orders", "events"].map(async (path) => {
      const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
      await visit.page.goto(`${cabinet.base}/console/${path}`)
      await visit.page.locator("a.live.on").waitFor()
      return visit
    }),
  )
  const firstRow = () => table!.page.textContent(".grid tbody tr[aria-rowindex]")
  const before = await firstRow()
  await send(1)
  await Promise.all([table!, list!].map(({ page }) => page.locator("a.live", { hasText: /^1 new · show$/ }).waitFor()))
  await send(4)
  await table!.page.locator("a.live", { hasText: "5 new · show" }).waitFor()
  assert.strictEqual(await firstRow(), before)
  await Promise.all([table!.page.waitForNavigation(), table!.page.locator("body").press(".")])
  assert.notStrictEqual(await firstRow(), before)
  await expect.poll(() => list!.page.title()).toBe("(5) Events · Data Cabinet")
  for (const { outside, complaints } of [table!, list!]) assert.deepStrictEqual([outside, complaints], [[], []])
})

it("the first event of a new source appears by itself", async () => {
  const source = await cabinet.cabinet.sources.create({ name: "Fresh" })
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  await visit.page.goto(`${cabinet.base}/console/sources/${source.id}`)
  await visit.page.locator("a.live.on").waitFor()
  await send(1, source.intakeUrl)
  await visit.page.locator("#recent-events table").waitFor()
  assert.include(await visit.page.textContent("#recent-events"), `"order_no":${sent}`)
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

/** A proxy in front of the cabinet that can cut connections, and refuse new ones until it is opened again. */
const switchInFront = async () => {
  const target = new URL(cabinet.base)
  const sockets = new Set<Socket>()
  let isCut = false
  const proxy = createServer((incoming, outgoing) => {
    const to = { host: target.hostname, port: target.port, path: incoming.url, method: incoming.method }
    const passed = requestTo({ ...to, headers: incoming.headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    passed.on("error", () => outgoing.destroy())
    outgoing.on("close", () => passed.destroy())
    incoming.pipe(passed)
  })
  proxy.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    if (isCut) socket.destroy()
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut: (now: boolean) => {
      isCut = now
      if (now) for (const socket of sockets) socket.destroy()
    },
    close: () => proxy.close(),
  }
}

it("a stream that is cut while 5,000 events arrive ends with the exact count", async () => {
  const front = await switchInFront()
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, locale: "en-US" })
  await visit.page.goto(`${front.origin}/data/console/events`)
  const link = visit.page.locator("a.live")
  await visit.page.locator("a.live.on").waitFor()
  await send(3)
  await visit.page.locator("a.live", { hasText: "3 new · show" }).waitFor()
  front.cut(true)
  await send(5_000)
  front.cut(false)
  await send(2)
  await expect.poll(() => link.textContent(), { timeout: 100_000 }).toBe("5,005 new · show")
  front.close()
  assert.deepStrictEqual(visit.outside, [])
})

it("the link reloads the list without JavaScript", async () => {
  const visit = await chromium.visit({ extraHTTPHeaders: { ...headers }, javaScriptEnabled: false, locale: "en-US" })
  await visit.page.goto(`${cabinet.base}/console/events`)
  await send(1)
  await Promise.all([visit.page.waitForNavigation(), visit.page.getByText("Reload").click()])
  assert.include(await visit.page.textContent("table"), `"order_no":${sent}`)
})
