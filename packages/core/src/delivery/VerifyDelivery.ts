/**
 * For receivers: is this request from the cabinet that shares the secret with us? Needs nothing but Node. Verify the raw
 * bytes, before any JSON parser has seen them.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** How strictly the time of a delivery is taken. */
export interface VerifyOptions {
  /** How far `t` may be from now, to either side: a finite number that is not negative. Default 300. */
  readonly toleranceSeconds?: number
  /** The present, for tests. */
  readonly now?: Date
}

/** How many signatures of one header are looked at: two are ever sent, and a forger may not make us compute more. */
const MAX_SIGNATURES = 8

/** The seconds of now and of the tolerance; null where either is not what it must be: then no time is near enough. */
const window = (options: VerifyOptions | null): { readonly now: number; readonly tolerance: number } | null => {
  const tolerance: unknown = options?.toleranceSeconds ?? 300
  if (typeof tolerance !== "number" || !Number.isFinite(tolerance) || tolerance < 0) return null
  const now = options?.now ?? new Date()
  // A date of another realm is one too: test runners give those.
  const millis = Object.prototype.toString.call(now) === "[object Date]" ? Number(now) : Number.NaN
  return Number.isFinite(millis) ? { now: Math.floor(millis / 1000), tolerance } : null
}

/**
 * True when `header` (the value of `X-Service-Signature`) has a `v1` made with `secret` over these bytes, and its `t` is
 * recent. Never throws: whatever is missing or of another kind or form, a secret that is not set or options that make no
 * sense as well, is simply not true. Compares in constant time.
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
