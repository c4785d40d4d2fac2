import { PinnedClient } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { OutgoingError } from "@data-cabinet/delivery/outgoing/OutgoingError"
import * as HttpSnsService from "@data-cabinet/delivery/verification/HttpSnsService"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { SnsService } from "@data-cabinet/core/verification/VerifySns"

const CERTIFICATE = new URL("https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem")

const [SNS, FORGER] = ["192.0.2.1", "198.51.100.7"]
const madeUp = (n: number) => new URL(CERTIFICATE.href.replace(/-[0-9a-f]{16}/, `-${n.toString(16).padStart(16, "f")}`))

/** A client with the given responses, which records the requested addresses. */
const answering = (answers: ReadonlyArray<{ readonly status: number; readonly text?: string } | "away">) => {
  const asked: Array<string> = []
  const send: PinnedClient["Service"]["send"] = ({ url }) => {
    const answer = answers[Math.min(asked.push(url.href), answers.length) - 1]!
    return answer === "away"
      ? Effect.fail(new OutgoingError({ code: "timeout", message: "no response within 5 s", peer: null }))
      : Effect.succeed({ status: answer.status, headers: {}, peer: null, body: Buffer.from(answer.text ?? "") })
  }
  const client = { send } as unknown as PinnedClient["Service"]
  return { asked, layer: HttpSnsService.layer.pipe(Layer.provide(Layer.succeed(PinnedClient, client))) }
}

it.effect("SnsService fetches a certificate once a day", () => {
  const { asked, layer } = answering([{ status: 200, text: "PEM" }])
  return Effect.gen(function* () {
    const sns = yield* SnsService
    for (let call = 0; call < 3; call++) assert.strictEqual(yield* sns.certificate(CERTIFICATE, SNS), "PEM")
    assert.deepStrictEqual(asked, [CERTIFICATE.href])
    yield* TestClock.adjust("23 hours")
    yield* sns.certificate(CERTIFICATE, SNS)
    assert.strictEqual(asked.length, 1)
    yield* TestClock.adjust("2 hours")
    yield* sns.certificate(CERTIFICATE, SNS)
    assert.strictEqual(asked.length, 2)
  }).pipe(Effect.provide(layer))
})

it.effect("SnsService does not request a missing certificate again within a minute", () => {
  const { asked, layer } = answering([{ status: 404 }, { status: 200, text: "PEM" }])
  return Effect.gen(function* () {
    const sns = yield* SnsService
    assert.isNull(yield* sns.certificate(CERTIFICATE, SNS))
    assert.isNull(yield* sns.certificate(CERTIFICATE, SNS))
    assert.strictEqual(asked.length, 1)
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* sns.certificate(CERTIFICATE, SNS), "PEM")
  }).pipe(Effect.provide(layer))
})

it.effect("SnsService does not cache a failure", () => {
  const { asked, layer } = answering([
    "away",
    { status: 503 },
    { status: 429 },
    { status: 302 },
    { status: 200, text: "PEM" },
  ])
  return Effect.gen(function* () {
    const sns = yield* SnsService
    for (const words of [/no response within/, /responded with 503/, /responded with 429/, /responded with 302/])
      assert.match((yield* Effect.flip(sns.certificate(CERTIFICATE, SNS))).message, words)
    assert.strictEqual(yield* sns.certificate(CERTIFICATE, SNS), "PEM")
    assert.strictEqual(asked.length, 5)
  }).pipe(Effect.provide(layer))
})

it.effect("SnsService confirms each time, and fails when SNS does not answer with 200", () => {
  const { asked, layer } = answering([{ status: 200 }, { status: 403 }, "away"])
  return Effect.gen(function* () {
    const sns = yield* SnsService
    const address = new URL("https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription")
    yield* sns.confirm(address)
    assert.match((yield* Effect.flip(sns.confirm(address))).message, /403 to the confirmation/)
    yield* Effect.flip(sns.confirm(address))
    assert.strictEqual(asked.length, 3)
  }).pipe(Effect.provide(layer))
})

it.effect("SnsService keeps a certificate, however many addresses without one are requested", () => {
  const { asked, layer } = answering([{ status: 200, text: "PEM" }, { status: 404 }])
  return Effect.gen(function* () {
    const sns = yield* SnsService
    yield* sns.certificate(CERTIFICATE, SNS)
    for (let n = 0; n < 10; n++) {
      for (let at = 0; at < 40; at++) assert.isNull(yield* sns.certificate(madeUp(n * 40 + at), `198.51.100.${at}`))
      yield* TestClock.adjust("61 seconds")
    }
    assert.strictEqual(yield* sns.certificate(CERTIFICATE, SNS), "PEM")
    assert.strictEqual(asked.filter((address) => address === CERTIFICATE.href).length, 1)
  }).pipe(Effect.provide(layer))
})

it.effect(
  "SnsService requests the wrong addresses of one client one after the other, and delays no other client",
  () => {
    const { asked, layer } = answering([...Array.from({ length: 11 }, () => ({ status: 404 }) as const), "away"])
    return Effect.gen(function* () {
      const sns = yield* SnsService
      const forged = (n: number) => Effect.result(sns.certificate(madeUp(n), FORGER))
      for (let n = 0; n < 10; n++) yield* forged(n)
      const more = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 50 }, (_, n) => forged(10 + n)),
          { concurrency: "unbounded" },
        ),
      )
      yield* TestClock.adjust("0 millis")
      assert.strictEqual(asked.length, 11)
      yield* Effect.result(sns.certificate(CERTIFICATE, SNS))
      assert.strictEqual(asked.at(-1), CERTIFICATE.href)
      yield* TestClock.adjust("5 seconds")
      const results = yield* Fiber.join(more)
      const refused = results.filter(
        (result) => Result.isFailure(result) && /too many wrong/.test(result.failure.message),
      )
      assert.isAtLeast(refused.length, 25)
      assert.isAtMost(asked.length, 12 + 25)
    }).pipe(Effect.provide(layer))
  },
)
