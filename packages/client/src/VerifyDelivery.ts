/** For receivers: verifies that a request came from the cabinet that shares the secret. Verify the raw bytes. */

/** How strictly the time of a delivery is checked. */
export interface VerifyOptions {
  /** How far `t` may be from now, in either direction: a finite number that is not negative. Default 300. */
  readonly toleranceSeconds?: number
  /** The current time, for tests. */
  readonly now?: Date
}

/** At most two are ever sent, and a forged header must not cause more work. */
const MAX_SIGNATURES = 8

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const signedBytes = (t: string, body: Uint8Array): Uint8Array<ArrayBuffer> => {
  const head = new TextEncoder().encode(`${t}.`)
  const all = new Uint8Array(head.length + body.length)
  all.set(head)
  all.set(body, head.length)
  return all
}

/**
 * Resolves to true if `header` (the value of `X-Service-Signature`) has a `v1` that was created with `secret` over these
 * bytes, and its `t` is recent. Never rejects: anything missing, of the wrong type or malformed gives false.
 */
export const verifyDelivery = async (
  rawBody: Uint8Array | ArrayBuffer | string | null | undefined,
  header: string | null | undefined,
  secret: string | null | undefined,
  options: VerifyOptions = {},
): Promise<boolean> => {
  if (typeof header !== "string" || typeof secret !== "string" || secret === "" || rawBody == null) return false
  const fields = header.split(",").map((part) => part.trim())
  const t = fields.find((field) => field.startsWith("t="))?.slice(2) ?? ""
  const tolerance = options.toleranceSeconds ?? 300
  const now = Math.floor(Number(options.now ?? new Date()) / 1000)
  if (!/^[0-9]{1,12}$/.test(t) || !(Number.isFinite(tolerance) && tolerance >= 0)) return false
  if (!(Math.abs(now - Number(t)) <= tolerance)) return false
  try {
    const encoder = new TextEncoder()
    const body = typeof rawBody === "string" ? encoder.encode(rawBody) : new Uint8Array(rawBody)
    const algorithm = { name: "HMAC", hash: "SHA-256" }
    const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"])
    const signed = signedBytes(t, body)
    let found = false
    for (const field of fields.filter((text) => text.startsWith("v1=")).slice(0, MAX_SIGNATURES)) {
      const hex = field.slice(3)
      // In constant time: the platform compares.
      if (/^[0-9a-f]{64}$/.test(hex) && (await crypto.subtle.verify("HMAC", key, bytesOf(hex), signed))) found = true
    }
    return found
  } catch {
    return false
  }
}
