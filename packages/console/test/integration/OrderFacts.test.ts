import type { Address } from "@data-cabinet/core/delivery/Address"
import type { LastAttempt } from "@data-cabinet/core/delivery/Attempt"
import type { Frame } from "@data-cabinet/console/html/Shell"
import { outcomeBadge } from "@data-cabinet/console/integration/DeliveryReason"
import { skipForm, waitingInOrder } from "@data-cabinet/console/integration/OrderFacts"
import { WORDS } from "@data-cabinet/console/words/Words"
import { markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const address = (id: number, failures: number): Address =>
  ({
    id,
    url: `https://receiver.example/${id}?token=hush`,
    position: {
      eventId: 1,
      behindSeconds: 9,
      waitsAt: 2,
      failures,
      error: "the connection was refused",
      retryAt: "2026-11-27T10:00:00Z",
    },
  }) as unknown as Address

const textFor = (role: "owner" | "viewer", addresses: ReadonlyArray<Address>): string => {
  const frame = { base: "", language: "en", words: WORDS.en, actor: { role } } as unknown as Frame
  return markup`${waitingInOrder(frame, addresses, "UTC")}`.text
}

it("the list of deliveries names addresses in order that wait, with the reason and the next attempt", () => {
  const text = textFor("owner", [address(1, 2)])
  assert.include(text, "https://receiver.example/1")
  assert.include(text, "The receiver refused the connection. Next attempt: 2026-11-27 10:00:00")
  assert.include(text, 'href="/console/addresses/1"')
})

it("the list of deliveries shows a viewer no query of an address that waits", () => {
  const text = textFor("viewer", [address(5, 1)])
  assert.notInclude(text, "hush")
  assert.include(text, "receiver.example/5")
})

it("the form that skips an event names the one at which the address waits", () => {
  const frame = { base: "", language: "en", words: WORDS.en, actor: { role: "owner" } } as unknown as Frame
  const text = markup`${skipForm(frame, address(1, 2))}`.text
  assert.include(text, "Skip event #2")
  assert.include(text, '<input type="hidden" name="event" value="2">')
})

it("a skipped delivery is called so, and not one without a response", () => {
  const frame = { words: WORDS.en } as unknown as Frame
  const last = (failure: string) => ({ outcome: "no_answer", status: null, failure }) as unknown as LastAttempt
  assert.include(outcomeBadge(frame, last("skipped: by hand")).text, "skipped")
  assert.notInclude(outcomeBadge(frame, last("the connection was refused")).text, "skipped")
})
