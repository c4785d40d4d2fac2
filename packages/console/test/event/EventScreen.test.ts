import { type EventData, eventScreen } from "@data-cabinet/console/event/EventScreen"
import { WORDS } from "@data-cabinet/console/words/Words"
import { assert, it } from "vitest"

const frame = { base: "/data", words: WORDS.en, actor: { name: "Ada", role: "viewer" }, timeZone: "UTC" } as never

/** The part with the fields of an event with this payload. */
const fields = (payload: string): string => {
  const event = `{"id":1,"source":"Orders","source_id":1,"channel":"webhook","received_at":"2026-11-20T08:30:00.000Z","payload":${payload},"repeat_of":null}`
  const record = { event, original: null, table: null, spam: null, rowSetAside: null, rowWaits: false }
  const data = {
    record,
    deliveries: [],
    addresses: [],
    listed: null,
    timeZone: "UTC",
    list: "events",
    checkable: false,
  }
  const { main } = eventScreen(frame, data as unknown as EventData)
  return main.text.slice(main.text.indexOf('id="fields"'), main.text.indexOf('id="json"'))
}

it("eventScreen lists 2,000 fields, and says how many more are in the JSON", () => {
  const payload = (count: number) => `{${Array.from({ length: count }, (_, n) => `"f${n}":${n}`).join()}}`
  const all = fields(payload(2_000))
  assert.strictEqual(all.split("<dt>").length - 1, 2_000)
  assert.notInclude(all, "in the JSON below")
  const some = fields(payload(3_001))
  assert.strictEqual(some.split("<dt>").length - 1, 2_000)
  assert.include(some, "1,001 more fields are in the JSON below.")
})

it("eventScreen shows the long name of a field in pieces", () => {
  assert.include(fields(`{"${"x".repeat(2_000)}":1}`), "</bdi><bdi")
})
