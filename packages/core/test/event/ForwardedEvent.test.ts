import { assert, it } from "@effect/vitest"
import { deliveryBody } from "../../src/delivery/DeliveryBody.ts"
import { forwardedEvent } from "../../src/event/ForwardedEvent.ts"

const item = (payload: string, more: object = {}) => {
  const { repeat_of, history, deleted_at, ...rest } = { repeat_of: null, history: false, deleted_at: null, ...more }
  const end = JSON.stringify({ repeat_of, history, deleted_at, ...rest }).slice(1)
  return `{"id":7,"source":{"id":3,"name":"Orders"},"channel":"webhook","received_at":"2026-11-21T09:30:00.123456Z","payload":${payload},${end}`
}

it("forwardedEvent returns the delivery that an address would receive, with every digit", () => {
  const text = item('{"total":12345678901234567890.10}')
  const event = forwardedEvent(text)
  assert.isNull(event.notSent)
  const head =
    '{"id":7,"type":"event.received","created_at":"2026-11-21T09:30:00.123Z","source":{"id":3,"name":"Orders"}'
  assert.strictEqual(Buffer.from(deliveryBody(event.delivery)).toString(), `${head},"data":${text}}`)
})

it.each([
  ["it repeats event 5", '{"a":1}', { repeat_of: 5 }],
  ["it is history", '{"a":1}', { history: true }],
  ["it was deleted", "{}", { deleted_at: "2026-11-21T09:31:00Z" }],
  ["its sender could not be verified", '{"a":1}', { verified: false }],
  ["it is empty", '{"a":" ","b":[]}', {}],
  ["it is empty", '{"_raw":"{","_parse_error":"unexpected end"}', {}],
  [null, '{"_raw":"a text"}', {}],
  [null, '{"a":1}', { verified: true }],
])("forwardedEvent says %s of %s", (reason, payload, more) => {
  assert.strictEqual(forwardedEvent(item(payload, more)).notSent, reason)
})
