import type { Source } from "@data-cabinet/core/source/Source"
import { checkKeepOld, type NewSource, Sources } from "@data-cabinet/core/source/Sources"
import { MAX_SOURCE_RATE } from "@data-cabinet/core/source/SourceSettings"
import { type SourceChange, SourceStore, type StoredSource } from "@data-cabinet/core/source/SourceStore"
import type { Verification } from "@data-cabinet/core/verification/Verification"
import { Effect, Layer, Option } from "effect"
import { expect, it } from "vitest"
import { SOURCE } from "./exampleSource.ts"

/** Sources over a store with one source, which records what it is asked to store. */
const over = (source: Source = SOURCE) => {
  const created: Array<StoredSource> = []
  const changes: Array<unknown> = []
  const rotations: Array<unknown> = []
  const revealed = { ...source, intakeSecret: "s" }
  const store = Layer.mock(SourceStore, {
    cached: () => undefined,
    create: (stored) =>
      Effect.as(
        Effect.sync(() => created.push(stored)),
        revealed,
      ),
    get: () => Effect.succeedSome(source),
    change: (id, change) =>
      Effect.as(
        Effect.sync(() => changes.push([id, change])),
        Option.some(source),
      ),
    remove: () => Effect.succeed({ is: "removed" }),
    rotateSecret: (id, seconds) =>
      Effect.as(
        Effect.sync(() => rotations.push([id, seconds])),
        Option.some(revealed),
      ),
  })
  const layer = Sources.layer.pipe(Layer.provide(store))
  const run = <A, E>(work: (sources: Sources["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Sources.use(work).pipe(Effect.provide(layer)))
  return { created, changes, rotations, run }
}

const refusalOf = (settings: Partial<NewSource> & SourceChange) =>
  Effect.runSync(
    Sources.use((sources) => Effect.flip(sources.create({ name: "Orders", ...settings }))).pipe(
      Effect.provide(Layer.provide(Sources.layer, Layer.mock(SourceStore, { cached: () => undefined }))),
    ),
  )

it("create gives a source only the requested settings, and a table named after it", () => {
  const { created, run } = over()
  run((sources) => sources.create({ name: "Söme Orders" }))
  expect(created).toEqual([
    {
      name: "Söme Orders",
      encoding: null,
      thanksUrl: null,
      keepHeaders: [],
      headerFields: [],
      keepQuery: false,
      nestBrackets: false,
      rate: null,
      schema: null,
      honeypot: null,
      allowOrigins: [],
      inbox: null,
      inboxName: null,
      inboxEmail: null,
      inboxSubject: null,
      inboxMessage: null,
      verify: null,
      challenge: null,
      proof: null,
      tableName: expect.any(Function),
    },
  ])
  expect(created[0]!.tableName(new Set())).toBe("some_orders")
  expect(created[0]!.tableName(new Set(["some_orders"]))).toBe("some_orders_2")
  run((sources) => sources.create({ name: "???" }))
  expect(created[1]!.tableName(new Set())).toBe("source")
})

it("create stores every setting, origins as browsers send them and each once", () => {
  const { created, run } = over()
  const settings = {
    name: "x".repeat(200),
    encoding: "windows-1251",
    thanksUrl: "https://example.com/thanks",
    keepHeaders: ["X-GitHub-*"],
    headerFields: ["X-GitHub-Event"],
    keepQuery: true,
    nestBrackets: true,
    rate: MAX_SOURCE_RATE,
    honeypot: "website",
  } as const
  const allowOrigins = ["https://Example.com", "https://example.com:443/", "http://example.com"]
  run((sources) =>
    sources.create({
      ...settings,
      allowOrigins,
      verify: { recipe: "github", secret: "shared" },
      challenge: { provider: "meta", secret: "token" },
    }),
  )
  expect(created).toMatchObject([
    {
      ...settings,
      allowOrigins: ["https://example.com", "http://example.com"],
      verify: { recipe: "github", mode: "reject", secret: "shared" },
      challenge: { provider: "meta", secret: "token" },
    },
  ])
})

it("change stores the given fields and leaves the rest", () => {
  const { changes, run } = over()
  run((sources) => sources.change(1, { name: "Sales", rate: 1 }))
  run((sources) => sources.change(1, { allowOrigins: ["https://Example.com/", "https://example.com"] }))
  run((sources) => sources.change(1, {}))
  expect(changes).toStrictEqual([
    [1, { name: "Sales", rate: 1 }],
    [1, { allowOrigins: ["https://example.com"] }],
    [1, {}],
  ])
})

it("change ends verification or challenge with null, and leaves the absent one", () => {
  const { changes, run } = over()
  run((sources) => sources.change(1, { verify: null }))
  run((sources) => sources.change(1, { challenge: null }))
  run((sources) => sources.change(1, { verify: null, challenge: null }))
  expect(changes).toStrictEqual([
    [1, { verify: null }],
    [1, { challenge: null }],
    [1, { verify: null, challenge: null }],
  ])
})

it("change starts from the current verification and challenge", () => {
  const verify: Verification = { recipe: "github", mode: "mark", hmac: null, keepsOldSecret: false }
  const { changes, run } = over({ ...SOURCE, verify, challenge: { provider: "meta" } })
  run((sources) => sources.change(1, { verify: { secret: "next", keepOldSecret: true } }))
  run((sources) => sources.change(1, { challenge: { provider: "meta" }, verify: null }))
  expect(changes).toStrictEqual([
    [1, { verify: { recipe: "github", mode: "mark", hmac: null, secret: "next", keepOldSecret: true } }],
    [1, { verify: null, challenge: { provider: "meta", secret: undefined } }],
  ])
})

it.each(["http://example.com", "https://example.com/thanks?a=b", "HTTPS://example.com"])(
  "create takes the thank-you URL %s",
  (thanksUrl) => {
    const { created, run } = over()
    run((sources) => sources.create({ name: "Orders", thanksUrl }))
    expect(created).toMatchObject([{ thanksUrl }])
  },
)

it.each<[Partial<NewSource>, string]>([
  [{ thanksUrl: "httpsx://example.com" }, "bad_thanks_url"],
  [{ thanksUrl: "xhttps://example.com" }, "bad_thanks_url"],
  [{ rate: 0 }, "bad_rate"],
  [{ rate: -5 }, "bad_rate"],
  [{ rate: 1.5 }, "bad_rate"],
  [{ rate: MAX_SOURCE_RATE + 1 }, "bad_rate"],
  [{ rate: Number.NaN }, "bad_rate"],
  [{ headerFields: ["X-GitHub-*"] }, "bad_header_fields"],
  [{ honeypot: "_website" }, "bad_honeypot"],
  [{ allowOrigins: ["https://example.com/form"] }, "bad_allow_origins"],
  [{ inbox: "maybe" as never }, "bad_inbox"],
  [{ verify: { recipe: "github" } }, "bad_verify_secret"],
  [{ challenge: { provider: "meta" } }, "bad_challenge"],
  [{ proof: { kind: "recaptcha" as "altcha" } }, "bad_proof"],
  [{ proof: { kind: "altcha", secret: "x" } }, "bad_proof"],
  [{ proof: { kind: "altcha", siteKey: "x" } }, "bad_proof"],
  [{ proof: { kind: "turnstile", secret: "x" } }, "bad_proof"],
  [{ proof: { kind: "turnstile", siteKey: "x" } }, "bad_proof"],
  [{ proof: { kind: "turnstile", siteKey: '"><script>', secret: "x" } }, "bad_proof"],
  [{ proof: { kind: "hcaptcha", siteKey: "x".repeat(201), secret: "x" } }, "bad_proof"],
  [{ proof: { kind: "hcaptcha", siteKey: "x", secret: "" } }, "bad_proof"],
])("create refuses %j without a call to the store", (settings, code) => {
  expect(refusalOf(settings)).toMatchObject({ code })
})

it("an old intake address is kept for a minute to 30 days, or not at all", () => {
  const { rotations, run } = over()
  run((sources) => sources.rotateSecret(1))
  for (const keepOldSeconds of [null, 60, 30 * 86_400]) run((sources) => sources.rotateSecret(1, { keepOldSeconds }))
  expect(rotations).toEqual([
    [1, null],
    [1, null],
    [1, 60],
    [1, 30 * 86_400],
  ])
  for (const keepOldSeconds of [0, 59, 60.5, 30 * 86_400 + 1, Number.NaN]) {
    const refused = run((sources) => Effect.flip(sources.rotateSecret(1, { keepOldSeconds })))
    expect(refused).toMatchObject({ code: "bad_expiry" })
    expect(Effect.runSync(Effect.flip(checkKeepOld(keepOldSeconds)))).toMatchObject({ code: "bad_expiry" })
  }
  expect(rotations).toHaveLength(4)
})

it("remove succeeds when the store has removed the source", () => {
  expect(over().run((sources) => sources.remove(1, "drop"))).toBeUndefined()
})
