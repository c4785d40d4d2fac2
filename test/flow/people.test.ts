/**
 * People in a real cabinet: links sign in once, every failed sign-in gets the same response, sessions end everywhere at once,
 * and pages of other origins change nothing.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { Passwords } from "@data-cabinet/core/person/Password"

const PASSWORD = "violet kettle 47 orbit"

let database: TestDatabase
let cabinet: Cabinet
let server: Server
let base: string
let token: string

const listen = async (handler: Cabinet["nodeHandler"]) => {
  const created = createServer(handler)
  await new Promise<void>((resolve) => created.listen(0, "127.0.0.1", resolve))
  return [created, `http://127.0.0.1:${(created.address() as AddressInfo).port}`] as const
}

beforeAll(async () => {
  database = await testDatabase()
  cabinet = await openCabinet({ databaseUrl: database.url, delivery: false, trustedProxies: ["127.0.0.1"] })
  ;[server, base] = await listen(cabinet.nodeHandler)
  token = (await cabinet.tokens.create({ name: "admin", role: "owner" })).token
})
afterAll(async () => {
  server.close()
  await cabinet.close()
  await database.drop()
})

let clients = 0
/** Each person has a separate address, so that nobody uses up another's attempts. */
const from = (at = base, address = `198.51.${++clients >> 8}.${clients & 255}`): Visitor =>
  visitor(at, { "x-forwarded-for": address })

const admin = (method: string, path: string, body?: unknown) =>
  from().manage(method, path, body, { authorization: `Bearer ${token}` })

const invite = async (name: string, role = "viewer") => {
  const invited = await admin("POST", "people", { name, role })
  assert.strictEqual(invited.status, 201, invited.text)
  const secret = (invited.json.link as string).split("#")[1]!
  return { id: invited.json.id as number, link: invited.json.link as string, secret }
}

const signedIn = async (name: string, role = "viewer", at = base) => {
  const invited = await invite(name, role)
  const who = from(at)
  const claimed = await who.post("/console/welcome", { link: invited.link })
  assert.strictEqual(claimed.status, 303, claimed.text)
  return { ...invited, who }
}

it("an invitation signs in once, with a cookie that scripts cannot read, and is indistinguishable afterwards", async () => {
  const { secret, link, who } = await signedIn("Ada", "editor")
  assert.match(link, /\/console\/welcome#dcl_[\w-]{43}$/)
  const me = await who.manage("GET", "me")
  assert.deepInclude(me.json, { kind: "person", name: "Ada", role: "editor" })
  assert.strictEqual(me.json.session.method, "link")
  assert.strictEqual(me.headers.get("x-ratelimit-limit"), "1200")

  const expired = await invite("Late")
  await database.run(`UPDATE cabinet.sign_in_link SET expires_at = cabinet.now() WHERE person_id = ${expired.id}`)
  const replaced = await invite("Replaced")
  await admin("POST", `people/${replaced.id}/link`)
  const answers = []
  for (const wrong of [secret, expired.secret, replaced.secret, `dcl_${"A".repeat(43)}`, "nonsense", ""]) {
    const { status, text, headers } = await from().post("/console/welcome", { link: wrong })
    answers.push([status, text, headers.get("set-cookie")])
  }
  assert.strictEqual(answers[0]![0], 403)
  for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
})

it("of two concurrent uses of one link, one signs in", async () => {
  const { secret } = await invite("Twice")
  const all = await Promise.all([1, 2, 3, 4].map(() => from().post("/console/welcome", { link: secret })))
  assert.deepStrictEqual(
    all.map(({ status }) => status).sort((one, other) => one - other),
    [303, 403, 403, 403],
  )
})

it("a password signs in by name in any case; a wrong name, a wrong password and none set get one response", async () => {
  const { who } = await signedIn("Boris", "owner")
  assert.strictEqual((await who.manage("POST", "me/password", { password: PASSWORD })).status, 204)
  await signedIn("Nina")
  const right = from()
  const signed = await right.post("/console/sign-in", { name: " BORIS ", password: PASSWORD, to: "/console/me?x=1" })
  assert.deepStrictEqual([signed.status, signed.headers.get("location")], [303, "/console/me?x=1"])
  assert.strictEqual((await right.manage("GET", "me")).json.session.method, "password")
  const sent = [
    ["Boris", "wrong horse battery"],
    ["Nobody", PASSWORD],
    ["Nina", PASSWORD],
    ["Nina", ""],
    ["\0", PASSWORD],
    ["Boris", "x".repeat(5000)],
  ]
  const answers = []
  for (const [name, password] of sent) {
    const { status, text, headers } = await from().post("/console/sign-in", { name: name!, password: password! })
    answers.push([status, text.replace(/value="[^"]*"/, ""), headers.get("set-cookie")])
  }
  for (const answer of answers) assert.deepStrictEqual(answer.slice(0, 1), [403])
  assert.strictEqual(new Set(answers.map(([, text]) => String(text).replace(/name="name" value="[^"]*"/, ""))).size, 1)
})

it("no sign-in redirects out of the console", async () => {
  for (const to of ["https://evil.example/", "//evil.example", "/console/\\evil", "/console/\r\nx: y", "/manage/v1"]) {
    const { secret } = await invite(`Led ${to}`.replaceAll(/[\r\n]/g, " "))
    const led = await from().post("/console/welcome", { link: secret, to })
    assert.deepStrictEqual([led.status, led.headers.get("location")], [303, "/console/"], to)
  }
})

it("a new password needs the previous one, must not be a common one, and ends the other sessions", async () => {
  const { who, id } = await signedIn("Clara")
  for (const password of ["short", "aaaaaaaaaaaaaa", "passwordpassword", "clara clara clara", "qwertyuiop123"]) {
    const refused = await who.manage("POST", "me/password", { password })
    assert.deepStrictEqual(
      [refused.status, refused.json.error.code, refused.json.error.param],
      [400, "bad_password", "/password"],
    )
    assert.notInclude(refused.text, password)
  }
  assert.strictEqual((await who.manage("POST", "me/password", { password: PASSWORD })).status, 204)
  const other = from()
  assert.strictEqual((await other.post("/console/sign-in", { name: "Clara", password: PASSWORD })).status, 303)
  const refused = await other.manage("POST", "me/password", { password: "another good one 9", current: "no" })
  assert.deepStrictEqual([refused.status, refused.json.error.code], [403, "wrong_password"])
  const done = await other.manage("POST", "me/password", { password: "another good one 9", current: PASSWORD })
  assert.strictEqual(done.status, 204)
  assert.strictEqual((await who.manage("GET", "me")).status, 401)
  assert.strictEqual((await other.manage("GET", "me")).status, 200)
  const rows = await database.run(`SELECT password FROM cabinet.person WHERE id = ${id}`)
  assert.match(JSON.stringify(rows), /scrypt\$15\$8\$3\$/)
})

it("a password can be replaced without the current one for a quarter of an hour after a sign-in by link", async () => {
  const { who } = await signedIn("Vera")
  const replace = (password: string) => who.manage("POST", "me/password", { password })
  try {
    assert.strictEqual((await replace(PASSWORD)).status, 204)
    await database.run("UPDATE cabinet.clock SET shift = '14 minutes'")
    assert.strictEqual((await replace(`${PASSWORD} 2`)).status, 204)
    // The session's last use is also some time ago.
    await database.run("UPDATE cabinet.clock SET shift = '11 hours'")
    const late = await replace(`${PASSWORD} 3`)
    assert.deepStrictEqual([late.status, late.json.error.code], [403, "wrong_password"])
    const { session } = (await who.manage("GET", "me")).json
    assert.isAbove(Date.parse(session.last_seen_at) - Date.parse(session.created_at), 10.9 * 3_600_000)
  } finally {
    await database.run("UPDATE cabinet.clock SET shift = '0'")
  }
})

it("a link that an owner issued for themselves replaces no password without the current one", async () => {
  const { who, id } = await signedIn("Otto", "owner")
  const owner = await signedIn("Olga", "owner")
  assert.strictEqual((await who.manage("POST", "me/password", { password: PASSWORD })).status, 204)
  const replace = async (issuer: Visitor, password: string) => {
    const issued = await issuer.manage("POST", `people/${id}/link`)
    const again = from()
    assert.strictEqual((await again.post("/console/welcome", { link: issued.json.link })).status, 303)
    return [again, await again.manage("POST", "me/password", { password })] as const
  }
  try {
    await database.run("UPDATE cabinet.clock SET shift = '1 hour'")
    const [again, own] = await replace(who, `${PASSWORD} 2`)
    assert.deepStrictEqual([own.status, own.json.error.code], [403, "wrong_password"])
    const known = await again.manage("POST", "me/password", { password: `${PASSWORD} 2`, current: PASSWORD })
    assert.strictEqual(known.status, 204)
    const [, ofAnother] = await replace(owner.who, `${PASSWORD} 3`)
    assert.strictEqual(ofAnother.status, 204)
  } finally {
    await database.run("UPDATE cabinet.clock SET shift = '0'")
  }
})

it("a credential revoked in one process is refused by another at its next request", async () => {
  const other = await openCabinet({ databaseUrl: database.url, delivery: false, trustedProxies: ["127.0.0.1"] })
  const [second, at] = await listen(other.nodeHandler)
  const ask = (who: Visitor, method = "GET", path = "me") => {
    const there = from(at)
    there.cookie = who.cookie
    return there.manage(method, path, method === "GET" ? undefined : {})
  }
  const { who, id } = await signedIn("Dora", "owner")
  assert.strictEqual((await ask(who, "GET", "people")).status, 200)
  await admin("PATCH", `people/${id}`, { role: "viewer" })
  assert.strictEqual((await ask(who, "GET", "people")).status, 403)
  const own = (await who.manage("GET", "sessions")).json.data
  assert.deepStrictEqual(
    own.map(({ person }: any) => person.name),
    ["Dora"],
  )
  assert.strictEqual((await who.manage("DELETE", `sessions/${own[0].id}`)).status, 204)
  assert.strictEqual((await ask(who)).status, 401)

  const again = await signedIn("Egon")
  assert.strictEqual((await admin("POST", `people/${again.id}/sign-out`)).json.count, 1)
  assert.strictEqual((await ask(again.who)).status, 401)
  const removed = await signedIn("Frida")
  assert.strictEqual((await admin("DELETE", `people/${removed.id}`)).status, 204)
  assert.strictEqual((await ask(removed.who)).status, 401)
  assert.strictEqual((await ask(removed.who, "DELETE", "sessions/1")).status, 401)
  second.close()
  await other.close()
})

it("a session ends when it is idle for 12 hours, and always after 30 days", async () => {
  const idle = await signedIn("Idle")
  const busy = await signedIn("Busy")
  await database.run("UPDATE cabinet.clock SET shift = '11 hours'")
  assert.strictEqual((await busy.who.manage("GET", "me")).status, 200)
  await database.run("UPDATE cabinet.clock SET shift = '13 hours'")
  assert.strictEqual((await idle.who.manage("GET", "me")).status, 401)
  assert.strictEqual((await busy.who.manage("GET", "me")).status, 200)
  await database.run("UPDATE cabinet.clock SET shift = '30 days 1 hour'")
  await database.run("UPDATE cabinet.session SET last_seen_at = cabinet.now()")
  assert.strictEqual((await busy.who.manage("GET", "me")).status, 401)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

it("only a person's own sessions are shown and ended, except by an owner", async () => {
  const one = await signedIn("Gero", "editor")
  const other = await signedIn("Hanna", "editor")
  const [session] = (await other.who.manage("GET", "sessions")).json.data
  const refused = await one.who.manage("DELETE", `sessions/${session.id}`)
  assert.deepStrictEqual([refused.status, refused.json.error.code], [404, "no_such_session"])
  assert.strictEqual((await one.who.manage("GET", "people")).status, 403)
  assert.strictEqual((await admin("DELETE", `sessions/${session.id}`)).status, 204)
  assert.strictEqual((await other.who.manage("GET", "me")).status, 401)
})

it("the last owner can be neither removed nor given a lesser role, by two concurrent requests either", async () => {
  const owners = (await admin("GET", "people")).json.data.filter(({ role }: any) => role === "owner")
  for (const { id } of owners.slice(1)) await admin("DELETE", `people/${id}`)
  const { id } = await invite("Second owner", "owner")
  const both = await Promise.all([
    admin("DELETE", `people/${owners[0].id}`),
    admin("PATCH", `people/${id}`, { role: "viewer" }),
  ])
  assert.deepStrictEqual(both.map(({ status }) => status).filter((status) => status === 409).length, 1)
  const left = (await admin("GET", "people")).json.data.filter(({ role }: any) => role === "owner")
  assert.strictEqual(left.length, 1)
  assert.strictEqual((await admin("DELETE", `people/${left[0].id}`)).json.error.code, "last_owner")
})

it("a change requested by a page of another origin is refused, and changes nothing", async () => {
  const { who } = await signedIn("Ivo", "owner")
  const hostile: ReadonlyArray<Record<string, string>> = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site", origin: base },
    {},
  ]
  for (const headers of hostile) {
    const made = await who.manage("POST", "keys", { name: "forged" }, headers)
    assert.deepStrictEqual([made.status, made.json.error.code], [403, "cross_origin"], JSON.stringify(headers))
    const out = await who.post("/console/sign-out", { everywhere: "yes" }, headers)
    assert.strictEqual(out.status, 403)
    const { secret } = await invite(`Victim ${JSON.stringify(headers)}`)
    const forced = await from().post("/console/welcome", { link: secret }, headers)
    assert.deepStrictEqual([forced.status, forced.headers.get("set-cookie")], [403, null])
  }
  assert.notInclude((await who.manage("GET", "keys")).text, "forged")
  assert.strictEqual((await who.manage("POST", "keys", { name: "honest" }, { origin: base })).status, 201)
})

it("signing out ends one session, or all of them, and clears the cookie", async () => {
  const { who, id } = await signedIn("Jan")
  const { cookie } = who
  const out = await who.post("/console/sign-out", { everywhere: "no" })
  assert.deepStrictEqual([out.status, out.headers.get("location")], [303, "/console/sign-in"])
  assert.isNull(who.cookie)
  who.cookie = cookie
  assert.strictEqual((await who.manage("GET", "me")).status, 401)
  const links = []
  for (let n = 0; n < 2; n++) {
    const link = (await admin("POST", `people/${id}/link`)).json.link
    const one = from()
    await one.post("/console/welcome", { link })
    links.push(one)
  }
  assert.strictEqual((await links[0]!.manage("POST", "me/sign-out")).json.count, 2)
  assert.strictEqual((await links[1]!.manage("GET", "me")).status, 401)
})

it("a visitor who is not signed in is redirected to the form and back, and a duplicate cookie counts as none", async () => {
  const led = await from().get("/console/tables?search=a%20b")
  assert.deepStrictEqual(
    [led.status, led.headers.get("location")],
    [303, "/console/sign-in?to=%2Fconsole%2Ftables%3Fsearch%3Da%2520b"],
  )
  const form = await from().get(led.headers.get("location")!)
  assert.include(form.text, 'value="/console/tables?search=a%20b"')
  const { who } = await signedIn("Karl")
  assert.strictEqual((await who.get("/console/me")).status, 200)
  const behind = await who.manage("GET", "me", undefined, { authorization: "Basic YTpi" })
  assert.strictEqual(behind.status, 200, "a proxy that asks for a password takes no session away")
  who.cookie = `cabinet=dcs_${"A".repeat(43)}; ${who.cookie}`
  assert.strictEqual((await who.manage("GET", "me")).status, 401)
})

it("an address has ten attempts a minute, and an account five from strangers, while its owner can sign in", async () => {
  const [{ at }] = (await database.run("SELECT date_trunc('minute', now(), 'UTC')::text AS at")) as [{ at: string }]
  // The attempts take place in one minute, however long they take.
  const again = () => database.run(`UPDATE cabinet.clock SET shift = '${at}'::timestamptz + interval '1 s' - now()`)
  await again()
  const { who } = await signedIn("Lena")
  await who.manage("POST", "me/password", { password: PASSWORD })
  const same = from()
  const statuses = []
  for (let n = 0; n < 12; n++) {
    await again()
    statuses.push((await same.post("/console/sign-in", { name: `nobody ${n}`, password: "x" })).status)
  }
  assert.deepStrictEqual([statuses.filter((one) => one === 403).length, statuses.at(-1)], [10, 429])
  const guesses = []
  for (let n = 0; n < 7; n++) {
    await again()
    guesses.push((await from().post("/console/sign-in", { name: "lena", password: `guess number ${n}` })).status)
  }
  assert.deepStrictEqual(guesses, [403, 403, 403, 403, 403, 429, 429])
  await again()
  const honest = await who.post("/console/sign-in", { name: "Lena", password: PASSWORD })
  assert.strictEqual(honest.status, 303)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

it("a flood of sign-ins is refused with a message, and takes no time from intake and links", async () => {
  const source = await cabinet.sources.create({ name: "Beside" })
  const intake = source.intakeUrl.replace(/^https?:\/\/[^/]+/, base)
  const { secret } = await invite("Honest")
  // The computation before those of the flood lasts until both have their responses, however fast the machine is.
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const before = Effect.runPromise(
    Passwords.use((queue) =>
      queue.run(
        Symbol("another cabinet"),
        "anybody",
        Effect.promise(() => over),
      ),
    ),
  )
  const statuses: Array<number> = []
  const flood = Array.from({ length: 60 }, async (_, n) => {
    statuses.push((await from().post("/console/sign-in", { name: `n${n}`, password: PASSWORD })).status)
  })
  const [sent, claimed] = await Promise.all([
    fetch(intake, { method: "POST", body: '{"a":1}' }),
    from().post("/console/welcome", { link: secret }),
  ])
  assert.deepStrictEqual([sent.status, claimed.status], [200, 303])
  await vi.waitFor(() => assert.lengthOf(statuses, 50), 120_000)
  assert.deepStrictEqual([...new Set(statuses)], [429])
  end()
  await Promise.all([before, ...flood])
  assert.deepStrictEqual([...new Set(statuses.slice(50))], [403])
})

it("everything is in the audit log with its actor, and no secret anywhere in the database", async () => {
  const { who, secret, id } = await signedIn("Mona", "owner")
  const set = await who.manage("POST", "me/password", { password: PASSWORD })
  assert.strictEqual(set.status, 204, set.text)
  await from().post("/console/sign-in", { name: "Mona", password: "not the right one" })
  await who.manage("POST", "keys", { name: "by Mona" })
  const { cookie } = who
  const entries = (await admin("GET", "audit?limit=100")).json.data as ReadonlyArray<any>
  const of = (action: string) => entries.find((entry) => entry.action === action)
  assert.deepInclude(of("key.issue"), { role: "owner", outcome: "done" })
  assert.deepInclude(of("key.issue").actor, { kind: "person", id, name: "Mona" })
  assert.deepInclude(of("person.set_password"), { object: `person ${id}`, changes: {}, outcome: "done" })
  const begun = entries.filter(({ action, actor }) => action === "session.begin" && actor.id === id)
  assert.deepStrictEqual(
    begun.slice(0, 2).map(({ outcome }) => outcome),
    ["not_signed_in", "done"],
  )
  for (const table of ["audit", "person", "session", "sign_in_link", "rate_window"]) {
    const rows = JSON.stringify(await database.run(`SELECT t::text AS one FROM cabinet.${table} t`))
    for (const hidden of [secret, PASSWORD, "not the right one", cookie!.split("=")[1]!]) {
      assert.notInclude(rows, hidden, table)
    }
  }
})
