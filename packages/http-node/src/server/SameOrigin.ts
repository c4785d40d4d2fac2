/**
 * Whether a form that changes something was sent from a page of ours. Browsers say so in `Sec-Fetch-Site`, which no
 * page can set; older ones name the page's origin. A request with neither did not come from our page, and is refused.
 */
import type { Request } from "./Request.ts"

export const isSameOrigin = ({ headers, host }: Pick<Request, "headers" | "host">, baseUrl: string): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin"
  const origin = headers["origin"]
  if (origin === undefined || !URL.canParse(origin)) return false
  const { origin: own } = new URL(baseUrl)
  return origin === own || (host !== undefined && new URL(origin).host === host)
}
