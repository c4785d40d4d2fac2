/**
 * The signatures of a delivery. The contract's own is `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of
 * `<t>.` and the raw body, keyed with the whole signing secret. Deliveries also carry the signature of Standard
 * Webhooks, so that its libraries verify them. While a secret is being rotated each has two, newest first.
 */
import { createHmac } from "node:crypto"
import { binaryKey } from "../verification/HmacKey.ts"
import { USER_AGENT } from "./Courier.ts"

/** The header value for exactly these bytes. `t` is in whole seconds. */
export const signDelivery = (body: Uint8Array, secrets: ReadonlyArray<string>, t: number): string => {
  const parts = secrets.map((secret) => `v1=${createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex")}`)
  return [`t=${t}`, ...parts].join(",")
}

/** The three headers of Standard Webhooks: the key is the decoded base64 after `whsec_`. */
export const standardHeaders = (id: number | string, body: Uint8Array, secrets: ReadonlyArray<string>, t: number) => {
  const signatures = secrets.map((secret) => {
    const signed = createHmac("sha256", binaryKey(secret)).update(`${id}.${t}.`).update(body)
    return `v1,${signed.digest("base64")}`
  })
  return { "webhook-id": String(id), "webhook-timestamp": String(t), "webhook-signature": signatures.join(" ") }
}

interface Signed {
  /** Repeats of one message have the same. */
  readonly id: string
  readonly subscription: string
  readonly secrets: ReadonlyArray<string>
  readonly body: Uint8Array
  /** The time of the request. */
  readonly seconds: number
}

/** The headers of a request to an agent's subscription: those of Standard Webhooks, and the subscription's number. */
export const agentHeaders = ({
  id,
  subscription,
  secrets,
  body,
  seconds,
}: Signed): Readonly<Record<string, string>> => ({
  "Content-Type": "application/json",
  "User-Agent": USER_AGENT,
  "X-MCP-Subscription-Id": subscription,
  ...standardHeaders(id, body, secrets, seconds),
})
