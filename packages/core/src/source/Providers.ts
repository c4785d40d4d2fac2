/**
 * Well-known senders by name, with the settings by which a source keeps all information in their requests. GitHub, for
 * example, names the type of an event only in a header.
 */
import type { SourceSettings } from "./SourceSettings.ts"
import type { HmacChange } from "../verification/Recipe.ts"
import type { RecipeName } from "../verification/Recipes.ts"
import type { VerificationChange } from "../verification/Verification.ts"

interface Provider {
  /** The provider's own spelling of its name. */
  readonly title: string
  readonly recipe: RecipeName
  /** Only for the recipe `hmac`. */
  readonly hmac?: HmacChange
  /** Headers with information that the body lacks. */
  readonly headerFields: ReadonlyArray<string>
  /** Headers that a later verification, or a person, needs. */
  readonly keepHeaders: ReadonlyArray<string>
  /** The beginning of its requests' `User-Agent`; null if it has no typical one. */
  readonly agent: string | null
}

export const PROVIDERS = {
  github: {
    title: "GitHub",
    recipe: "github",
    headerFields: ["X-GitHub-Event"],
    keepHeaders: ["X-GitHub-*", "X-Hub-Signature-256"],
    agent: "GitHub-Hookshot/",
  },
  gitlab: {
    title: "GitLab",
    recipe: "gitlab",
    headerFields: ["X-Gitlab-Event"],
    keepHeaders: ["X-Gitlab-*"],
    agent: "GitLab/",
  },
  bitbucket: {
    title: "Bitbucket",
    recipe: "hmac",
    hmac: { header: "X-Hub-Signature", prefix: "sha256=" },
    headerFields: ["X-Event-Key"],
    keepHeaders: ["X-Hub-Signature", "X-Hook-UUID", "X-Request-UUID"],
    agent: "Bitbucket-Webhooks/",
  },
  stripe: {
    title: "Stripe",
    recipe: "stripe",
    headerFields: [],
    keepHeaders: ["Stripe-Signature"],
    agent: "Stripe/",
  },
  shopify: {
    title: "Shopify",
    recipe: "shopify",
    headerFields: ["X-Shopify-Topic", "X-Shopify-Shop-Domain"],
    keepHeaders: ["X-Shopify-*"],
    agent: "Shopify-Captain-Hook",
  },
  woocommerce: {
    title: "WooCommerce",
    recipe: "woocommerce",
    headerFields: ["X-WC-Webhook-Topic"],
    keepHeaders: ["X-WC-Webhook-*"],
    agent: "WooCommerce/",
  },
  slack: { title: "Slack", recipe: "slack", headerFields: [], keepHeaders: ["X-Slack-*"], agent: "Slackbot" },
  twilio: {
    title: "Twilio",
    recipe: "twilio",
    headerFields: [],
    keepHeaders: ["X-Twilio-Signature"],
    agent: "TwilioProxy/",
  },
  paddle: { title: "Paddle", recipe: "paddle", headerFields: [], keepHeaders: ["Paddle-Signature"], agent: "Paddle/" },
  square: { title: "Square", recipe: "square", headerFields: [], keepHeaders: ["X-Square-*"], agent: "Square Connect" },
  zoom: { title: "Zoom", recipe: "zoom", headerFields: [], keepHeaders: ["X-ZM-*"], agent: "Zoom Marketplace/" },
  mailgun: { title: "Mailgun", recipe: "mailgun", headerFields: [], keepHeaders: [], agent: null },
  linear: {
    title: "Linear",
    recipe: "hmac",
    hmac: { header: "Linear-Signature" },
    headerFields: ["Linear-Event"],
    keepHeaders: ["Linear-*"],
    agent: "Linear-Webhook",
  },
  typeform: {
    title: "Typeform",
    recipe: "hmac",
    hmac: { header: "Typeform-Signature", encoding: "base64", prefix: "sha256=" },
    headerFields: [],
    keepHeaders: ["Typeform-Signature"],
    agent: "Typeform Webhooks",
  },
  sentry: {
    title: "Sentry",
    recipe: "hmac",
    hmac: { header: "Sentry-Hook-Signature" },
    headerFields: ["Sentry-Hook-Resource"],
    keepHeaders: ["Sentry-Hook-*"],
    agent: null,
  },
  sns: {
    title: "Amazon SNS",
    recipe: "sns",
    headerFields: [],
    keepHeaders: ["X-Amz-Sns-*"],
    agent: "Amazon Simple Notification Service Agent",
  },
  svix: {
    title: "Svix",
    recipe: "svix",
    headerFields: [],
    keepHeaders: ["Svix-*", "Webhook-*"],
    agent: "Svix-Webhooks/",
  },
} as const satisfies Readonly<Record<string, Provider>>

/** The name of a well-known sender. */
export type ProviderName = keyof typeof PROVIDERS

/** The names of all well-known senders. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ReadonlyArray<ProviderName>

/** The settings for this sender. */
export const providerNamed = (name: ProviderName): Provider => PROVIDERS[name]

type Kept = Pick<SourceSettings, "keepHeaders" | "headerFields">

/** Both lists, each header once whatever its letter case. */
const union = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set(left.map((name) => name.toLowerCase()))
  return [...left, ...right.filter((name) => !seen.has(name.toLowerCase()))]
}

/** The headers that the source already keeps, and those of the provider. */
const withHeaders = (name: ProviderName, kept: Kept): Kept => ({
  keepHeaders: union(kept.keepHeaders, providerNamed(name).keepHeaders),
  headerFields: union(kept.headerFields, providerNamed(name).headerFields),
})

const withRecipe = (name: ProviderName, change: VerificationChange): VerificationChange => {
  if (change.recipe !== undefined) return change
  const { recipe, hmac } = providerNamed(name)
  return { ...change, recipe, ...(hmac === undefined ? {} : { hmac: { ...hmac, ...change.hmac } }) }
}

interface FromProvider extends Partial<Kept> {
  readonly from?: ProviderName
  readonly verify?: VerificationChange | null
}

/**
 * Replaces `from` by its settings: headers in addition to those in `kept`, and the recipe if a secret is given without
 * one. Without a secret nothing is verified.
 */
export const settingsFrom = <C extends FromProvider>({ from, ...change }: C, kept: Kept): Omit<C, "from"> => {
  if (from === undefined) return change
  const { keepHeaders = kept.keepHeaders, headerFields = kept.headerFields, verify } = change
  return {
    ...change,
    ...withHeaders(from, { keepHeaders, headerFields }),
    ...(verify == null ? {} : { verify: withRecipe(from, verify) }),
  }
}

/** The provider whose requests have this `User-Agent`; null if unknown. */
export const providerOf = (userAgent: string): ProviderName | null =>
  PROVIDER_NAMES.find((name) => {
    const { agent } = providerNamed(name)
    return agent !== null && userAgent.startsWith(agent)
  }) ?? null

/** Whether the source drops a header of this provider that belongs to the event. */
export const lacksFieldsOf = (name: ProviderName, kept: Kept): boolean =>
  withHeaders(name, kept).headerFields.length > kept.headerFields.length
