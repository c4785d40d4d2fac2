/** Who can sign in, with what, and how often they may try; over stores in memory. */
import { scryptSync } from "node:crypto"
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { MAX_PASSWORD_LENGTH } from "@data-cabinet/core/person/Password"
import type { Person, SignInOrigin, StartedSession } from "@data-cabinet/core/person/Person"
import { notSignedIn, type SignInError } from "@data-cabinet/core/person/PersonError"
import { PersonStore } from "@data-cabinet/core/person/PersonStore"
import { newSecret, secretFingerprint } from "@data-cabinet/core/person/Secret"
import { type NewSession, SessionStore } from "@data-cabinet/core/person/SessionStore"
import { SignInRates } from "@data-cabinet/core/person/AttemptCounts"
import { SignIn } from "@data-cabinet/core/person/SignIn"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { ADA } from "./examplePerson.ts"
import { RateWindows } from "@data-cabinet/core/limit/RateLimiter"

const EDITOR: Person = { ...ADA, role: "editor" }
const HOME: SignInOrigin = { client: "203.0.113.9", userAgent: "Firefox", requestId: "r1", browser: null }
const from = (client: string | null): SignInOrigin => ({ ...HOME, client })
const LINK = newSecret("link")
const PASSWORD = "a long walk at dusk"

/** The stored form of a password, with parameters that are quick to compute. */
const kept = (password: string) => {
  const hash = scryptSync(password, "salt", 32, { N: 2, r: 1, p: 1 }).toString("base64url")
  return `scrypt$1$1$1$${Buffer.from("salt").toString("base64url")}$${hash}`
}

/** A cabinet with Ada, which records what is requested of it. */
const cabinet = () => {
  const state = {
    password: kept(PASSWORD) as string | null,
    knownFrom: null as string | null,
    isLinkUsed: false,
    isPersonGone: false,
    /** The counts of other processes. */
    refused: null as string | null,
    counted: [] as Array<string>,
    names: [] as Array<string>,
    links: 0,
    begun: [] as Array<NewSession & { readonly personId: number }>,
    log: [] as Array<unknown>,
  }
  const counts = new Map<string, number>()
  const begin = (personId: number, session: NewSession) =>
    Effect.sync(() => {
      if (state.isPersonGone) return Option.none()
      state.begun.push({ personId, ...session })
      const times = {
        createdAt: EDITOR.createdAt,
        lastSeenAt: EDITOR.createdAt,
        expiresAt: EDITOR.createdAt,
        ageSeconds: 0,
        isSelfIssued: false,
      }
      const { method, client, userAgent } = session
      return Option.some({ id: 8, personId, personName: "Ada", role: EDITOR.role, method, client, userAgent, ...times })
    })
  const ports = Layer.mergeAll(
    Layer.mock(PersonStore, {
      byName: (name) =>
        Effect.sync(() => {
          state.names.push(name)
          const { password, knownFrom } = state
          return name.toLowerCase() === "ada" ? Option.some({ person: EDITOR, password, knownFrom }) : Option.none()
        }),
      byLink: (link) =>
        Effect.sync(() => {
          state.links++
          return Buffer.compare(link, secretFingerprint("link", LINK)!) === 0 ? Option.some(EDITOR) : Option.none()
        }),
    }),
    Layer.mock(SessionStore, {
      begin,
      claim: (_link, session) => (state.isLinkUsed ? Effect.succeedNone : begin(EDITOR.id, session)),
    }),
    Layer.succeed(AuditLog, {
      begin: (intent) => Effect.sync(() => (state.log.push(intent), { id: 5, at: EDITOR.createdAt })),
      end: (_entry, outcome, object) => Effect.sync(() => void state.log.push({ outcome, object })),
      list: () => Effect.succeed([]),
    }),
    Layer.succeed(RateWindows, {
      count: (subject, limit) =>
        Effect.sync(() => {
          state.counted.push(subject)
          const count = (counts.get(subject) ?? 0) + 1
          counts.set(subject, count)
          const allowed = count <= limit && state.refused !== subject
          return { allowed, limit, remaining: 0, retryAfter: 42 }
        }),
    }),
    Layer.succeed(SignInRates, { address: 6, account: 3, links: 2, redirects: 4 }),
  )
  return { state, layer: Layer.provide(SignIn.layer, ports) }
}

type Way = (signIn: SignIn["Service"]) => Effect.Effect<StartedSession, SignInError | { readonly _tag: string }>

/** `in`, or the reason for the refusal. */
const outcome = (way: Way) =>
  SignIn.use((signIn) => Effect.result(way(signIn))).pipe(
    Effect.map((result) => (Result.isSuccess(result) ? "in" : result.failure)),
  )

const link =
  (secret = LINK, origin = HOME): Way =>
  (signIn) =>
    signIn.byLink(secret, origin)
const password =
  (name: string, given: string, origin = HOME): Way =>
  (signIn) =>
    signIn.byPassword(name, given, origin)

const isLimited = (of: unknown, retryAfter: number) =>
  assert.deepInclude(of as object, { code: "rate_limited", retryAfter })

it.effect(
  "SignIn begins a session that is stored by the fingerprint of its secret, and logged as an act of its person",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const started = yield* SignIn.use((signIn) => signIn.byLink(` ${LINK}\n`, HOME)).pipe(Effect.provide(layer))
    assert.match(started.secret, /^dcs_/)
    assert.deepStrictEqual(state.begun, [
      {
        personId: 3,
        fingerprint: secretFingerprint("session", started.secret)!,
        method: "link",
        client: "203.0.113.9",
        userAgent: "Firefox",
        knownFrom: "ip:203.0.113.9",
      },
    ])
    const actor = { kind: "person", id: 3, name: "Ada", role: "editor", from: "203.0.113.9", requestId: "r1" }
    assert.deepStrictEqual(state.log, [
      { actor, action: "session.begin", object: null, changes: { method: "link" } },
      { outcome: "done", object: "session 8" },
    ])
    assert.notInclude(JSON.stringify(state.log), LINK)
  }),
)

it.effect(
  "SignIn refuses a wrong, used or malformed link alike, and looks up no malformed one",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      for (const secret of ["", "dcl_", newSecret("session")]) {
        assert.strictEqual(yield* outcome(link(secret)), notSignedIn)
      }
      assert.strictEqual(state.links, 0)
      assert.strictEqual(yield* outcome(link(newSecret("link"))), notSignedIn)
      state.isLinkUsed = true
      assert.strictEqual(yield* outcome(link()), notSignedIn)
      assert.deepStrictEqual(state.begun, [])
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn accepts only the exact password, but any spelling of the name",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* outcome(password(" ADA ", PASSWORD)), "in")
      assert.strictEqual(yield* outcome(password("Ada", `${PASSWORD} `)), notSignedIn)
      state.password = null
      assert.strictEqual(yield* outcome(password("Ada", "", from("192.0.2.1"))), notSignedIn)
      yield* outcome(password("Zoe\u0308", "x", from("192.0.2.2")))
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(state.names, ["ADA", "Ada", "Ada", "Zo\u00eb"])
    assert.deepStrictEqual(
      state.begun.map(({ personId, method }) => [personId, method]),
      [[3, "password"]],
    )
  }),
)

it.effect(
  "SignIn refuses a right password of a person removed meanwhile",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    state.isPersonGone = true
    assert.strictEqual(yield* Effect.provide(outcome(password("Ada", PASSWORD)), layer), notSignedIn)
    assert.deepInclude(state.log[1] as object, { outcome: "not_signed_in", object: null })
  }),
)

it.effect(
  "SignIn refuses an unknown name as it does a wrong password, and logs neither",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    assert.strictEqual(yield* Effect.provide(outcome(password("a secret by mistake", PASSWORD)), layer), notSignedIn)
    assert.deepInclude(state.log[0] as object, {
      actor: { kind: "person", id: null, name: "unknown", role: "viewer", from: "203.0.113.9", requestId: "r1" },
    })
    assert.notMatch(JSON.stringify([state.log, state.counted]), /mistake|walk/)
  }),
)

it.effect(
  "SignIn looks up no impossible name",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      for (const [n, name] of ["x".repeat(101), "A\0", "A\ud800"].entries()) {
        assert.strictEqual(yield* outcome(password(name, "x", from(`192.0.2.${n}`))), notSignedIn)
      }
      assert.deepStrictEqual(state.names, [])
      yield* outcome(password("x".repeat(100), "x", from("192.0.2.9")))
      assert.deepStrictEqual(state.names, ["x".repeat(100)])
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn hashes no text that is longer than a password can be",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const longest = "🐱".repeat(MAX_PASSWORD_LENGTH)
    yield* Effect.gen(function* () {
      state.password = kept(longest)
      assert.strictEqual(yield* outcome(password("Ada", longest)), "in")
      state.password = kept(`${longest}x`)
      assert.strictEqual(yield* outcome(password("Ada", `${longest}x`)), notSignedIn)
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn refuses passwords from an address that tries too often until the next minute, without a lookup",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(15_000)
      for (let n = 0; n < 6; n++) yield* outcome(password(`nobody ${n}`, "wrong"))
      const asked = state.counted.length
      isLimited(yield* outcome(password("Ada", PASSWORD)), 45)
      assert.strictEqual(state.counted.length, asked)
      assert.strictEqual(yield* outcome(link()), "in")
      yield* TestClock.setTime(60_000)
      assert.strictEqual(yield* outcome(password("Ada", PASSWORD, from("192.0.2.1"))), "in")
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn refuses passwords from an address that has tried too often in other processes before it looks for anything",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    state.refused = "signin:ip:203.0.113.9"
    yield* Effect.gen(function* () {
      isLimited(yield* outcome(password("Ada", PASSWORD)), 42)
      const identify = Effect.die(new Error("identified"))
      isLimited(yield* outcome((signIn) => signIn.byProvider(identify, HOME)), 42)
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual([state.links, state.names, state.log], [0, [], []])
  }),
)

it.effect(
  "SignIn limits the redirects to a provider by address and by known browser, apart from attempts",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const known: SignInOrigin = { ...HOME, browser: { personId: EDITOR.id, id: "B".repeat(22) } }
    let redirects = 0
    const redirect = (origin: SignInOrigin) =>
      SignIn.use((signIn) =>
        Effect.result(
          signIn.toProvider(
            Effect.sync(() => ++redirects),
            origin,
          ),
        ),
      )
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(15_000)
      for (const origin of [HOME, known]) {
        for (let n = 0; n < 4; n++) assert.isTrue(Result.isSuccess(yield* redirect(origin)))
      }
      const asked = state.counted.length
      const refused = yield* redirect(HOME)
      assert.deepInclude(Result.isFailure(refused) && refused.failure, { code: "rate_limited", retryAfter: 45 })
      assert.strictEqual(state.counted.length, asked)
      assert.isTrue(Result.isFailure(yield* redirect(known)))
      assert.strictEqual(redirects, 8)
      assert.isTrue(Result.isSuccess(yield* redirect(from("192.0.2.1"))))
      assert.strictEqual(yield* outcome(password("Ada", PASSWORD)), "in")
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn limits stray returns from a provider by address and by known browser, apart from attempts",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const known: SignInOrigin = { ...HOME, browser: { personId: EDITOR.id, id: "B".repeat(22) } }
    const stray = (origin: SignInOrigin) => SignIn.use((signIn) => Effect.result(signIn.strayReturn(origin)))
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(15_000)
      for (const origin of [HOME, known]) {
        for (let n = 0; n < 4; n++) assert.isTrue(Result.isSuccess(yield* stray(origin)))
      }
      const asked = state.counted.length
      const refused = yield* stray(HOME)
      assert.deepInclude(Result.isFailure(refused) && refused.failure, { code: "rate_limited", retryAfter: 45 })
      assert.strictEqual(state.counted.length, asked)
      assert.isTrue(Result.isFailure(yield* stray(known)))
      assert.isTrue(Result.isSuccess(yield* stray(from("192.0.2.1"))))
      // Any page can make a browser return from a provider, so other people at its address can still sign in.
      assert.strictEqual(yield* outcome(password("Ada", PASSWORD)), "in")
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn queues the lookup of a link from an address that sent many wrong ones",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      const wrong = Array.from({ length: 12 }, () => outcome(link(newSecret("link"))))
      const all = yield* Effect.forkChild(Effect.all([...wrong, outcome(link())], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 second")
      const outcomes = yield* Fiber.join(all)
      assert.deepStrictEqual(
        outcomes.slice(0, -1),
        Array.from(wrong, () => notSignedIn),
      )
      assert.strictEqual(outcomes.at(-1), "in")
      assert.strictEqual(state.links, 13)
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn counts a person's known browser separately when its address and the account are flooded",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const known: SignInOrigin = { ...HOME, browser: { personId: EDITOR.id, id: "B".repeat(22) } }
    yield* Effect.gen(function* () {
      for (let n = 0; n < 7; n++) yield* outcome(password("Ada", "wrong"))
      isLimited(yield* outcome(password("Ada", PASSWORD)), 60)
      assert.strictEqual(yield* outcome(password("Ada", PASSWORD, known)), "in")
      assert.strictEqual(state.counted.at(-1), `signin:browser:${"B".repeat(22)}`)
      assert.strictEqual(yield* outcome(password("Ada", "wrong", known)), notSignedIn)
      assert.strictEqual(yield* outcome(password("Ada", "wrong", known)), notSignedIn)
      isLimited(yield* outcome(password("Ada", PASSWORD, known)), 42)
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn counts a browser of another person as a stranger to this account",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const other = (n: number): SignInOrigin => ({
      ...from(`192.0.2.${n}`),
      browser: { personId: 99, id: `${n}`.padEnd(22, "C") },
    })
    yield* Effect.gen(function* () {
      for (let n = 0; n < 3; n++) assert.strictEqual(yield* outcome(password("Ada", "wrong", other(n))), notSignedIn)
      isLimited(yield* outcome(password("Ada", PASSWORD, other(3))), 42)
    }).pipe(Effect.provide(layer))
    assert.include(state.counted, "signin:ip:192.0.2.0")
  }),
)

it.effect(
  "SignIn limits guesses at an account from all addresses, ignoring the case of the name, and strangers' separately",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    state.knownFrom = "ip:203.0.113.9"
    yield* Effect.gen(function* () {
      for (const [n, name] of ["Ada", "ADA", "ada"].entries()) {
        assert.strictEqual(yield* outcome(password(name, "wrong", from(`192.0.2.${n}`))), notSignedIn)
      }
      isLimited(yield* outcome(password("Ada", PASSWORD, from("192.0.2.9"))), 42)
      isLimited(yield* outcome(password("Ada", PASSWORD, from(null))), 42)
      assert.strictEqual(yield* outcome(password("Ada", PASSWORD)), "in")
      assert.match(state.counted.at(-1)!, /^signin:account:[\w-]{22}:own$/)
      assert.strictEqual(yield* outcome(password("Ada", "wrong")), notSignedIn)
      assert.strictEqual(yield* outcome(password("Ada", "wrong")), notSignedIn)
      isLimited(yield* outcome(password("Ada", PASSWORD)), 42)
      assert.strictEqual(yield* outcome(link()), "in")
    }).pipe(Effect.provide(layer))
  }),
)

it.effect(
  "SignIn counts requests without an address together, and never as the person's own address",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    yield* Effect.gen(function* () {
      for (let n = 0; n < 3; n++) yield* outcome(password("Ada", "wrong", from(null)))
      isLimited(yield* outcome(password("Ada", PASSWORD, from("192.0.2.1"))), 42)
      assert.strictEqual(yield* outcome(link(LINK, from(null))), "in")
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      state.begun.map(({ client, knownFrom }) => [client, knownFrom]),
      [[null, null]],
    )
    assert.include(state.counted, "signin:ip:unknown")
  }),
)

it.effect(
  "SignIn keeps a storable browser name of at most 300 characters",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const origins = [`A\0\ud800${"x".repeat(400)}`, null].map((userAgent) => ({ ...HOME, userAgent }))
    yield* Effect.forEach(origins, (origin) => outcome(link(LINK, origin))).pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      state.begun.map(({ userAgent }) => userAgent),
      [`A\ufffd${"x".repeat(298)}`, null],
    )
  }),
)

it.effect(
  "SignIn admits a person that a provider has identified, and no other",
  Effect.fn(function* () {
    const { state, layer } = cabinet()
    const no = { _tag: "ProviderFailure" }
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* outcome((signIn) => signIn.byProvider(Effect.succeed(EDITOR), HOME)), "in")
      assert.strictEqual(yield* outcome((signIn) => signIn.byProvider(Effect.fail(no), HOME)), no)
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      state.begun.map(({ personId, method }) => [personId, method]),
      [[3, "oidc"]],
    )
    assert.deepInclude(state.log[0] as object, { action: "session.begin", changes: { method: "oidc" } })
  }),
)

it("SignIn allows ten attempts a minute per address and five per account by default", () => {
  assert.deepStrictEqual(Effect.runSync(Effect.service(SignInRates)), {
    address: 10,
    account: 5,
    links: 60,
    redirects: 30,
  })
})
