import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { markedSpam } from "@data-cabinet/core/intake/SpamCheck"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { Result } from "effect"
import { assert, it } from "vitest"

const NOBODY = { origin: null, referer: null }

const eventsOf = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => fingerprintedEvent(Result.getOrThrow(parseJson(text)) as JsonObject))

it("markedSpam marks an event with a filled honeypot, and excludes it from the detection of repeats", () => {
  const events = eventsOf('{"a":1}', '{"website":""}', '{"website":" "}', '{"website":"x"}', '{"website":0}')
  const marked = markedSpam({ honeypot: "website", allowOrigins: [] }, NOBODY, events)
  assert.deepStrictEqual(marked, [
    ...events.slice(0, 3),
    ...events.slice(3).map((event) => ({ ...event, fingerprint: null, spam: "honeypot" as const })),
  ])
  assert.deepStrictEqual(markedSpam({ honeypot: null, allowOrigins: [] }, NOBODY, events), events)
})

const PAGE = "https://shop.example"

it.each([
  [PAGE, null, true],
  [`${PAGE}:443`, null, true],
  [PAGE, "https://evil.example/", true],
  [null, `${PAGE}/contact?a=1`, true],
  ["https://evil.example", `${PAGE}/contact`, false],
  ["http://shop.example", null, false],
  [`${PAGE}:8443`, null, false],
  [`${PAGE}.evil.example`, null, false],
  [null, `https://evil.example/${PAGE}`, false],
  [null, "no address", false],
  // A browser that withholds the origin, and a program that sends none.
  ["null", null, false],
  ["null", `${PAGE}/contact`, false],
  ["", null, false],
  [null, null, false],
] as const)("markedSpam accepts the origin %j with the referer %j as its form's: %s", (origin, referer, isAllowed) => {
  const events = eventsOf('{"a":1}', '{"website":"x"}')
  const marked = markedSpam(
    { honeypot: null, allowOrigins: ["https://other.example", PAGE] },
    { origin, referer },
    events,
  )
  assert.deepStrictEqual(
    marked,
    isAllowed ? events : events.map((event) => ({ ...event, fingerprint: null, spam: "origin" as const })),
  )
})
