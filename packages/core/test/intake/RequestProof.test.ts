/** Only the event of a person has a row: its proof is checked, and a provider that does not answer loses nothing. */
import { createHash } from "node:crypto"
import { SourceChanged } from "@data-cabinet/core/event/EventLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { altchaChallenge, CHALLENGE_SECONDS, CLOCK_SKEW_SECONDS } from "@data-cabinet/core/proof/AltchaProof"
import type { IntakeProof } from "@data-cabinet/core/proof/FormProof"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { assert, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { TestClock } from "effect/testing"
import { solvedAltcha } from "../proof/solvedAltcha.ts"
import { receive, request, store, text } from "./MemoryStore.ts"

const ALTCHA: IntakeProof = { kind: "altcha", siteKey: null, secret: "key" }
const TURNSTILE: IntakeProof = { kind: "turnstile", siteKey: "0x4", secret: "hush" }

const PROOF = solvedAltcha(altchaChallenge("key", 0, createHash("sha256").update("fixed").digest()))

const over = (proof: IntakeProof) => {
  const { state, layer } = store()
  state.source = { ...state.source!, proof }
  const send = (body: unknown) =>
    Effect.gen(function* () {
      yield* receive(yield* Intake, request(state.source!, { body: text(JSON.stringify(body)) }))
      const { events, proof: used } = state.appended.at(-1)!
      return {
        used: used !== undefined,
        events: events.map((event) => [event.text, event.spam ?? null, event.fingerprint !== null]),
      }
    })
  return { state, layer, send }
}

const spam = (texts: ReadonlyArray<string>, reason: string) => ({
  used: false,
  events: texts.map((one) => [one, reason, false]),
})

it.effect("a solved challenge stays out of its event, is passed on to be marked as used, and expires", () => {
  const { layer, send } = over(ALTCHA)
  return Effect.gen(function* () {
    const valid = { used: true, events: [['{"name":"Ada"}', null, true]] }
    assert.deepStrictEqual(yield* send({ name: "Ada", altcha: PROOF }), valid)
    assert.deepStrictEqual(yield* send([{ altcha: PROOF, name: "Ada" }]), valid)
    yield* TestClock.adjust(`${CHALLENGE_SECONDS + CLOCK_SKEW_SECONDS - 1} seconds`)
    assert.deepStrictEqual(yield* send({ name: "Ada", altcha: PROOF }), valid)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* send({ name: "Ada", altcha: PROOF }), spam(['{"name":"Ada"}'], "wrong_proof"))
  }).pipe(Effect.provide(layer))
})

it.effect("without exactly one event and a proof that is text, an event is spam", () => {
  const { layer, send, state } = over(ALTCHA)
  return Effect.gen(function* () {
    for (const none of [{}, { altcha: "" }, { altcha: null }]) {
      assert.deepStrictEqual(yield* send({ name: "Bot", ...none }), spam(['{"name":"Bot"}'], "no_proof"))
    }
    for (const altcha of [[PROOF], { proof: PROOF }, 1, true, "x", `${PROOF}=`.repeat(9), PROOF.slice(1)]) {
      assert.deepStrictEqual(yield* send({ name: "Bot", altcha }), spam(['{"name":"Bot"}'], "wrong_proof"))
    }
    const two = [
      { a: 1, altcha: PROOF },
      { a: 2, altcha: PROOF },
    ]
    assert.deepStrictEqual(yield* send(two), spam(['{"a":1}', '{"a":2}'], "no_proof"))
    state.source = { ...state.source!, proof: { ...ALTCHA, secret: null } }
    assert.deepStrictEqual(yield* send({ a: 1, altcha: PROOF }), spam(['{"a":1}'], "unchecked_proof"))
    state.source = { ...state.source, proof: ALTCHA, spam: { honeypot: "site", allowOrigins: [] } }
    assert.deepStrictEqual(yield* send({ site: "x", altcha: PROOF }), spam(['{"site":"x"}'], "honeypot"))
  }).pipe(Effect.provide(layer))
})

it.effect("a proof that the store refuses as used makes spam; a source that changed meanwhile does not", () => {
  const { layer, send, state } = over(ALTCHA)
  return Effect.gen(function* () {
    state.onAppend = () => {
      state.onAppend = () => undefined
      state.source = { ...state.source!, version: 2 }
      return new SourceChanged({ sourceId: 7 })
    }
    assert.deepStrictEqual(yield* send({ a: 1, altcha: PROOF }), { used: true, events: [['{"a":1}', null, true]] })
    state.onAppend = () => {
      state.onAppend = () => undefined
      return new SourceChanged({ sourceId: 7 })
    }
    assert.deepStrictEqual(yield* send({ a: 1, altcha: PROOF }), spam(['{"a":1}'], "used_proof"))
  }).pipe(Effect.provide(layer))
})

it.effect("a provider checks a token once for a request, and what it does not answer is spam", () => {
  const { layer, send, state } = over(TURNSTILE)
  return Effect.gen(function* () {
    const body = { a: 1, "cf-turnstile-response": "token", "g-recaptcha-response": "token" }
    state.onAppend = () => {
      state.onAppend = () => undefined
      state.source = { ...state.source!, version: 2 }
      return new SourceChanged({ sourceId: 7 })
    }
    assert.deepStrictEqual(yield* send(body), { used: false, events: [['{"a":1}', null, true]] })
    assert.deepStrictEqual(state.tokens, [{ kind: "turnstile", siteKey: "0x4", secret: "hush", token: "token" }])
    for (const [answer, reason] of [
      ["wrong", "wrong_proof"],
      ["unchecked", "unchecked_proof"],
    ] as const) {
      state.answer = Effect.succeed(answer)
      assert.deepStrictEqual(yield* send(body), spam(['{"a":1}'], reason))
    }
    const checked = state.tokens.length
    yield* send({ a: 1 })
    yield* send([body, body])
    yield* send({ ...body, "cf-turnstile-response": "x".repeat(8_193) })
    assert.strictEqual(state.tokens.length, checked)
  }).pipe(Effect.provide(layer))
})

it.effect("Intake.formChallenge needs neither store nor rates for a cached source, and gives others none", () => {
  const { layer, state } = over(ALTCHA)
  return Effect.gen(function* () {
    const intake = yield* Intake
    const challenge = fromResult(() =>
      intake.formChallenge("right", "192.0.2.7", { deadline: Number.POSITIVE_INFINITY, context: Context.empty() }),
    )
    state.cached = state.source
    assert.isNotNull(yield* challenge)
    assert.deepStrictEqual(state.asked, [])
    state.cached = { ...state.source!, proof: TURNSTILE }
    assert.isNotNull(yield* challenge)
    assert.include(state.asked, "source")
    state.source = { ...state.source!, proof: TURNSTILE }
    assert.isNull(yield* challenge)
  }).pipe(Effect.provide(layer))
})
