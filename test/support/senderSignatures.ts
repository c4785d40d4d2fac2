/** Signs bodies as each sender does, by its documentation and without our recipes. */
import { createHash, createHmac } from "node:crypto"
import type { RecipeName } from "@data-cabinet/core/verification/Recipes"

export interface Signing {
  readonly secret: string
  readonly body: Uint8Array
  /** In seconds since 1970. */
  readonly time: number
  /** The public URL. */
  readonly url: string
}

export interface SignedHeaders {
  readonly headers: Readonly<Record<string, string>>
  /** What the sender appends to the URL. */
  readonly query?: string
}

interface Signer {
  readonly sign: (signing: Signing) => SignedHeaders
  readonly secrets: readonly [ours: string, another: string]
  /** Whether the signature covers the body, and a time. */
  readonly signs: { readonly body: boolean; readonly time: boolean }
}

type Encoding = "hex" | "base64"

export const mac = (
  algorithm: string,
  key: string | Buffer,
  parts: ReadonlyArray<string | Uint8Array>,
  as: Encoding,
) => {
  const digest = createHmac(algorithm, key)
  for (const part of parts) digest.update(part)
  return digest.digest(as)
}

const standard = (family: string): Signer => ({
  sign: ({ secret, body, time }) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64")
    return {
      headers: {
        [`${family}-id`]: "msg_1",
        [`${family}-timestamp`]: String(time),
        [`${family}-signature`]: `v1,${mac("sha256", key, [`msg_1.${time}.`, body], "base64")}`,
      },
    }
  },
  secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_plJ3nmyCDGBKInavdOK15jsl"],
  signs: { body: true, time: true },
})

const v0 = (signature: string, timestamp: string): Signer => ({
  sign: ({ secret, body, time }) => ({
    headers: {
      [timestamp]: String(time),
      [signature]: `v0=${mac("sha256", secret, [`v0:${time}:`, body], "hex")}`,
    },
  }),
  secrets: ["hush", "hush-hush"],
  signs: { body: true, time: true },
})

const shown = (
  headers: (secret: string) => Readonly<Record<string, string>>,
  ours = "hush",
  another = "hush-hush",
): Signer => ({
  sign: ({ secret }) => ({ headers: headers(secret) }),
  secrets: [ours, another],
  signs: { body: false, time: false },
})

const signer = (time: boolean, sign: Signer["sign"]): Signer => ({
  sign,
  secrets: ["hush", "hush-hush"],
  signs: { body: true, time },
})

/** The recipes whose signature or secret is outside the body. */
export type SignedOutside = Exclude<RecipeName, "mailgun" | "sns">

export const SIGNERS: Readonly<Record<SignedOutside, Signer>> = {
  stripe: signer(true, ({ secret, body, time }) => ({
    headers: {
      "stripe-signature": `t=${time},v1=${mac("sha256", secret, [`${time}.`, body], "hex")},v0=${"0".repeat(64)}`,
    },
  })),
  github: signer(false, ({ secret, body }) => ({
    headers: { "x-hub-signature-256": `sha256=${mac("sha256", secret, [body], "hex")}` },
  })),
  shopify: signer(false, ({ secret, body }) => ({
    headers: { "x-shopify-hmac-sha256": mac("sha256", secret, [body], "base64") },
  })),
  woocommerce: signer(false, ({ secret, body }) => ({
    headers: { "x-wc-webhook-signature": mac("sha256", secret, [body], "base64") },
  })),
  slack: v0("x-slack-signature", "x-slack-request-timestamp"),
  zoom: v0("x-zm-signature", "x-zm-request-timestamp"),
  "standard-webhooks": standard("webhook"),
  svix: standard("svix"),
  paddle: signer(true, ({ secret, body, time }) => ({
    headers: { "paddle-signature": `ts=${time};h1=${mac("sha256", secret, [`${time}:`, body], "hex")}` },
  })),
  square: signer(false, ({ secret, body, url }) => ({
    headers: { "x-square-hmacsha256-signature": mac("sha256", secret, [url, body], "base64") },
  })),
  // For a body other than a form, the hash is in the URL.
  twilio: signer(false, ({ secret, body, url }) => {
    const query = `bodySHA256=${createHash("sha256").update(body).digest("hex")}`
    return { query, headers: { "x-twilio-signature": mac("sha1", secret, [`${url}?${query}`], "base64") } }
  }),
  hmac: signer(true, ({ secret, body, time }) => ({
    headers: { "x-sig": `v=${mac("sha512", secret, [`${time}.`, body], "base64")}`, "x-time": String(time) },
  })),
  token: shown((secret) => ({ "x-token": secret })),
  gitlab: shown((secret) => ({ "x-gitlab-token": secret })),
  bearer: shown((secret) => ({ authorization: `Bearer ${secret}` })),
  basic: shown(
    (secret) => ({ authorization: `Basic ${Buffer.from(secret).toString("base64")}` }),
    "ada:hush",
    "ada:hush-hush",
  ),
}
