/** Holds the next response back, so that a test can act while a page waits for it. */
import type { Page } from "playwright-core"

export interface HeldResponse {
  readonly requested: Promise<void>
  readonly release: () => void
}

/** Of the next request for an address that matches. */
export const heldResponse = async (page: Page, address: RegExp): Promise<HeldResponse> => {
  const requested = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const hold = async (route: { readonly continue: () => Promise<void> }) => {
    requested.resolve()
    await released.promise
    await route.continue()
  }
  await page.route(address, hold, { times: 1 })
  return { requested: requested.promise, release: released.resolve }
}
