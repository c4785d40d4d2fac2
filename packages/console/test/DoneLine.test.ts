import { doneLines } from "@data-cabinet/console/screen/DoneLine"
import { WORDS } from "@data-cabinet/console/words/Words"
import { assert, it } from "vitest"

const { said } = doneLines("https://cabinet.example/data", () => null)

it("doneLines leaves room for the address beside its cookie in 4,096 bytes of headers", () => {
  const whole: Array<boolean> = []
  for (let count = 1; count <= 400; count += 10) {
    for (const location of ["/data/console/events", `/data/console/events?q=${"x".repeat(2_500)}`]) {
      const form = Array.from({ length: count }, (_, n) => ["event", String(1_000_000 + n)] as const)
      const call = { frame: { words: WORDS.en }, address: "/console/events/trash", form }
      const cookie = said({ path: call.address } as never, call as never, location)!
      // The other headers of a redirect have some 700 bytes.
      assert.isAtMost(cookie.length + location.length, 3_300)
      whole.push(cookie.includes("event%3D1000000"))
    }
  }
  assert.isTrue(whole[0])
  assert.isFalse(whole.at(-1))
})
