import { Effect } from "effect"
import { expect, it } from "@effect/vitest"
import { DEFAULT_SETTINGS } from "../../src/source/SourceSettings.ts"
import { checkSettings } from "../../src/source/Sources.ts"
import { changedVerification } from "../../src/source/ChangeVerification.ts"
import { lacksFieldsOf, PROVIDER_NAMES, providerNamed, providerOf, settingsFrom } from "../../src/source/Providers.ts"
import { RECIPE_NAMES } from "../../src/verification/Recipes.ts"

it.each(PROVIDER_NAMES)("settingsFrom returns settings that a source accepts, for %s", (from) => {
  const topic = "arn:aws:sns:eu-central-1:123456789012:orders"
  const secret = providerNamed(from).recipe === "sns" ? topic : "whsec_c2VjcmV0c2VjcmV0"
  const { verify, ...settings } = settingsFrom({ from, verify: { secret } }, DEFAULT_SETTINGS)
  Effect.runSync(checkSettings(settings))
  expect(Effect.runSync(changedVerification(null, verify!)).recipe).toBe(providerNamed(from).recipe)
  expect(lacksFieldsOf(from, { ...DEFAULT_SETTINGS, ...settings })).toBe(false)
})

it("settingsFrom adds the headers of a provider to those already kept", () => {
  const kept = { keepHeaders: ["X-Trace"], headerFields: ["x-github-event", "X-Shop"] }
  expect(settingsFrom({ from: "github" as const }, kept)).toEqual({
    keepHeaders: ["X-Trace", "X-GitHub-*", "X-Hub-Signature-256"],
    headerFields: ["x-github-event", "X-Shop"],
  })
})

it("settingsFrom keeps headers and a recipe given along with the provider", () => {
  const change = { from: "stripe" as const, keepHeaders: ["X-Own"], verify: { recipe: "hmac" as const, secret: "s" } }
  expect(settingsFrom(change, DEFAULT_SETTINGS)).toEqual({
    keepHeaders: ["X-Own", "Stripe-Signature"],
    headerFields: [],
    verify: { recipe: "hmac", secret: "s" },
  })
})

it("settingsFrom changes nothing without a provider", () => {
  expect(settingsFrom({ keepHeaders: ["X-Own"] }, DEFAULT_SETTINGS)).toEqual({ keepHeaders: ["X-Own"] })
})

it.each([
  ["GitHub-Hookshot/044aadd", "github"],
  ["Shopify-Captain-Hook", "shopify"],
  ["Bitbucket-Webhooks/2.0", "bitbucket"],
  ["Amazon Simple Notification Service Agent", "sns"],
  ["curl/8.5.0", null],
  ["Not GitHub-Hookshot/1", null],
])("providerOf reads %s as %s", (agent, provider) => {
  expect(providerOf(agent)).toBe(provider)
})

it("every recipe of a named service belongs to a well-known sender", () => {
  const generic = ["hmac", "token", "bearer", "basic", "standard-webhooks"]
  const used = new Set(PROVIDER_NAMES.map((name) => providerNamed(name).recipe))
  expect(RECIPE_NAMES.filter((name) => !used.has(name) && !generic.includes(name))).toEqual([])
})
