import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StoreUnavailable } from "../../src/error/StoreUnavailable.ts"
import { SourceChanged } from "../../src/event/EventLog.ts"
import type { AcceptRequest } from "../../src/event/EventLog.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { Intake } from "../../src/intake/Intake.ts"
import type { IntakeRequest } from "../../src/intake/IntakeRequest.ts"
import type { IntakeSource } from "../../src/source/Source.ts"
import type { SourceEncoding } from "../../src/source/SourceSettings.ts"
import { admit, receive, request, store, text } from "./MemoryStore.ts"

const withType = (source: IntakeSource, contentType: string | undefined, body: string | Uint8Array, query = "") => {
  const base = request(source)
  const bytes = typeof body === "string" ? text(body) : body
  return { ...base, body: bytes, query, sender: { ...base.sender, contentType } }
}

describe("Intake.admit", () => {
  it.effect("checks the client's rate, the source and the source's rate, in that order", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const source = yield* admit(yield* Intake, "right", "192.0.2.7")
      assert.strictEqual(source.id, 7)
      assert.deepStrictEqual(state.asked, ["192.0.2.7", "source", "7"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("checks client and source in one call if the source is cached", () => {
    const { state, layer } = store()
    state.cached = state.source
    return Effect.gen(function* () {
      const source = yield* admit(yield* Intake, "right", "192.0.2.7")
      assert.strictEqual(source.id, 7)
      assert.deepStrictEqual(state.asked, ["192.0.2.7 to 7"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("distinguishes for a cached source whether the client or the source is over its rate", () => {
    const { state, layer } = store()
    state.cached = state.source
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.sourceAllowed = false
      assert.include((yield* Effect.flip(admit(intake, "right", "192.0.2.7"))).message, "one source")
      state.clientAllowed = false
      assert.include((yield* Effect.flip(admit(intake, "right", "192.0.2.7"))).message, "one address")
      assert.deepStrictEqual(state.limited, [7, 7])
    }).pipe(Effect.provide(layer))
  })

  it.effect("checks nothing else when the client is over its rate", () => {
    const { state, layer } = store()
    state.clientAllowed = false
    return Effect.gen(function* () {
      const error = yield* Effect.flip(admit(yield* Intake, "right", "192.0.2.7"))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "rate_limited")
      assert.strictEqual(error.retryAfter, 42)
      assert.deepStrictEqual([state.asked, state.limited], [["192.0.2.7"], []])
    }).pipe(Effect.provide(layer))
  })

  it.effect("counts a wrong secret against no source, and never shows the secret", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const error = yield* Effect.flip(admit(yield* Intake, "wrong-secret", "192.0.2.7"))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "not_found")
      assert.notInclude(JSON.stringify(error), "wrong-secret")
      assert.deepStrictEqual(state.asked, ["192.0.2.7", "source"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("refuses when the source is over its rate", () => {
    const { state, layer } = store()
    state.sourceAllowed = false
    return Effect.gen(function* () {
      const error = yield* Effect.flip(admit(yield* Intake, "right", null))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "rate_limited")
      assert.deepStrictEqual(state.asked, ["source", "7"])
    }).pipe(Effect.provide(layer))
  })
})

describe("Intake.receive", () => {
  it.effect("keeps the request as received with the event", () => {
    const { state, layer } = store()
    const body = text(JSON.stringify({ long: "я".repeat(40_000) }))
    return Effect.gen(function* () {
      const answer = yield* receive(yield* Intake, request(state.source!, { body }))
      assert.deepStrictEqual(answer, {
        kind: "object",
        receipt: { id: 1, repeatOf: null, empty: false },
        thanksUrl: null,
      })
      const [appended] = state.appended
      assert.strictEqual(appended?.channel, "webhook")
      assert.strictEqual(appended?.history, false)
      const { body: kept, ...rest } = appended!.original!
      assert.deepStrictEqual([...kept], [...body.subarray(0, 65_536)])
      assert.deepStrictEqual(rest, {
        bodyBytes: body.byteLength,
        contentType: "application/json",
        ip: "192.0.2.7",
        referer: null,
        origin: null,
        userAgent: "curl",
        acceptLanguage: null,
        charset: "utf-8",
        charsetFrom: "json",
        replaced: 0,
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "keeps the headers that the source names, and makes some of them fields, which do not count for equality",
    () => {
      const { state, layer } = store()
      const kept = { headers: ["X-Hub-*"], fields: ["X-Topic"], query: true }
      const headers = { "x-hub-signature": "sha1=00", "x-topic": "orders", "x-other": "no", cookie: "no" }
      return Effect.gen(function* () {
        const intake = yield* Intake
        yield* receive(intake, request(state.source!, { headers, query: "q=1" }))
        state.source = { ...state.source!, version: 2, kept }
        // It was parsed with the source's old settings, and is parsed again.
        const old = { ...state.source, version: 1, kept: null }
        yield* receive(intake, request(old, { headers, query: "q=1" }))
        yield* receive(intake, request(state.source, { headers, query: "q=1", undecodable: "broken" }))
        const [plain, own, undecodable] = state.appended
        assert.isUndefined(plain!.original!.kept)
        assert.deepStrictEqual(own!.original!.kept, {
          headers: [
            { name: "x-hub-signature", value: "sha1=00" },
            { name: "x-topic", value: "orders" },
          ],
          query: "q=1",
        })
        assert.strictEqual(own!.events[0]!.text, '{"X-Topic":"orders","q":"1","a":1}')
        assert.strictEqual(own!.events[0]!.fingerprint, plain!.events[0]!.fingerprint)
        assert.deepInclude(undecodable!.events[0], { empty: true })
        assert.match(undecodable!.events[0]!.text, /^{"X-Topic":"orders","q":"1","_raw":/)
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect("treats a filled header field like one from the query", () => {
    const { state, layer } = store()
    state.source = { ...state.source!, kept: { headers: [], fields: ["X-Topic"], query: false } }
    const source = state.source
    return Effect.gen(function* () {
      const intake = yield* Intake
      for (const topic of ["orders", " ", undefined]) {
        yield* receive(intake, request(source, { body: text("{}"), headers: { "x-topic": topic } }))
      }
      yield* receive(intake, request(source, { body: text("[1]"), headers: { "x-topic": "orders" } }))
      assert.deepStrictEqual(
        state.appended.map(({ events }) => events[0]!.empty),
        [false, true, true, true],
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("accepts only signed requests when the source is verified, and stores nothing of others", () => {
    const { state, layer } = store()
    const github = (...secrets: ReadonlyArray<string>): IntakeSource => ({
      ...state.source!,
      verification: { recipe: "github", mode: "reject", hmac: null, secrets },
    })
    const signed = (secret: string) => ({
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update('{"a":1}').digest("hex")}`,
    })
    state.source = github("right")
    return Effect.gen(function* () {
      const intake = yield* Intake
      const answered = yield* receive(intake, request(state.source!, { headers: signed("right") }))
      assert.strictEqual(answered.kind, "object")
      for (const [headers, words] of [
        [signed("wrong"), /does not match/],
        [{}, /has no signature/],
      ] as const) {
        const error = yield* Effect.flip(receive(intake, request(state.source!, { headers })))
        assert.strictEqual(error._tag === "IntakeError" && error.code, "bad_signature")
        assert.match(error.message, words)
      }
      assert.deepStrictEqual([state.appended.length, state.refused], [1, ["7 bad_signature", "7 no_signature"]])
      assert.deepStrictEqual(state.appended[0]!.verdict, { recipe: "github", refusal: null })
      assert.isNotNull(state.appended[0]!.events[0]!.fingerprint)
      // A request that cannot be verified for lack of secrets is not a forgery.
      state.source = { ...github(), verification: { recipe: "github", mode: "reject", hmac: null, secrets: null } }
      const unknown = yield* Effect.flip(receive(intake, request(state.source, { headers: signed("right") })))
      assert.strictEqual(unknown._tag, "StoreUnavailable")
      assert.deepStrictEqual([state.appended.length, state.refused.length], [1, 2])
    }).pipe(Effect.provide(layer))
  })

  it.effect("verifies by the current source, whatever is cached", () => {
    const { state, layer } = store()
    const open = state.source!
    const verified = (version: number, secret: string): IntakeSource => ({
      ...open,
      version,
      verification: { recipe: "bearer", mode: "reject", hmac: null, secrets: [secret] },
    })
    const headers = { authorization: "Bearer new" }
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.source = verified(3, "new")
      // In turn: the secret is new, the recipe is new, the recipe is removed.
      yield* receive(intake, request(verified(2, "old"), { headers }))
      const forged = request(open, { headers: { authorization: "Bearer old" } })
      const error = yield* Effect.flip(receive(intake, forged))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "bad_signature")
      state.source = { ...open, version: 4 }
      yield* receive(intake, request(verified(3, "new"), { headers: {} }))
      assert.deepStrictEqual(
        state.appended.map(({ sourceVersion }) => sourceVersion),
        [3, 4],
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("marks unverified requests in the mode mark, and excludes them from the detection of repeats", () => {
    const { state, layer } = store()
    const open = state.source!
    const marked = (version: number, secret: string): IntakeSource => ({
      ...open,
      version,
      verification: { recipe: "bearer", mode: "mark", hmac: null, secrets: [secret] },
    })
    const headers = { authorization: "Bearer new" }
    const batch = text('[{"a":1},{"a":2}]')
    return Effect.gen(function* () {
      const intake = yield* Intake
      state.source = marked(3, "new")
      yield* receive(intake, request(state.source, { headers }))
      yield* receive(intake, request(state.source, { body: batch }))
      // The current source decides: its secret is new, and its recipe is removed while the request is in flight.
      yield* receive(intake, request(marked(2, "old"), { headers }))
      let changes = 0
      state.onAppend = () => {
        if (changes++ > 0) return undefined
        state.source = { ...open, version: 4 }
        return new SourceChanged({ sourceId: open.id })
      }
      yield* receive(intake, request(state.source, { headers: {} }))
      assert.deepStrictEqual(
        state.appended.map(({ sourceVersion, verdict, events }) => [
          sourceVersion,
          verdict,
          events.map(({ fingerprint }) => fingerprint !== null),
        ]),
        [
          [3, { recipe: "bearer", refusal: null }, [true]],
          [3, { recipe: "bearer", refusal: "no_signature" }, [false, false]],
          [3, { recipe: "bearer", refusal: null }, [true]],
          [4, undefined, [true]],
        ],
      )
      assert.deepStrictEqual(state.refused, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("returns a receipt for each event of a batch, each with the query's fields", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const answer = yield* receive(
        yield* Intake,
        withType(state.source!, "application/json", '[{"a":1.0},{}]', "shop=9"),
      )
      assert.strictEqual(answer.kind === "batch" && answer.receipts.length, 2)
      assert.deepStrictEqual(
        state.appended[0]!.events.map(({ payload }) => jsonText(payload)),
        ['{"shop":"9","a":1.0}', '{"shop":"9"}'],
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("saves the event and reports it when the body does not parse", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const intake = yield* Intake
      const broken = yield* receive(intake, withType(state.source!, "application/json", '{"a":'))
      assert.strictEqual(broken.kind === "refused" && broken.error, "bad_json")
      const scalar = yield* receive(intake, withType(state.source!, "application/json", "12"))
      assert.strictEqual(scalar.kind === "refused" && scalar.error, "not_an_object")
      assert.deepStrictEqual(
        state.appended.map(({ events }) => events[0]!.empty),
        [true, true],
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("saves nothing when a batch is too long", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const batch = JSON.stringify(Array.from({ length: 101 }, (_, n) => ({ n })))
      const error = yield* Effect.flip(receive(yield* Intake, withType(state.source!, "application/json", batch)))
      assert.deepInclude(error, { code: "too_many_items", count: 101, limit: 100 })
      assert.deepStrictEqual(state.appended, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "keeps the bytes of a body with a broken content encoding, and tells such bodies apart by their bytes",
    () => {
      const { state, layer } = store()
      return Effect.gen(function* () {
        const intake = yield* Intake
        const undecodable = "The body is not valid gzip"
        for (const last of [0x80, 0x81]) {
          const answer = yield* receive(
            intake,
            request(state.source!, { body: Uint8Array.of(0x61, 0, last), undecodable, query: "a=1" }),
          )
          assert.deepInclude(answer, { kind: "refused", error: "bad_encoding", detail: undecodable })
        }
        const [one, two] = state.appended.map(({ events }) => events[0]!)
        const { original, memory } = state.appended[0]!
        assert.deepInclude(original, { charset: "utf-8", charsetFrom: "content_encoding", replaced: 0, bodyBytes: 3 })
        assert.strictEqual(memory, 12)
        assert.strictEqual(jsonText(one!.payload), `{"a":"1","_raw":"a\uFFFD\uFFFD","_parse_error":"${undecodable}"}`)
        assert.isTrue(one!.empty)
        assert.notDeepEqual(one!.fingerprint, two!.fingerprint)
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect("parses concurrent bodies before it appends any, and a fault in one fails no other", () => {
    const { state, layer } = store()
    const order: Array<string> = []
    state.onAppend = () => void order.push("append")
    const source = state.source!
    const { sender, ...rest } = request(source)
    const one = (faulty: boolean): IntakeRequest => ({
      ...rest,
      sender: {
        ...sender,
        get contentType() {
          order.push("parse")
          if (faulty) throw new Error("a fault of ours")
          return sender.contentType
        },
      },
    })
    return Effect.gen(function* () {
      const intake = yield* Intake
      const exits = yield* Effect.all(
        [false, true, false].map((faulty) => Effect.exit(receive(intake, one(faulty)))),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(
        exits.map(({ _tag }) => _tag),
        ["Success", "Failure", "Success"],
      )
      assert.strictEqual(order.filter((step) => step === "append").length, 2)
      assert.isBelow(order.lastIndexOf("parse"), order.indexOf("append"))
    }).pipe(Effect.provide(layer))
  })

  it.effect("parses again with the new encoding when the source changed since it was looked up", () => {
    const { state, layer } = store()
    const stale = state.source!
    state.source = { ...stale, version: 2, encoding: "windows-1251" as SourceEncoding }
    return Effect.gen(function* () {
      const body = Uint8Array.of(0x61, 0x3d, 0xc0)
      yield* receive(yield* Intake, withType(stale, "application/x-www-form-urlencoded; charset=latin1", body))
      assert.strictEqual(jsonText(state.appended[0]!.events[0]!.payload), '{"a":"А"}')
      assert.deepStrictEqual(state.asked, ["source"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("returns not_found when the source was switched off after it was looked up", () => {
    const { state, layer } = store()
    const stale = state.source!
    state.source = null
    return Effect.gen(function* () {
      const error = yield* Effect.flip(receive(yield* Intake, request(stale)))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "not_found")
    }).pipe(Effect.provide(layer))
  })

  it.effect("returns not_found for a forged request whose source was switched off since", () => {
    const { state, layer } = store()
    const verified: IntakeSource = {
      ...state.source!,
      verification: { recipe: "bearer", mode: "mark", hmac: null, secrets: ["old"] },
    }
    state.source = null
    return Effect.gen(function* () {
      const error = yield* Effect.flip(receive(yield* Intake, request(verified)))
      assert.strictEqual(error._tag === "IntakeError" && error.code, "not_found")
      assert.deepStrictEqual(state.appended, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("gives up with a message when the source keeps changing", () => {
    const { state, layer } = store()
    let tries = 0
    state.onAppend = () => {
      tries += 1
      state.source = { ...state.source!, version: state.source!.version + 1 }
      return undefined
    }
    return Effect.gen(function* () {
      const error = yield* Effect.flip(receive(yield* Intake, request(state.source!)))
      assert.deepInclude(error, { _tag: "StoreUnavailable", outcomeUnknown: false, retryAfter: 1 })
      assert.strictEqual(tries, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("never appends twice when the outcome of a commit is unknown", () => {
    const { state, layer } = store()
    let tries = 0
    state.onAppend = () => {
      tries += 1
      return new StoreUnavailable({ message: "lost", retryAfter: 3, outcomeUnknown: true })
    }
    return Effect.gen(function* () {
      const error = yield* Effect.flip(receive(yield* Intake, request(state.source!)))
      assert.deepInclude(error, { _tag: "StoreUnavailable", outcomeUnknown: true })
      assert.strictEqual(tries, 1)
    }).pipe(Effect.provide(layer))
  })
})

describe("Intake.accept", () => {
  it.effect("creates an event from JavaScript values, including long bigints", () => {
    const { state, layer } = store()
    return Effect.gen(function* () {
      const fields = { total: "12.50", n: 12345678901234567890n, at: new Date(0), nothing: undefined, list: [1, null] }
      const receipt = yield* (yield* Intake).accept(7, fields)
      assert.deepStrictEqual(receipt, { id: 1, repeatOf: null, empty: false })
      const [{ events, original }] = state.appended as [AcceptRequest]
      assert.isNull(original)
      assert.strictEqual(
        jsonText(events[0]!.payload),
        '{"total":"12.50","n":12345678901234567890,"at":"1970-01-01T00:00:00.000Z","list":[1,null]}',
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "appends to the current source when it changes, gives up when it keeps changing, and retries nothing else",
    () => {
      const { state, layer } = store()
      let tries = 0
      let changes = 1
      state.onAppend = () => {
        if (++tries > changes) return undefined
        state.source = { ...state.source!, version: state.source!.version + 1 }
        return new SourceChanged({ sourceId: 7 })
      }
      return Effect.gen(function* () {
        const intake = yield* Intake
        yield* intake.accept(7, { a: 1 })
        assert.deepStrictEqual([tries, state.appended.map(({ sourceVersion }) => sourceVersion)], [2, [2]])
        ;[tries, changes] = [0, 100]
        const error = yield* Effect.flip(intake.accept(7, { a: 1 }))
        assert.deepInclude(error, { _tag: "StoreUnavailable", outcomeUnknown: false, retryAfter: 1 })
        assert.strictEqual(tries, 4)
        tries = 0
        state.onAppend = () => {
          tries++
          return new StoreUnavailable({ message: "lost", retryAfter: 3, outcomeUnknown: true })
        }
        assert.deepInclude(yield* Effect.flip(intake.accept(7, { a: 1 })), { outcomeUnknown: true })
        assert.strictEqual(tries, 1)
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect("refuses values that JSON cannot express, and a source that does not exist", () => {
    const { layer } = store()
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    return Effect.gen(function* () {
      const intake = yield* Intake
      const codes: Array<unknown> = []
      for (const fields of [circle, [1] as unknown as Record<string, unknown>]) {
        codes.push(yield* Effect.flip(intake.accept(7, fields)))
      }
      codes.push(yield* Effect.flip(intake.accept(8, {})))
      assert.deepStrictEqual(
        codes.map((error) => (error as { readonly code: string }).code),
        ["bad_fields", "bad_fields", "not_found"],
      )
    }).pipe(Effect.provide(layer))
  })
})
