/**
 * The signature of a delivery: `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<t>.` and the raw body, keyed
 * with the signing secret. While a secret is being rotated there are two `v1`, newest first.
 */
import { createHmac } from "node:crypto"

/** The header value for exactly these bytes. `t` is in whole seconds. */
export const signDelivery = (body: Uint8Array, secrets: ReadonlyArray<string>, t: number): string => {
  const parts = secrets.map((secret) => `v1=${createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex")}`)
  return [`t=${t}`, ...parts].join(",")
}
