/** The bundled reference page in Chromium: complete, without scripts, and from this machine only. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ApiServer, serveApi } from "../../packages/http-node/test/support/apiServer.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"

let reference: ApiServer
/** The base URL of the first server, so that `docs` redirects there. */
let api: ApiServer
let chromium: Chromium
beforeAll(async () => {
  reference = await serveApi()
  api = await serveApi({ baseUrl: reference.base })
  chromium = await startChromium()
})
afterAll(async () => {
  await chromium.close()
  await api.close()
  await reference.close()
})

it.each([340, 800, 1280])(
  "at %d pixels every part of the reference behind /api/v1/docs can be reached",
  async (width) => {
    const { page, outside, complaints } = await chromium.visit({
      viewport: { width, height: 800 },
      reducedMotion: "reduce",
    })
    await page.goto(`${api.base}/api/v1/docs`)
    assert.strictEqual(page.url(), `${reference.base}/reference`)
    // From here on the page must need no request.
    await page.context().setOffline(true)
    const { scrolls, radius } = await page.evaluate(() => ({
      scrolls: document.documentElement.scrollWidth > innerWidth,
      radius: getComputedStyle(document.querySelector("section.op")!).borderTopLeftRadius,
    }))
    assert.deepStrictEqual({ scrolls, radius }, { scrolls: false, radius: "12px" })
    const links = await page.locator("nav a").count()
    assert.isAbove(links, 12)
    await page.locator("nav a").last().click()
    await page.waitForURL(/#schema-/)
    const reached = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement>("nav a")].map((link) => {
        link.click()
        return { to: link.hash, top: Math.round(document.querySelector(link.hash)!.getBoundingClientRect().top) }
      }),
    )
    assert.deepStrictEqual(
      reached.filter(({ top }) => top < 0 || top >= 800),
      [],
    )
    assert.deepStrictEqual([outside, complaints], [[], []])
  },
)

it("every response of the reference can be unfolded by keyboard, and stays within its card", async () => {
  const { page, outside, complaints } = await chromium.visit({ viewport: { width: 340, height: 800 } })
  await page.goto(`${reference.base}/reference`)
  const folded = page.locator("details:not([open]) > summary")
  const before = await folded.count()
  await folded.first().press("Enter")
  assert.strictEqual(await folded.count(), before - 1)
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)))
  assert.isFalse(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
  assert.deepStrictEqual([outside, complaints], [[], []])
})
