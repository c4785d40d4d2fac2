/**
 * For receivers: is this request from the cabinet that shares the secret with us? Needs nothing but Node. Verify the raw
 * bytes, before any JSON parser has seen them.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** How strictly the time of a delivery is taken. */
export interface VerifyOptions {
  /** How far `t` may be from now, to either side. Default 300. */
  readonly toleranceSeconds?: number
  /** The present, for tests. */
  readonly now?: Date
}

/** How many signatures of one header are looked at: two are ever sent, and a forger may not make us compute more. */
const MAX_SIGNATURES = 8

/**
 * True when `header` (the value of `X-Service-Signature`) has a `v1` made with `secret` over these bytes, and its `t` is
 * recent. Never throws; a header of another form is simply not true. Compares in constant time.
 *
 * @example
 * if (!verifyDelivery(rawBody, request.headers["x-service-signature"] ?? "", secret)) return response.writeHead(401).end()
 */
export const verifyDelivery = (
  rawBody: Uint8Array | string,
  header: string | null | undefined,
  secret: string,
  options: VerifyOptions = {},
): boolean => {
  if (typeof header !== "string" || secret === "") return false
  const fields = header.split(",").map((part) => part.trim())
  const t = fields.find((field) => field.startsWith("t="))?.slice(2)
  if (t === undefined || !/^[0-9]{1,12}$/.test(t)) return false
  const now = Math.floor((options.now ?? new Date()).getTime() / 1000)
  if (Math.abs(now - Number(t)) > (options.toleranceSeconds ?? 300)) return false
  const expected = createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest()
  let found = false
  for (const field of fields.filter((text) => text.startsWith("v1=")).slice(0, MAX_SIGNATURES)) {
    const hex = field.slice(3)
    if (!/^[0-9a-f]{64}$/.test(hex)) continue
    if (timingSafeEqual(Buffer.from(hex, "hex"), expected)) found = true
  }
  return found
}
