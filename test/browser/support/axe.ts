/** Runs axe-core in a page whose policy allows no foreign scripts: the driver evaluates it. */
import axe from "axe-core"
import type { Page } from "playwright-core"

/** The violations that axe finds on the page, one per line. */
export const axeComplaints = async (page: Page): Promise<ReadonlyArray<string>> => {
  // What is being loaded is dimmed; some of it is requested a moment after the page is shown.
  await page.waitForFunction(() => document.querySelector("[aria-busy=true], a[data-now]") === null)
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run()
    return violations.flatMap(({ id, nodes }: any) => nodes.map(({ html }: any) => `${id}: ${html.slice(0, 200)}`))
  })
}
