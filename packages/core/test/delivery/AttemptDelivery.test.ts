import { Courier, type CourierRequest } from "@data-cabinet/core/delivery/Courier"
import { AttemptDelivery, nextState } from "@data-cabinet/core/delivery/AttemptDelivery"
import { deliveryBody } from "@data-cabinet/core/delivery/DeliveryBody"
import type { Claimed } from "@data-cabinet/core/delivery/DeliveryQueue"
import { STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { NO_BATCHES } from "@data-cabinet/core/delivery/SendingSettings"
import { signedRequest } from "@data-cabinet/core/delivery/SignedRequest"
import { verifyDelivery } from "@data-cabinet/core/delivery/VerifyDelivery"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"

const text = `{"id":7,"payload":{"z":1.0,"a":12345678901234567890,"s":"\\u00e9é"}}`
const delivery: Claimed = {
  id: 42,
  type: "event.received",
  recipient: { addressId: 1, url: "https://example.com/hook", secrets: ["new", "old"] },
  attempt: 3,
  failures: 2,
  createdAt: "2026-11-21T09:30:00.123456Z",
  event: { json: Buffer.from(text), sourceId: 5, sourceName: `"Заказы"\n` },
}
/** As the store has it; of its own headers only the names. */
const address = {
  url: delivery.recipient.url,
  body: STANDARD_BODY,
  secret: "new",
  previousSecret: { secret: "old", until: "2025-11-22T00:00:00Z" },
  headerNames: ["X-Own"],
  order: "none",
  batch: NO_BATCHES,
} as unknown as Address
const outcome = (status: number | null) => ({
  status,
  failure: null,
  peer: null,
  durationMs: 1,
  timing: null,
  responseBody: null,
})

const bodyOf = (of: Claimed) => new TextDecoder().decode(deliveryBody(of))

it("deliveryBody has the event's own text, token by token", () => {
  const body = bodyOf(delivery)
  expect(body.endsWith(`,"data":${text}}`)).toBe(true)
  expect(JSON.parse(body)).toMatchObject({
    id: 42,
    type: "event.received",
    created_at: "2026-11-21T09:30:00.123456Z",
    source: { id: 5, name: `"Заказы"\n` },
  })
  expect(JSON.parse(bodyOf({ ...delivery, type: "ping", event: null }))).toEqual({
    id: 42,
    type: "ping",
    created_at: "2026-11-21T09:30:00.123456Z",
  })
})

it.effect(
  "AttemptDelivery sends the signed bytes and settles by the response",
  Effect.fn(function* () {
    const sent: Array<CourierRequest> = []
    const courier = Layer.succeed(
      Courier,
      Courier.of({ send: (request) => Effect.sync(() => (sent.push(request), outcome(503))) }),
    )
    yield* TestClock.setTime(1_763_717_400_900)
    const settlement = yield* AttemptDelivery.use((deliver) => deliver.attempt(delivery)).pipe(
      Effect.provide(AttemptDelivery.layer.pipe(Layer.provide(courier))),
    )
    assert.deepStrictEqual(settlement, {
      deliveryId: 42,
      attempt: 3,
      outcome: outcome(503),
      next: { state: "retry", afterSeconds: 120 },
    })
    const { headers, body, url } = sent[0]!
    assert.strictEqual(url, "https://example.com/hook")
    assert.strictEqual(new TextDecoder().decode(body), bodyOf(delivery))
    assert.include(headers, {
      "Content-Type": "application/json",
      "X-Service-Event": "event.received",
      "X-Service-Delivery": "42",
      "webhook-id": "42",
      "webhook-timestamp": "1763717400",
    })
    assert.match(headers["webhook-signature"]!, /^v1,[^ ]{44} v1,[^ ]{44}$/)
    for (const secret of delivery.recipient.secrets) {
      assert.isTrue(verifyDelivery(body, headers["X-Service-Signature"], secret, { now: new Date(1_763_717_400_000) }))
    }
    const shown = yield* signedRequest(delivery, address, delivery.event, 1_763_717_400_900)
    assert.deepStrictEqual(shown.headers, [
      { name: "X-Own", value: null },
      ...Object.entries(headers).map(([name, value]) => ({ name, value })),
    ])
    assert.deepStrictEqual([shown.method, shown.url, shown.body], ["POST", url, bodyOf(delivery)])
  }),
)

it("nextState treats any 2xx as delivered and everything else as a retry, but never repeats a ping", () => {
  for (const status of [200, 201, 204, 299])
    expect(nextState(delivery, outcome(status))).toEqual({ state: "delivered" })
  for (const status of [199, 300, 302, 304, 400, 410, 500, null]) {
    expect(nextState(delivery, outcome(status))).toEqual({ state: "retry", afterSeconds: 120 })
    expect(nextState({ type: "ping", failures: 0 }, outcome(status))).toEqual({ state: "failed" })
  }
})
