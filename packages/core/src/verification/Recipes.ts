/** The recipes of senders that publish how they sign, and the generic ones, which settings describe. */
import type { HmacRecipe, Place, PlainRecipe, Recipe } from "./Recipe.ts"

const FIVE_MINUTES = 300

const hmac = (recipe: Omit<HmacRecipe, "kind" | "algorithm" | "secret"> & Partial<HmacRecipe>): HmacRecipe => ({
  kind: "hmac",
  algorithm: "sha256",
  secret: "text",
  ...recipe,
})

const plain = (header: string, form: PlainRecipe["form"]): PlainRecipe => ({ kind: "plain", at: { header }, form })

/** `v0:<timestamp>:<body>`, as Slack and Zoom sign. */
const v0 = (signature: string, timestamp: string): HmacRecipe =>
  hmac({
    signed: [{ text: "v0:" }, "timestamp", { text: ":" }, "body"],
    signature: { headers: [signature], encoding: "hex", separator: null, prefix: "v0=" },
    timestamp: { headers: [timestamp], toleranceSeconds: FIVE_MINUTES },
  })

/** Standard Webhooks, under one or more families of header names. */
const standard = (...families: ReadonlyArray<string>): HmacRecipe => {
  const named = (name: string) => families.map((family) => `${family}-${name}`)
  return hmac({
    secret: "whsec",
    signed: ["id", { text: "." }, "timestamp", { text: "." }, "body"],
    signature: { headers: named("signature"), encoding: "base64", separator: " ", prefix: "v1," },
    timestamp: { headers: named("timestamp"), toleranceSeconds: FIVE_MINUTES },
    id: { headers: named("id") },
  })
}

export const RECIPES = {
  stripe: hmac({
    signed: ["timestamp", { text: "." }, "body"],
    signature: { headers: ["stripe-signature"], encoding: "hex", separator: ",", prefix: "v1=" },
    timestamp: { prefix: "t=", toleranceSeconds: FIVE_MINUTES },
  }),
  github: hmac({
    signed: ["body"],
    signature: { headers: ["x-hub-signature-256"], encoding: "hex", separator: null, prefix: "sha256=" },
  }),
  shopify: hmac({
    signed: ["body"],
    signature: { headers: ["x-shopify-hmac-sha256"], encoding: "base64", separator: null, prefix: "" },
  }),
  woocommerce: hmac({
    signed: ["body"],
    signature: { headers: ["x-wc-webhook-signature"], encoding: "base64", separator: null, prefix: "" },
  }),
  slack: v0("x-slack-signature", "x-slack-request-timestamp"),
  "standard-webhooks": standard("webhook"),
  svix: standard("svix", "webhook"),
  gitlab: plain("x-gitlab-token", "value"),
  twilio: hmac({
    algorithm: "sha1",
    signed: ["url_with_parameters"],
    signature: { headers: ["x-twilio-signature"], encoding: "base64", separator: null, prefix: "" },
  }),
  // Its own libraries accept 5 seconds, which a request delayed by a failover, or a slightly wrong clock, exceeds. A
  // longer time lets a copy through only within the repeat window, where a copy is a repeat.
  paddle: hmac({
    signed: ["timestamp", { text: ":" }, "body"],
    signature: { headers: ["paddle-signature"], encoding: "hex", separator: ";", prefix: "h1=" },
    timestamp: { prefix: "ts=", toleranceSeconds: FIVE_MINUTES },
  }),
  square: hmac({
    signed: ["url", "body"],
    signature: { headers: ["x-square-hmacsha256-signature"], encoding: "base64", separator: null, prefix: "" },
  }),
  zoom: v0("x-zm-signature", "x-zm-request-timestamp"),
  // It signs no more than a time and a random text, and repeats a request for eight hours.
  mailgun: hmac({
    signed: ["timestamp", { fields: ["signature.token", "token"] }],
    signature: {
      headers: [],
      fields: ["signature.signature", "signature"],
      encoding: "hex",
      separator: null,
      prefix: "",
    },
    timestamp: { fields: ["signature.timestamp", "timestamp"], toleranceSeconds: 12 * 3600 },
  }),
  basic: plain("authorization", "basic"),
  bearer: plain("authorization", "bearer"),
} as const satisfies Readonly<Record<string, Recipe>>

/** The first two are described by the settings of a source; `sns` needs certificates of Amazon. */
type OtherRecipe = "hmac" | "token" | "sns"

/** The name of a recipe. */
export type RecipeName = keyof typeof RECIPES | OtherRecipe

/** The recipes that need no settings but a secret. */
export type KnownRecipe = keyof typeof RECIPES

/** The names of all recipes. */
export const RECIPE_NAMES: ReadonlyArray<RecipeName> = [
  ...(Object.keys(RECIPES) as Array<keyof typeof RECIPES>),
  "hmac",
  "token",
  "sns",
]

/** True for a recipe that needs no parameters. */
export const isKnown = (name: RecipeName): name is KnownRecipe => Object.hasOwn(RECIPES, name)

/** Whether the sender signs the public address, which must then match the address that it uses. */
export const signsAddress = (recipe: Recipe): boolean =>
  recipe.kind === "hmac" && (recipe.signed.includes("url") || recipe.signed.includes("url_with_parameters"))

/** The recipes whose senders always sign it. */
export const ADDRESS_RECIPES: ReadonlyArray<RecipeName> = RECIPE_NAMES.filter(
  (name) => isKnown(name) && signsAddress(RECIPES[name]),
)

/** A secret at a place that the source names. */
export const tokenRecipe = ({ header, ...place }: Place): PlainRecipe => ({
  kind: "plain",
  at: header === undefined ? place : { header: header.toLowerCase() },
  form: "value",
})
