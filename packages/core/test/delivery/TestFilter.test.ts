import { STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { testFilter } from "@data-cabinet/core/delivery/TestFilter"
import { MAX_JSON_DEPTH } from "@data-cabinet/core/json/ParseJson"
import { assert, it } from "@effect/vitest"

const ADDRESS: Address = {
  id: 7,
  url: "https://example.com/hook",
  secret: "",
  previousSecret: null,
  sources: "all",
  filters: [{ fc: "_value", fo: "notempty", fv: "" }],
  subscription: null,
  body: STANDARD_BODY,
  filteredEvents: 0,
  headerNames: [],
  clientCertificate: null,
  rate: null,
  timeoutSeconds: null,
  createdAt: "2026-01-02T03:04:05Z",
  giveUpAfterSeconds: null,
  pauseOnGone: false,
  order: "none",
  batch: { max: 1, wait: 0 },
  position: null,
  pausedAt: null,
  pausedBecause: null,
  failingSince: null,
}

it("testFilter reads an event of maximum depth, although the body around it is one level deeper", () => {
  const body = `${"[".repeat(MAX_JSON_DEPTH)}1${"]".repeat(MAX_JSON_DEPTH)}`
  const event = {
    id: 1,
    sourceId: 2,
    payload: `{"_value":${body}}`,
    repeatOf: null,
    empty: false,
    history: false,
    verified: null,
    spam: false,
    aboutIt: false,
    deleted: false,
    older: false,
    deliveryId: null,
  }
  assert.strictEqual(testFilter(ADDRESS, event).eventId, 1)
})
