/** Who may be added and changed, which link or password signs a person in, and whom an identity provider brings. */
import { scryptSync } from "node:crypto"
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import type { PersonRole } from "@data-cabinet/core/key/Role"
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { verifyPassword } from "@data-cabinet/core/person/Password"
import { invite, People } from "@data-cabinet/core/person/People"
import type { LiveSession, Person } from "@data-cabinet/core/person/Person"
import { type Changed, type ExternalIdentity, PersonStore } from "@data-cabinet/core/person/PersonStore"
import { secretFingerprint } from "@data-cabinet/core/person/Secret"
import { SessionStore } from "@data-cabinet/core/person/SessionStore"
import { Effect, Layer, Option, Result } from "effect"
import { expect, it } from "vitest"
import { ADA } from "./examplePerson.ts"
import { RateWindows } from "@data-cabinet/core/limit/RateLimiter"

const SESSION: LiveSession = {
  id: 8,
  personId: 3,
  personName: "Ada",
  role: "owner",
  method: "password",
  createdAt: "2026-11-26T10:00:00Z",
  lastSeenAt: "2026-11-26T10:00:00Z",
  ageSeconds: 900,
  isSelfIssued: false,
  expiresAt: "2026-12-26T10:00:00Z",
  client: null,
  userAgent: null,
}
const PASSWORD = "a long walk at dusk"

/** The stored form of a password, with parameters that are quick to compute. */
const kept = (password: string) => {
  const hash = scryptSync(password, "salt", 32, { N: 2, r: 1, p: 1 }).toString("base64url")
  return `scrypt$1$1$1$${Buffer.from("salt").toString("base64url")}$${hash}`
}

/** A store with one person or none, which records what it is asked to store. */
const over = (person: Person | null, result: Changed | null = person) => {
  const state = {
    password: kept(PASSWORD) as string | null,
    /** The person who now has the name. */
    holder: person,
    isGone: false,
    known: null as Person | null,
    kept: [] as Array<ReadonlyArray<unknown>>,
    log: [] as Array<unknown>,
    /** Attempts at the current password. */
    attempts: [] as Array<string>,
  }
  const keep = <A>(what: ReadonlyArray<unknown>, answer: A) =>
    Effect.sync(() => {
      state.kept.push(what)
      return answer
    })
  const ports = Layer.mergeAll(
    Layer.mock(PersonStore, {
      list: () => Effect.succeed([]),
      add: (added) => keep(["add", added], result === "name_taken" ? result : person!),
      find: () => Effect.succeed(Option.fromNullishOr(person)),
      byName: () =>
        Effect.sync(() =>
          state.holder === null
            ? Option.none()
            : Option.some({ person: state.holder, password: state.password, knownFrom: null }),
        ),
      change: (id, change) => keep(["change", id, change], result!),
      remove: (id) => keep(["remove", id], result!),
      setPassword: (id, password) => keep(["password", id, password], true),
      setLink: (id, fingerprint, seconds) =>
        keep(["link", id, fingerprint, seconds], state.isGone ? Option.none() : Option.some("2026-11-27T09:00:00Z")),
      findExternal: () => Effect.sync(() => Option.fromNullishOr(state.known)),
      saveExternal: (identity) => keep(["external", identity], person!),
    }),
    Layer.mock(SessionStore, { endAll: (personId, butId) => keep(["end", personId, butId], 1) }),
    Layer.succeed(RateWindows, {
      count: (subject, limit) =>
        Effect.sync(() => {
          state.attempts.push(subject)
          return { allowed: state.attempts.length <= limit, limit, remaining: 0, retryAfter: 42 }
        }),
    }),
    Layer.succeed(AuditLog, {
      begin: (intent) => Effect.sync(() => (state.log.push(intent), { id: 5, at: ADA.createdAt })),
      end: (_entry, outcome, object) => Effect.sync(() => void state.log.push({ outcome, object })),
      list: () => Effect.succeed([]),
    }),
  )
  const run = async <A, E>(work: (people: People["Service"]) => Effect.Effect<A, E>): Promise<A | E> => {
    const done = await Effect.runPromise(
      Effect.result(People.use(work)).pipe(Effect.provide(Layer.provide(People.layer, ports))),
    )
    return Result.isSuccess(done) ? done.success : done.failure
  }
  return { state, run, layer: Layer.provide(People.layer, ports) }
}

it("People stores a normalized and trimmed name", async () => {
  const { state, run } = over(ADA)
  expect(await run((people) => people.add({ name: " Zoe\u0308 ", role: "viewer" }))).toBe(ADA)
  expect(await run((people) => people.set(3, { name: " Zoe\u0308 ", role: "viewer" }))).toBe(ADA)
  expect(await run((people) => people.set(3, {}))).toBe(ADA)
  expect(state.kept).toEqual([
    ["add", { name: "Zo\u00eb", role: "viewer" }],
    ["change", 3, { name: "Zo\u00eb", role: "viewer" }],
    ["change", 3, { name: undefined, role: undefined }],
  ])
})

it.each(["", " ", "x".repeat(101), "A\0da", "A\nda", "A\u202eda", "A\u2028da", "A\ud800da"])(
  "People refuses a name that cannot be shown or distinguished: %j",
  async (name) => {
    const { state, run } = over(ADA)
    expect(await run((people) => people.add({ name, role: "viewer" }))).toMatchObject({ code: "bad_name" })
    expect(await run((people) => people.set(3, { name }))).toMatchObject({ code: "bad_name" })
    const identity = { issuer: "proxy", subject: "s", name, role: "viewer", follow: true } as const
    expect(await run((people) => people.resolveExternal(identity))).toMatchObject({ code: "bad_name" })
    expect(state.kept).toEqual([])
  },
)

it("People accepts a name of a hundred characters", async () => {
  const { run } = over(ADA)
  expect(await run((people) => people.add({ name: ` ${"x".repeat(100)}`, role: "viewer" }))).toBe(ADA)
})

it("People refuses a role that is not for people", async () => {
  const { state, run } = over(ADA)
  for (const role of ["admin", "reader", "uploader", ""].map((one) => one as PersonRole)) {
    expect(await run((people) => people.add({ name: "Bob", role }))).toMatchObject({ code: "bad_role" })
    expect(await run((people) => people.set(3, { role }))).toMatchObject({ code: "bad_role" })
    const identity = { issuer: "proxy", subject: "s", name: "Bob", role, follow: true } as const
    expect(await run((people) => people.resolveExternal(identity))).toMatchObject({ code: "bad_role" })
  }
  expect(state.kept).toEqual([])
})

it.each<[Changed, string]>([
  ["missing", "no_such_person"],
  ["name_taken", "name_taken"],
  ["last_owner", "last_owner"],
])("People refuses a change when the store reports %s", async (result, code) => {
  const { run } = over(ADA, result)
  expect(await run((people) => people.set(3, { role: "viewer" }))).toMatchObject({ code })
  expect(await run((people) => people.remove(3))).toMatchObject({ code })
})

it("People refuses a name that is in use, and every call about an unknown person", async () => {
  expect(await over(ADA, "name_taken").run((people) => people.add({ name: "Ada", role: "viewer" }))).toMatchObject({
    code: "name_taken",
  })
  const none = over(null)
  expect(await none.run((people) => people.get(3))).toMatchObject({ code: "no_such_person" })
  expect(await none.run((people) => people.link(3))).toMatchObject({ code: "no_such_person" })
  expect(await over(ADA).run((people) => people.get(3))).toBe(ADA)
})

it.each([
  [null, 86_400],
  ["2026-11-26T09:30:00Z", 600],
])("People creates a link and keeps only its fingerprint; after a sign-in at %s, for %i s", async (at, seconds) => {
  const { state, run } = over({ ...ADA, signedInAt: at })
  const made = await run((people) => people.link(3))
  if (!("secret" in made)) throw made
  expect(made.secret).toMatch(/^dcl_/)
  expect(made).toMatchObject({ person: { id: 3, linkExpiresAt: made.expiresAt }, expiresAt: "2026-11-27T09:00:00Z" })
  expect(state.kept).toEqual([["link", 3, secretFingerprint("link", made.secret), seconds]])
})

it("People issues no link to a person of an identity provider, nor to one removed meanwhile", async () => {
  const foreign = over({ ...ADA, issuer: "oidc" })
  expect(await foreign.run((people) => people.link(3))).toMatchObject({ code: "foreign_person" })
  expect(foreign.state.kept).toEqual([])
  const { state, run } = over(ADA)
  state.isGone = true
  expect(await run((people) => people.link(3))).toMatchObject({ code: "no_such_person" })
})

it("invite adds a person, with their first link", async () => {
  const { state, run } = over(ADA)
  expect(await run((people) => invite(people, { name: "Ada", role: "owner" }))).toMatchObject({ person: { id: 3 } })
  expect(state.kept.map(([what]) => what)).toEqual(["add", "link"])
})

const NEW_PASSWORD = "another walk at dawn"

it("People sets a password given the current one, and ends the person's other sessions", async () => {
  const { state, run } = over(ADA)
  expect(await run((people) => people.setPassword(SESSION, NEW_PASSWORD, PASSWORD))).toBeUndefined()
  expect(state.kept).toEqual([
    ["password", 3, expect.stringMatching(/^scrypt\$15\$/)],
    ["end", 3, 8],
  ])
  expect(await Effect.runPromise(verifyPassword(NEW_PASSWORD, state.kept[0]![2] as string))).toBe(true)
})

it.each<[string, Partial<LiveSession>, string | null]>([
  ["a wrong one", {}, "something else entirely"],
  ["none", {}, null],
  ["none, in a session by an identity provider", { method: "oidc" }, null],
  ["none, a quarter of an hour after a sign-in by link", { method: "link", ageSeconds: 900 }, null],
  ["none, after a sign-in by their own link", { method: "link", ageSeconds: 0, isSelfIssued: true }, null],
])("People sets no password when the previous one is required and there is %s", async (_, session, current) => {
  const { state, run } = over(ADA)
  expect(await run((people) => people.setPassword({ ...SESSION, ...session }, NEW_PASSWORD, current))).toMatchObject({
    code: "wrong_password",
  })
  expect(state.kept).toEqual([])
})

it("People counts guesses at the current password per person, and refuses those over the limit", async () => {
  const { state, run } = over(ADA)
  const guess = (session: LiveSession) => run((people) => people.setPassword(session, NEW_PASSWORD, "a wrong guess"))
  for (let n = 0; n < 5; n++) expect(await guess({ ...SESSION, id: n })).toMatchObject({ code: "wrong_password" })
  expect(await run((people) => people.setPassword(SESSION, NEW_PASSWORD, PASSWORD))).toMatchObject({
    code: "rate_limited",
    retryAfter: 42,
  })
  expect(new Set(state.attempts)).toEqual(new Set(["signin:current:3"]))
  expect(state.kept).toEqual([])
})

it("People sets a first or forgotten password without the current one, soon after a sign-in by link", async () => {
  const first = over(ADA)
  first.state.password = null
  const forgotten = over(ADA)
  const fresh = { ...SESSION, method: "link", ageSeconds: 899 } as const
  await Promise.all([
    first.run((people) => people.setPassword(SESSION, NEW_PASSWORD, null)),
    forgotten.run((people) => people.setPassword(fresh, NEW_PASSWORD, null)),
  ])
  for (const { state } of [first, forgotten]) expect(state.kept.map(([what]) => what)).toEqual(["password", "end"])
})

it("People refuses a weak password, and a password for another person who now has the name", async () => {
  const { state, run } = over(ADA)
  const set = (password: string) => run((people) => people.setPassword(SESSION, password, PASSWORD))
  expect(await set("short")).toMatchObject({ code: "bad_password" })
  expect(await set("Ada12Ada34Ada")).toMatchObject({ code: "bad_password" })
  for (const holder of [{ ...ADA, id: 4 }, null]) {
    state.holder = holder
    expect(await set(NEW_PASSWORD)).toMatchObject({ code: "no_such_person" })
  }
  expect(state.kept).toEqual([])
})

const IDENTITY: ExternalIdentity = { issuer: "oidc", subject: "s", name: " Ada ", role: "owner", follow: true }
const KNOWN: Person = { ...ADA, issuer: "oidc" }

const resolved = async (known: Person | null, change: Partial<ExternalIdentity>, saved: Person = KNOWN) => {
  const { state, layer } = over(saved)
  state.known = known
  const found = await Effect.runPromise(
    People.use((people) => people.resolveExternal({ ...IDENTITY, ...change })).pipe(
      Effect.provide(layer),
      Effect.provideService(CurrentActor, {
        kind: "person",
        id: null,
        name: "Ada",
        role: "owner",
        from: null,
        requestId: null,
      }),
    ),
  )
  return { found: Option.getOrNull(found), kept: state.kept, log: state.log }
}

it("People recognizes a person of an issuer, and writes nothing unless something changed", async () => {
  for (const change of [{}, { follow: false, name: "Bob", role: "viewer" }] as const) {
    expect(await resolved(KNOWN, change)).toEqual({ found: KNOWN, kept: [], log: [] })
  }
})

it("People updates name and role from the issuer, as an audited act", async () => {
  for (const change of [{ name: "Bob" }, { role: "viewer" }] as const) {
    const { found, kept: saved, log } = await resolved(KNOWN, change)
    expect(found).toBe(KNOWN)
    expect(saved).toEqual([["external", { ...IDENTITY, name: "Ada", ...change }]])
    expect(log).toMatchObject([
      {
        action: "person.vouch",
        object: "person 3",
        changes: { issuer: "oidc", name: "Ada", role: "owner", ...change },
      },
      { outcome: "done" },
    ])
  }
})

it("People creates an unknown person of an issuer, as that person's own act", async () => {
  const { found, log } = await resolved(null, {})
  expect(found).toBe(KNOWN)
  expect(log).toMatchObject([
    { action: "person.vouch", object: null },
    { outcome: "done", object: "person 3" },
  ])
})

it("People admits no removed person, even if removed a moment ago", async () => {
  const removed = { ...KNOWN, removedAt: "2026-11-26T09:00:00Z" }
  expect(await resolved(removed, { role: "viewer" })).toEqual({ found: null, kept: [], log: [] })
  expect(await resolved(null, {}, removed)).toMatchObject({ found: null })
})
