/**
 * A request names one host. Node takes the first of two, while a proxy before us may have routed by the second; and to a
 * request without a host Node responds without an explanation.
 */
import type { IncomingMessage } from "node:http"
import type { Refusal } from "./BadRequest.ts"

/** The fault of a request's Host header, if any. */
export const hostHeaderRefusal = ({ rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && (name === "Host" || name === "host" || name.toLowerCase() === "host")) hosts++
  }
  if (hosts === 1 || (hosts === 0 && httpVersion !== "1.1")) return undefined
  return hosts === 0 ? NONE : SEVERAL
}

const NONE: Refusal = { status: 400, detail: "The header Host is missing." }
const SEVERAL: Refusal = { status: 400, detail: "The header Host is present more than once." }
