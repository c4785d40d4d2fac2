/** The question before an act that cannot be undone, in Chromium: with the keyboard, without JavaScript, and as assistive technology sees it. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 3)
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

it.each([true, false])(
  "a key is revoked with the keyboard, after a question that names it (JavaScript: %s)",
  async (javaScriptEnabled) => {
    const { id, name } = await cabinet.cabinet.keys.create({ name: `Warehouse, script ${javaScriptEnabled}` })
    const extraHTTPHeaders = { ...(await cabinet.as("owner")) }
    const { page, complaints } = await chromium.visit({ javaScriptEnabled, extraHTTPHeaders, locale: "en-US" })
    await page.goto(`${cabinet.base}/console/integrations`)
    const row = page.locator("tr", { hasText: name })
    const button = row.getByRole("button", { name: "Revoke…" })
    const question = page.locator(`#revoke-key-${id}`)
    assert.isFalse(await question.isVisible())
    await button.focus()
    await page.keyboard.press("Enter")
    assert.isTrue(await question.isVisible())
    // Its accessible name is the sentence, which a screen reader announces when it gets the focus.
    const dialog = page.getByRole("dialog", { name: `with the key “${name}”` })
    assert.isTrue(await dialog.isVisible())
    assert.strictEqual(await page.locator(":focus").getAttribute("id"), `revoke-key-${id}`)
    assert.deepStrictEqual(javaScriptEnabled ? await axeComplaints(page) : [], [])
    await page.keyboard.press("Escape")
    assert.isFalse(await question.isVisible())
    assert.isTrue(await button.evaluate((one) => one === one.ownerDocument.activeElement))
    assert.isNull((await cabinet.cabinet.keys.list()).find((one) => one.id === id)!.revokedAt)
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert.strictEqual(await page.locator(":focus").textContent(), "Revoke the key")
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
    assert.include(await page.locator("main").textContent(), "The key is revoked.")
    assert.isNotNull((await cabinet.cabinet.keys.list()).find((one) => one.id === id)!.revokedAt)
    assert.deepStrictEqual(complaints, [])
  },
)
