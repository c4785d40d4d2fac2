/** This browser detects what it must detect; otherwise every "nothing was requested elsewhere" would be worthless. */
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type Site, startSite } from "./support/site.ts"

let chromium: Chromium
let site: Site
beforeAll(async () => {
  chromium = await startChromium()
  site = await startSite()
})
afterAll(async () => {
  await chromium.close()
  await site.close()
})

it("a page's requests to other hosts are counted and refused, by name and by IP address", async () => {
  const { page, outside } = await chromium.visit()
  const addresses = ["http://elsewhere.example/a.png", "http://192.0.2.1/b.png", "http://localhost:9/c.png"]
  await page.goto(site.put("/", addresses.map((address) => `<img src="${address}">`).join("")))
  const loaded = await page.evaluate(() => [...document.images].map(({ naturalWidth }) => naturalWidth))
  assert.deepStrictEqual([outside.toSorted(), loaded], [addresses.toSorted(), [0, 0, 0]])
})

it("a violation of the content security policy is reported", async () => {
  const { page, complaints } = await chromium.visit()
  const policy = { "content-security-policy": "default-src 'none'" }
  await page.goto(site.put("/strict", `<style>body { color: red }</style>`, policy))
  await expect.poll(() => complaints.join("\n")).toMatch(/the policy forbids style-src-elem inline/)
})
