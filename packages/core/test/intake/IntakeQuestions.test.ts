/** A provider's challenge of an address is answered, and is not an event. */
import { createHmac } from "node:crypto"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import type { IntakeSource } from "@data-cabinet/core/source/Source"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { receive, request, store, text } from "./MemoryStore.ts"

const ask = (intake: Intake["Service"], query: string, secret = "right") =>
  fromResult(() =>
    intake.answerChallenge({
      secret,
      ip: "192.0.2.7",
      query,
      deadline: Number.POSITIVE_INFINITY,
      context: Context.empty(),
    }),
  )

const QUESTION = "hub.mode=subscribe&hub.verify_token=hush&hub.challenge=77"

describe("Intake.ask", () => {
  it.effect("answers only a caller with the source's token", () => {
    const { state, layer } = store()
    state.source = { ...state.source!, challenge: { provider: "meta", secret: "hush" } }
    return Effect.gen(function* () {
      const intake = yield* Intake
      assert.deepStrictEqual(yield* ask(intake, QUESTION), { contentType: "text/plain; charset=utf-8", text: "77" })
      assert.isNull(yield* ask(intake, QUESTION.replace("hush", "guess")))
      // Whether or not the address exists.
      assert.isNull(yield* ask(intake, QUESTION, "wrong"))
      state.source = { ...state.source!, challenge: { provider: "meta", secret: null } }
      assert.instanceOf(yield* Effect.flip(ask(intake, QUESTION)), StoreUnavailable)
      assert.deepStrictEqual(state.appended, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("answers by the current source, whatever is cached", () => {
    const { state, layer } = store()
    state.cached = { ...state.source!, challenge: { provider: "meta", secret: "old" } }
    state.source = { ...state.source!, version: 2, challenge: { provider: "meta", secret: "hush" } }
    return Effect.gen(function* () {
      const intake = yield* Intake
      assert.isNotNull(yield* ask(intake, QUESTION))
      state.source = { ...state.source!, challenge: undefined } as unknown as IntakeSource
      assert.isNull(yield* ask(intake, QUESTION))
      state.source = null
      assert.isNull(yield* ask(intake, QUESTION))
    }).pipe(Effect.provide(layer))
  })

  it.effect("counts a challenge against the rates", () => {
    const { state, layer } = store()
    state.source = { ...state.source!, challenge: { provider: "meta", secret: "hush" } }
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.clientAllowed = false
      for (const secret of ["right", "wrong"]) {
        const refused = yield* Effect.flip(ask(intake, QUESTION, secret))
        assert.strictEqual(refused instanceof IntakeError && refused.code, "rate_limited")
      }
    }).pipe(Effect.provide(layer))
  })
})

describe("Intake.receive", () => {
  it.effect("answers Microsoft Graph's challenge only for a source with that setting", () => {
    const { state, layer } = store()
    const source = state.source!
    const asked = (of: IntakeSource) => request(of, { body: text(""), query: "validationToken=t%201" })
    const graph: IntakeSource = { ...source, challenge: { provider: "graph", secret: null } }
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.source = graph
      assert.deepStrictEqual(yield* receive(intake, asked(graph)), {
        kind: "handshake",
        answer: { contentType: "text/plain; charset=utf-8", text: "t 1" },
      })
      assert.deepStrictEqual(state.appended, [])
      assert.strictEqual((yield* receive(intake, request(graph, { query: "validationToken=t" }))).kind, "object")
      state.source = source
      assert.strictEqual((yield* receive(intake, asked(source))).kind, "object")
      assert.strictEqual(state.appended.length, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("accepts a challenge as an event when the source no longer answers it", () => {
    const { state, layer } = store()
    const outdated: IntakeSource = { ...state.source!, challenge: { provider: "graph", secret: null } }
    state.source = { ...state.source!, version: 2 }
    return Effect.gen(function* () {
      const question = request(outdated, { body: text(""), query: "validationToken=t" })
      assert.strictEqual((yield* receive(yield* Intake, question)).kind, "object")
      assert.strictEqual(state.appended.length, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("answers a challenge with a valid signature, and accepts any other body as an event", () => {
    const { state, layer } = store()
    const body = text('{"type":"url_verification","challenge":"c1"}')
    const signed = (secret: string, of: Uint8Array) => ({
      "x-slack-request-timestamp": "0",
      "x-slack-signature": `v0=${createHmac("sha256", secret).update("v0:0:").update(of).digest("hex")}`,
    })
    const slack = (mode: "reject" | "mark"): IntakeSource => ({
      ...state.source!,
      verification: { recipe: "slack", mode, hmac: null, secrets: ["right"] },
    })
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.source = slack("reject")
      assert.deepStrictEqual(yield* receive(intake, request(state.source, { body, headers: signed("right", body) })), {
        kind: "handshake",
        answer: { contentType: "text/plain; charset=utf-8", text: "c1" },
      })
      const forged = yield* Effect.flip(receive(intake, request(state.source, { body, headers: signed("x", body) })))
      assert.strictEqual(forged instanceof IntakeError && forged.code, "bad_signature")
      assert.deepStrictEqual(state.appended, [])
      // For a source that accepts everything, a forged challenge is an ordinary event and gets no answer.
      state.source = slack("mark")
      assert.strictEqual(
        (yield* receive(intake, request(state.source, { body, headers: signed("x", body) }))).kind,
        "object",
      )
      const other = text('{"type":"event_callback","challenge":"c1"}')
      const event = request(state.source, { body: other, headers: signed("right", other) })
      assert.strictEqual((yield* receive(intake, event)).kind, "object")
      assert.strictEqual(state.appended.length, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("answers a shop's unsigned ping without an event when the source verifies a shop, in either mode", () => {
    const { state, layer } = store()
    const bare = state.source!
    const contentType = "application/x-www-form-urlencoded"
    const sender = { ...request(bare).sender, contentType }
    const ping = (of: IntakeSource) =>
      request(of, { body: text("webhook_id=5"), headers: { "content-type": contentType }, sender })
    return Effect.gen(function* () {
      const intake = yield* Intake
      for (const mode of ["reject", "mark"] as const) {
        const shop: IntakeSource = {
          ...bare,
          version: bare.version + 1,
          verification: { recipe: "woocommerce", mode, hmac: null, secrets: ["right"] },
        }
        state.source = shop
        // The cached source is outdated: its ping would be a forgery, or an event.
        for (const cached of [
          shop,
          bare,
          { ...bare, verification: { ...shop.verification!, recipe: "github" as const } },
        ])
          assert.deepStrictEqual(yield* receive(intake, ping(cached)), {
            kind: "handshake",
            answer: { contentType: "application/json", text: '{"ok":true}' },
          })
      }
      assert.deepStrictEqual(state.appended, [])
      assert.deepStrictEqual(state.refused, [])
      state.source = bare
      assert.strictEqual((yield* receive(intake, ping(bare))).kind, "object")
    }).pipe(Effect.provide(layer))
  })
})
