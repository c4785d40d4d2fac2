import { type NewSource, type SourceChange, Sources } from "@data-cabinet/core/source/Sources"
import { type SourceRemoval, SourceStore } from "@data-cabinet/core/source/SourceStore"
import { Effect, Layer, Option } from "effect"
import { expect, it } from "vitest"

/** An empty store that counts its calls. */
const over = (removal: SourceRemoval = { is: "missing" }) => {
  const reached: Array<unknown> = []
  const none = (...given: ReadonlyArray<unknown>) =>
    Effect.sync(() => {
      reached.push(given)
      return Option.none()
    })
  const store = SourceStore.of({
    create: (source) => Effect.die(reached.push(source)),
    page: () => Effect.succeed([]),
    get: none,
    reveal: none,
    change: none,
    archive: none,
    restore: none,
    remove: () => Effect.succeed(removal),
    rotateSecret: none,
    bySecret: none,
    cached: () => undefined,
    forIntake: none,
  })
  const layer = Sources.layer.pipe(Layer.provide(Layer.succeed(SourceStore, store)))
  const refusal = <A, E>(work: (sources: Sources["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.flip(Sources.use(work).pipe(Effect.provide(layer))))
  return { reached, refusal }
}

it.each<[Partial<NewSource> & SourceChange, string, string]>([
  [{ name: "" }, "bad_name", "A source needs a name of 1 to 200 characters."],
  [{ name: " \t" }, "bad_name", "A source needs a name of 1 to 200 characters."],
  [{ name: "x".repeat(201) }, "bad_name", "A source needs a name of 1 to 200 characters."],
  [{ encoding: "koi8-r" as never }, "bad_encoding", "The encoding must be one of utf-8, windows-1251, latin-1."],
  [{ thanksUrl: "/thanks" }, "bad_thanks_url", "The thank-you URL must begin with http:// or https://."],
  [{ thanksUrl: "javascript:alert(1)" }, "bad_thanks_url", "The thank-you URL must begin with http:// or https://."],
  [{ keepHeaders: ["X-*"] }, "bad_keep_headers", expect.stringContaining("keep_headers: X-* is too wide")],
  [{ headerFields: ["Cookie"] }, "bad_header_fields", expect.stringContaining("header_fields: Cookie is never kept")],
])("create and change refuse %j without a call to the store", (settings, code, message) => {
  const { reached, refusal } = over()
  expect(refusal((sources) => sources.create({ name: "Orders", ...settings }))).toMatchObject({ code, message })
  expect(refusal((sources) => sources.change(1, settings))).toMatchObject({ code, message })
  expect(reached).toEqual([])
})

it("Sources refuses every call about an unknown source, and names it", () => {
  const { refusal } = over()
  const calls: ReadonlyArray<(sources: Sources["Service"]) => Effect.Effect<unknown, unknown>> = [
    (sources) => sources.reveal(7),
    (sources) => sources.change(7, { name: "Orders", encoding: null, thanksUrl: null }),
    (sources) => sources.archive(7),
    (sources) => sources.restore(7),
    (sources) => sources.remove(7, "drop"),
    (sources) => sources.rotateSecret(7),
  ]
  for (const call of calls) {
    expect(refusal(call)).toMatchObject({ code: "no_such_source", message: "Source 7 does not exist." })
  }
})

it.each<[SourceRemoval, RegExp]>([
  [{ is: "depended_on", table: "orders" }, /^Views depend on sources\.orders\. Drop them first/],
  [{ is: "busy", table: "orders", seconds: 3 }, /^sources\.orders is being used .* within 3 seconds/],
])("remove reports why a table could not be dropped: %j", (removal, words) => {
  const error = over(removal).refusal((sources) => sources.remove(7, "drop"))
  expect(error).toMatchObject({ code: "table_in_use", message: expect.stringMatching(words) })
})

it("get returns none for an unknown source", () => {
  const store = Layer.succeed(SourceStore, { get: () => Effect.succeedNone } as never)
  const found = Sources.use((sources) => sources.get(7)).pipe(Effect.provide(Layer.provide(Sources.layer, store)))
  expect(Effect.runSync(found)).toEqual(Option.none())
})
