/** Why a callback endpoint is refused, from what its challenge came to. */
import { reasonOf } from "@data-cabinet/core/agent/CallbackChallenge"
import { expect, it } from "vitest"

const outcome = { status: null, failure: null, responseBody: null, peer: null, durationMs: 1, timing: null }

it.each([
  ["no response within 5 s", "timeout"],
  ["no connection within 5 s", "timeout"],
  ["the name servers did not respond for a.example within 5 s", "timeout"],
  ["connect ECONNREFUSED 192.0.2.1:443", "connection_refused"],
  ["self-signed certificate", "tls_error"],
])("reasonOf calls a request that ended with '%s' %s", (failure, reason) => {
  expect(reasonOf({ ...outcome, failure }, "asked")).toBe(reason)
})

it.each([
  [200, '{"challenge":"asked"}', null],
  [200, '{"challenge":"other"}', "challenge_failed"],
  [200, null, "challenge_failed"],
  [302, '{"challenge":"asked"}', "challenge_failed"],
  [404, null, "http_4xx"],
  [503, null, "http_5xx"],
])("reasonOf of a response %d with %s is %s", (status, responseBody, reason) => {
  expect(reasonOf({ ...outcome, status, responseBody }, "asked")).toBe(reason)
})
