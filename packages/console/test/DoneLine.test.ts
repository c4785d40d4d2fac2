import { doneLines } from "@data-cabinet/console/screen/DoneLine"
import { WORDS } from "@data-cabinet/console/words/Words"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { forged } from "../../../test/support/forged.ts"

const BASE = "/data"
const HTTP = { baseUrl: `https://cabinet.example${BASE}`, baseUrlKnown: true, docsUrl: null, apiOrigins: null } as never
const servicesOf = (key: CursorKey) =>
  Layer.mergeAll(Layer.succeed(CursorKeys, { key: Effect.succeed(key) }), Layer.succeed(HttpSettings, HTTP))
const OURS = servicesOf(new CursorKey(Buffer.alloc(32, 1)))
const OTHERS = servicesOf(new CursorKey(Buffer.alloc(32, 2)))

const PAUSE = { path: "/console/addresses/{id}/pause" } as never
const ada = { kind: "person", id: 1, name: "Ada" }
const grace = { kind: "person", id: 2, name: "Grace" }
const frame = { base: BASE, words: WORDS.en, actor: null }
const lines = doneLines((address) => (address === "/console/addresses/7/pause" ? ({ screen: PAUSE } as never) : null))

/** The cookie after Ada paused address 7. */
const saidByAda = Effect.gen(function* () {
  const { said } = yield* lines
  const call = { frame, actor: ada, address: "/console/addresses/7/pause", form: [] } as never
  return /=([^;]+)/.exec((yield* said(PAUSE, call, `${BASE}/console/addresses/7`))!)![1]!
})

const shownTo = (actor: object | null, sealed: string, at = "/console/addresses/7") =>
  Effect.gen(function* () {
    const { shown } = yield* lines
    const call = { frame, actor, request: { headers: { cookie: `__Secure-cabinet-done=${sealed}` } } } as never
    const { screen } = yield* shown(call, { title: "", main: markup`<h1>Address</h1>` } as never, at)
    return screen.main.text
  })

const isSaid = (text: string) => text.includes(WORDS.en.done["addresses/{id}/pause"])

it.effect("doneLines shows an act to the person who did it, for a minute, on the screen that it leads to", () =>
  Effect.gen(function* () {
    const sealed = yield* saidByAda
    assert.isTrue(isSaid(yield* shownTo(ada, sealed)))
    assert.isTrue(isSaid(yield* shownTo(null, sealed)))
    assert.isFalse(isSaid(yield* shownTo(grace, sealed)))
    assert.isFalse(isSaid(yield* shownTo(ada, sealed, "/console/addresses/8")))
    yield* TestClock.adjust("61 seconds")
    assert.isFalse(isSaid(yield* shownTo(ada, sealed)))
  }).pipe(Effect.provide(OURS)),
)

it.effect("doneLines shows nothing for a cookie that this cabinet did not seal", () =>
  Effect.gen(function* () {
    const sealed = yield* saidByAda
    const foreign = yield* saidByAda.pipe(Effect.provide(OTHERS))
    const plain = `0123456789ab.${encodeURIComponent("/console/addresses/7/pause")}`
    for (const wrong of [foreign, plain, "", "AAAA", forged(sealed, sealed.length - 4), sealed.slice(1)]) {
      assert.isFalse(isSaid(yield* shownTo(ada, wrong)), wrong)
    }
  }).pipe(Effect.provide(OURS)),
)

it.effect("doneLines leaves room for the address beside its cookie in 4,096 bytes of headers", () =>
  Effect.gen(function* () {
    const { said } = yield* lines
    const sizes: Array<number> = []
    for (let count = 1; count <= 4_000; count += 100) {
      for (const location of ["/data/console/events", `/data/console/events?q=${"x".repeat(2_500)}`]) {
        const form = Array.from({ length: count }, (_, n) => ["event", String((n * 7_919) ** 3 % 1_000_003)] as const)
        const call = { frame, actor: ada, address: "/console/events/trash", form } as never
        const cookie = (yield* said({ path: "/console/events/trash" } as never, call, location))!
        // The other headers of a redirect take about 700 bytes.
        assert.isAtMost(cookie.length + location.length, 3_300)
        sizes.push(cookie.length)
      }
    }
    // A list that does not fit is left out, but the line is still shown.
    assert.isAbove(sizes.toSorted((one, other) => other - one)[0]!, 10 * sizes.at(-1)!)
  }).pipe(Effect.provide(OURS)),
)
