import { tokenFingerprint, writeToken } from "@data-cabinet/core/key/AccessToken"
import { keyFingerprint, writeKey } from "@data-cabinet/core/key/ApiKey"
import { Authenticate, type KeyHeaders, LiveKeyStore, ReaderTokenStore } from "@data-cabinet/core/key/Authenticate"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"

const KEY = writeKey(new Uint8Array(32).fill(7))
const OTHER = writeKey(new Uint8Array(32).fill(8))

let lookups = 0
const limit = { allowed: true, limit: 120, remaining: 119, retryAfter: 30 }
const found = { keyId: 5, ...limit }
const admission = Layer.mock(RateLimiter, {
  intake: () => Promise.reject(new Error("not asked")),
  key: async (fingerprint) => {
    lookups++
    return Result.succeed(Buffer.compare(fingerprint, keyFingerprint(KEY)) === 0 ? found : null)
  },
})

const READER = writeToken(new Uint8Array(32).fill(9), true)
const UPLOADER = writeToken(new Uint8Array(32).fill(10))
const tokens = Layer.succeed(ReaderTokenStore, {
  count: async (fingerprint) => {
    lookups++
    const is = (token: string) => Buffer.compare(fingerprint, tokenFingerprint(token)) === 0
    const role = is(READER) ? ("reader" as const) : is(UPLOADER) ? ("uploader" as const) : null
    return Result.succeed(role === null ? null : { ...limit, role, scope: { sources: new Set([1]), objects: [] } })
  },
})

const live = Layer.succeed(LiveKeyStore, {
  key: async (fingerprint) => Result.succeed(Buffer.compare(fingerprint, keyFingerprint(KEY)) === 0),
  token: async (fingerprint) => {
    const is = (token: string) => Buffer.compare(fingerprint, tokenFingerprint(token)) === 0
    const role = is(READER) ? ("reader" as const) : is(UPLOADER) ? ("uploader" as const) : null
    return Result.succeed(role === null ? null : { role, scope: { sources: new Set([2]), objects: [] } })
  },
})

const ask = (headers: Partial<KeyHeaders>): Promise<string> =>
  Effect.runPromise(
    Authenticate.use((authenticate) =>
      fromResult(() => authenticate.key({ authorization: undefined, xApiKey: undefined, ...headers }, 1_000)),
    ).pipe(
      Effect.match({ onSuccess: () => "in", onFailure: ({ message }) => message }),
      Effect.provide(Authenticate.layer.pipe(Layer.provide([admission, tokens, live]))),
    ),
  )

describe("Authenticate", () => {
  it("accepts a valid key from either header", async () => {
    assert.equal(await ask({ authorization: `Bearer ${KEY}` }), "in")
    assert.equal(await ask({ authorization: `BEARER ${KEY} ` }), "in")
    assert.equal(await ask({ xApiKey: KEY }), "in")
    assert.equal(await ask({ xApiKey: KEY, authorization: `Bearer ${KEY}` }), "in")
  })

  it("refuses two different headers, even if one of them is valid", async () => {
    assert.match(await ask({ xApiKey: OTHER, authorization: `Bearer ${KEY}` }), /different/)
    assert.match(await ask({ xApiKey: KEY, authorization: `Bearer ${OTHER}` }), /different/)
    assert.match(await ask({ xApiKey: KEY, authorization: "Basic abc" }), /different/)
  })

  it("reports wrong and revoked keys in the same way", async () => {
    assert.equal(await ask({ xApiKey: OTHER }), await ask({ xApiKey: "nonsense" }))
    assert.equal(await ask({ authorization: `Bearer ${OTHER}` }), "The API key is wrong or was revoked.")
  })

  it("accepts a token whose role may read, from either header, with its scope", async () => {
    assert.equal(await ask({ authorization: `Bearer ${READER}` }), "in")
    assert.equal(await ask({ xApiKey: READER }), "in")
    assert.match(await ask({ authorization: `Bearer ${UPLOADER}` }), /may not read/)
    assert.match(await ask({ xApiKey: KEY, authorization: `Bearer ${READER}` }), /different/)
    assert.equal(await ask({ xApiKey: writeToken(new Uint8Array(32).fill(11)) }), await ask({ xApiKey: OTHER }))
    const admitted = await Effect.runPromise(
      Authenticate.use((authenticate) =>
        fromResult(() => authenticate.key({ authorization: `Bearer ${READER}`, xApiKey: undefined }, 1_000)),
      ).pipe(Effect.provide(Authenticate.layer.pipe(Layer.provide([admission, tokens, live])))),
    )
    assert.deepEqual([...admitted.scope!.sources], [1])
  })

  it("returns the sender's current scope without a count", async () => {
    const again = (xApiKey: string) =>
      Effect.runPromise(
        Authenticate.use((authenticate) =>
          fromResult(() => authenticate.again({ authorization: undefined, xApiKey }, 1_000)),
        ).pipe(
          Effect.match({ onSuccess: (scope) => scope && [...scope.sources], onFailure: ({ message }) => message }),
          Effect.provide(Authenticate.layer.pipe(Layer.provide([admission, tokens, live]))),
        ),
      )
    const before = lookups
    assert.deepEqual(await again(KEY), null)
    assert.deepEqual(await again(READER), [2])
    assert.equal(await again(OTHER), "The API key is wrong or was revoked.")
    assert.match(String(await again(UPLOADER)), /may not read/)
    assert.equal(lookups, before)
  })

  it("returns nothing for an invalid key or a removed token", async () => {
    const again = (headers: Partial<KeyHeaders>) =>
      Effect.runPromise(
        Authenticate.use((authenticate) =>
          fromResult(() => authenticate.again({ authorization: undefined, xApiKey: undefined, ...headers }, 1_000)),
        ).pipe(
          Effect.match({ onSuccess: () => "in", onFailure: ({ message }) => message }),
          Effect.provide(Authenticate.layer.pipe(Layer.provide([admission, tokens, live]))),
        ),
      )
    assert.match(await again({}), /Send an API key/)
    const gone = { xApiKey: writeToken(new Uint8Array(32).fill(11), true) }
    assert.equal(await again(gone), "The API key is wrong or was revoked.")
  })

  it("knows a key whose last request was admitted, and no reader with a list", async () => {
    const recent = await Effect.runPromise(
      Effect.gen(function* () {
        const authenticate = yield* Authenticate
        const known: Array<boolean> = []
        for (const secret of [KEY, READER, OTHER]) {
          const headers = { authorization: `Bearer ${secret}`, xApiKey: undefined }
          known.push(authenticate.sender(headers).isRecent())
          yield* Effect.exit(fromResult(() => authenticate.sender(headers).key(1_000)))
          known.push(authenticate.sender(headers).isRecent())
        }
        return known
      }).pipe(Effect.provide(Authenticate.layer.pipe(Layer.provide([admission, tokens, live])))),
    )
    assert.deepEqual(recent, [false, true, false, false, false, false])
  })

  it("reports an unavailable store as such, not as a wrong key", async () => {
    const away = Result.fail(new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false }))
    const stores = [
      Layer.mock(RateLimiter, { key: async () => away, intake: async () => away }),
      Layer.succeed(ReaderTokenStore, { count: async () => away }),
      Layer.succeed(LiveKeyStore, { key: async () => away, token: async () => away }),
    ] as const
    for (const way of ["key", "again"] as const)
      for (const xApiKey of [KEY, READER]) {
        const failed = await Effect.runPromise(
          Authenticate.use((authenticate) =>
            Effect.promise<Result.Result<unknown, { readonly _tag: string }>>(() =>
              authenticate[way]({ authorization: undefined, xApiKey }, 1_000),
            ),
          ).pipe(Effect.provide(Authenticate.layer.pipe(Layer.provide([...stores])))),
        )
        assert.deepEqual(Result.isFailure(failed) && failed.failure._tag, "StoreUnavailable")
      }
  })

  it("asks for a missing key, and for Bearer instead of another scheme", async () => {
    assert.match(await ask({}), /Send an API key/)
    assert.match(await ask({ xApiKey: " " }), /Send an API key/)
    assert.match(await ask({ authorization: `Basic ${KEY}` }), /Bearer/)
    assert.match(await ask({ authorization: "" }), /Bearer/)
    assert.match(await ask({ authorization: `Basic, Bearer ${KEY}` }), /Bearer/)
    assert.match(await ask({ authorization: `Bearer ${KEY} ${KEY}` }), /Bearer/)
    assert.equal(await ask({ authorization: `Bearer   ${KEY}` }), "in")
  })

  it("does not query the database for a text that cannot be a key", async () => {
    lookups = 0
    await ask({ xApiKey: "dck_short" })
    await ask({ authorization: `Bearer ${KEY}x` })
    await ask({ xApiKey: "' OR 1=1" })
    assert.equal(lookups, 0)
  })

  it.effect.prop(
    "looks up every key of writeKey",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(32))],
    ([bytes]) =>
      Effect.promise(async () => {
        lookups = 0
        await ask({ xApiKey: writeKey(Uint8Array.from({ length: 32 }, (_, i) => bytes[i] ?? 255)) })
        assert.equal(lookups, 1)
      }),
    { arbitrary: { runs: 100 } },
  )
})
