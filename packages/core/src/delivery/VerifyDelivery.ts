/**
 * For receivers: verifies that a request came from the cabinet that shares the secret. Depends only on Node. Verify the raw
 * bytes, before a JSON parser has processed them.
 *
 * Decision: docs/decisions/0029-verify-delivery-is-false-for-nonsense.md
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** How strictly the time of a delivery is checked. */
export interface VerifyOptions {
  /** How far `t` may be from now, in either direction: a finite number that is not negative. Default 300. */
  readonly toleranceSeconds?: number
  /** The current time, for tests. */
  readonly now?: Date
}

/**
 * The maximum number of signatures that are checked in one header: at most two are ever sent, and a forged header must not
 * cause more work.
 */
const MAX_SIGNATURES = 8

/** The current time and the tolerance in seconds; null if either is invalid, so that no time is accepted. */
const window = (options: VerifyOptions | null): { readonly now: number; readonly tolerance: number } | null => {
  const tolerance: unknown = options?.toleranceSeconds ?? 300
  if (typeof tolerance !== "number" || !Number.isFinite(tolerance) || tolerance < 0) return null
  const now = options?.now ?? new Date()
  // A Date of another realm is valid too: test runners pass those.
  const millis = Object.prototype.toString.call(now) === "[object Date]" ? Number(now) : Number.NaN
  return Number.isFinite(millis) ? { now: Math.floor(millis / 1000), tolerance } : null
}

/**
 * Returns true if `header` (the value of `X-Service-Signature`) has a `v1` that was created with `secret` over these bytes,
 * and its `t` is recent. Never throws: anything missing, of the wrong type or malformed gives false, including a secret that
 * is not set and invalid options. Compares in constant time.
 *
 * @example
 * if (!verifyDelivery(rawBody, request.headers["x-service-signature"], secret)) return response.writeHead(401).end()
 */
export const verifyDelivery = (
  rawBody: Uint8Array | string | null | undefined,
  header: string | ReadonlyArray<string> | null | undefined,
  secret: string | null | undefined,
  options: VerifyOptions | null = {},
): boolean => {
  if (typeof header !== "string" || typeof secret !== "string" || secret === "") return false
  if (typeof rawBody !== "string" && !ArrayBuffer.isView(rawBody)) return false
  const fields = header.split(",").map((part) => part.trim())
  const t = fields.find((field) => field.startsWith("t="))?.slice(2)
  if (t === undefined || !/^[0-9]{1,12}$/.test(t)) return false
  const times = window(options)
  if (times === null || !(Math.abs(times.now - Number(t)) <= times.tolerance)) return false
  const expected = createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest()
  let found = false
  for (const field of fields.filter((text) => text.startsWith("v1=")).slice(0, MAX_SIGNATURES)) {
    const hex = field.slice(3)
    if (!/^[0-9a-f]{64}$/.test(hex)) continue
    if (timingSafeEqual(Buffer.from(hex, "hex"), expected)) found = true
  }
  return found
}
