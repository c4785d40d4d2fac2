/**
 * People who sign in elsewhere: through the embedding program, and through the header of a trusted proxy. Both are tested
 * against impostors.
 */
import { createServer, request, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type AskedWho, type Cabinet, type ConsoleOptions, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { SAME_ORIGIN, visitor } from "../support/browserSession.ts"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const proxied = withDatabase()

let said: unknown = null
let asked: AskedWho | undefined
let cabinet: Cabinet
let server: Server
let base: string
const logged: Array<string> = []

const note = (...parts: ReadonlyArray<unknown>) => void logged.push(parts.map(String).join(" "))

beforeAll(async () => {
  cabinet = await openCabinet({
    databaseUrl: database.url,
    delivery: false,
    log: { warn: note, error: note },
    console: {
      whoIs: (question) => {
        asked = question
        if (said instanceof Error) throw said
        return said as never
      },
      signInHint: "Sign in to the shop at /login first.",
    },
  })
  server = createServer((incoming, outgoing) => {
    Object.assign(incoming, { user: "from the middleware" })
    cabinet.nodeHandler(incoming, outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await cabinet.close()
  await endAll()
})

const ADA = { id: "u-1", name: "Ada", role: "editor" }

it("the program identifies a person for every request, and sees its own request", async () => {
  said = ADA
  const me = await visitor(base).manage("GET", "me")
  assert.deepInclude(me.json, { kind: "person", name: "Ada", role: "editor", session: null })
  assert.deepInclude(asked, { method: "GET", url: "/manage/v1/me", baseUrl: "http://127.0.0.1:8080" })
  assert.strictEqual((asked!.original as IncomingMessage & { readonly user: string }).user, "from the middleware")
  assert.strictEqual((await visitor(base).manage("GET", "people")).status, 403)
  said = { ...ADA, name: "Ada L.", role: "owner" }
  const people = await visitor(base).manage("GET", "people")
  assert.deepStrictEqual(
    people.json.data.map(({ id, name, role, issuer }: any) => [id, name, role, issuer]),
    [[me.json.id ?? 1, "Ada L.", "owner", "program"]],
  )
  const entries = (await visitor(base).manage("GET", "audit?action=person.vouch")).json.data
  assert.deepStrictEqual(
    entries.map(({ object, changes, outcome, client }: any) => [object, changes.role, outcome, client]),
    [
      ["person 1", "owner", "done", "127.0.0.1"],
      ["person 1", "editor", "done", "127.0.0.1"],
    ],
  )
})

it("null, an exception, an unknown role or nonsense gives a 401 with the program's own hint, and no sign-in page", async () => {
  const wrong = [
    null,
    undefined,
    new Error("jwt expired"),
    { ...ADA, role: "root" },
    { ...ADA, role: "uploader" },
    { ...ADA, id: "" },
    { ...ADA, id: 7 },
    { ...ADA, id: "a\0b" },
    { ...ADA, id: "x".repeat(201) },
    { ...ADA, name: "" },
    { ...ADA, name: "a\u202eb" },
    { ...ADA, name: undefined },
    "ada",
    true,
  ]
  for (const answer of wrong) {
    said = answer
    const refused = await visitor(base).manage("GET", "me")
    assert.deepStrictEqual([refused.status, refused.json.error.code], [401, "unauthorized"], String(answer))
    assert.strictEqual(refused.json.error.message, "Sign in to the shop at /login first.")
    const screen = await visitor(base).get("/console/tables")
    assert.strictEqual(screen.status, 401, String(answer))
    assert.include(screen.text, "Sign in to the shop at /login first.")
  }
  for (const path of ["sign-in", "welcome", "sign-out", "password"]) {
    const screen = await visitor(base).get(`/console/${path}`)
    assert.deepStrictEqual([screen.status, screen.text.includes("<form")], [401, false], path)
    assert.include(screen.text, "Sign in to the shop at /login first.")
  }
  const failures = logged.filter((line) => line.includes("whoIs failed"))
  assert.strictEqual(failures.length, 1, "it is not said with each request")
})

it("a session cookie has no effect if the program signs people in, and a token works as before", async () => {
  said = null
  const { token } = await cabinet.tokens.create({ name: "admin", role: "owner" })
  const as = { authorization: `Bearer ${token}` }
  const invited = (await visitor(base).manage("POST", "people", { name: "Eve", role: "owner" }, as)).json
  const plain = await openCabinet({ databaseUrl: database.url, delivery: false })
  const other = createServer(plain.nodeHandler)
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  const eve = visitor(`http://127.0.0.1:${(other.address() as AddressInfo).port}`)
  assert.strictEqual((await eve.post("/console/welcome", { link: invited.link })).status, 303)
  assert.strictEqual((await eve.manage("GET", "me")).status, 200)
  const here = visitor(base)
  here.cookie = eve.cookie
  assert.strictEqual((await here.manage("GET", "me")).status, 401)
  other.close()
  await plain.close()
})

it("a Bearer header is always a token: a wrong one is refused without a call to the program", async () => {
  said = ADA
  for (const junk of ["Bearer", "Bearer x", "bearer eyJhbGciOi.e30.x", `Bearer dco_${"A".repeat(43)}`]) {
    asked = undefined
    const { status } = await visitor(base).manage("GET", "me", undefined, { authorization: junk })
    assert.deepStrictEqual([status, asked], [401, undefined], junk)
  }
  const basic = await visitor(base).manage("GET", "me", undefined, { authorization: "Basic YTpi" })
  assert.strictEqual(basic.status, 200, "another scheme is for a proxy that asks for a password")
})

it("a request from another origin's page is refused even if the program knows the person", async () => {
  said = ADA
  for (const headers of [
    {},
    { "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ]) {
    const made = await visitor(base).manage("POST", "keys", { name: "forged" }, headers as Record<string, string>)
    assert.deepStrictEqual([made.status, made.json.error.code], [403, "cross_origin"], JSON.stringify(headers))
    const form = await visitor(base).post("/console/me", { language: "ru" }, headers as Record<string, string>)
    assert.strictEqual(form.status, 403)
  }
  assert.strictEqual((await visitor(base).manage("POST", "keys", { name: "honest" })).status, 201)
  const names = (await visitor(base).manage("GET", "keys")).json.data.map(({ name }: any) => name)
  assert.deepStrictEqual(names, ["honest"])
})

it("a person removed by an owner stays removed, even if the program names them", async () => {
  said = { id: "u-2", name: "Owner", role: "owner" }
  const { data } = (await visitor(base).manage("GET", "people")).json
  const { id } = data.find(({ name }: any) => name === "Ada")
  assert.strictEqual((await visitor(base).manage("DELETE", `people/${id}`)).status, 204)
  said = ADA
  assert.strictEqual((await visitor(base).manage("GET", "me")).status, 401)
})

it("an invalid option that would leave the console open is refused", async () => {
  const refusals: ReadonlyArray<[unknown, RegExp]> = [
    [{ whois: () => null }, /^console has no option whois\.$/],
    [{ whoIs: "ada" }, /^console\.whoIs must be a function\.$/],
    [{ signInHint: "x" }, /^console\.signInHint requires console\.whoIs/],
    ["on", /^console must be true, false, or an object/],
    [null, /^console must be/],
  ]
  for (const [given, words] of refusals) {
    const fault = await openCabinet({ databaseUrl: database.url, console: given as ConsoleOptions }).catch(
      (error: Error) => error,
    )
    assert.match((fault as Error).message, words)
  }
})

/** A request from the proxy, or from an impostor at another address. */
const through = (url: string, from: string, headers: ReadonlyArray<string>, method = "GET", body = "") =>
  new Promise<{
    readonly status: number
    readonly json: any
    readonly location: string | undefined
    readonly readableBy: string | undefined
  }>((resolve, reject) => {
    const { host } = new URL(url)
    const sent = request(
      url,
      {
        method,
        localAddress: from,
        headers: ["host", host, ...headers, "content-length", String(Buffer.byteLength(body))],
        agent: false,
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => (text += part))
        response.on("end", () => {
          const isJson = (response.headers["content-type"] ?? "").startsWith("application/json")
          resolve({
            status: response.statusCode!,
            json: isJson ? JSON.parse(text) : undefined,
            location: response.headers.location,
            readableBy: response.headers["access-control-allow-origin"],
          })
        })
      },
    )
    sent.on("error", reject)
    sent.end(body)
  })

it("a proxy's header signs a person in only if the proxy sent it, once and readable", async () => {
  const home = newHome()
  const env = {
    DATABASE_URL: proxied.url,
    CABINET_CONSOLE_PROXY_HEADER: "Remote-User",
    CABINET_CONSOLE_PROXIES: "127.0.0.2",
    CABINET_TRUSTED_PROXIES: "127.0.0.0/8",
    CABINET_API_ORIGINS: "https://shop.example.com",
  }
  const served: ServerProcess = await home.serve(["--host", "127.0.0.1"], env)
  const me = `${served.baseUrl}/manage/v1/me`
  const ada = await through(me, "127.0.0.2", ["Remote-User", "ada"])
  assert.deepInclude(ada.json, { kind: "person", name: "ada", role: "viewer" })

  for (let n = 0; n < 3; n++) {
    const forged = await through(me, "127.0.0.3", ["Remote-User", "ada", "X-Forwarded-For", "127.0.0.2"])
    assert.strictEqual(forged.status, 401)
  }
  // What another process logs arrives by itself.
  await expect.poll(() => served.log()).toContain("CABINET_CONSOLE_PROXIES")
  assert.strictEqual(served.log().split("CABINET_CONSOLE_PROXIES").length, 2, "said once")
  const led = await through(`${served.baseUrl}/console/tables`, "127.0.0.3", [
    "Remote-User",
    "ada",
    "Accept",
    "text/html",
  ])
  assert.deepStrictEqual([led.status, led.location], [303, "/console/sign-in?to=%2Fconsole%2Ftables"])

  const page = ["Remote-User", "ada", "Origin", "https://shop.example.com"]
  const junk = await through(me, "127.0.0.2", [...page, "Authorization", "Bearer junk"])
  assert.deepStrictEqual([junk.status, junk.readableBy], [401, "https://shop.example.com"])
  const basic = await through(me, "127.0.0.2", [...page, "Authorization", "Basic YTpi"])
  assert.deepStrictEqual([basic.status, basic.readableBy], [200, undefined])

  const twice = ["Remote-User", "ada", "Remote-User", "root"]
  assert.strictEqual((await through(me, "127.0.0.2", twice)).status, 401)
  assert.strictEqual((await through(me, "127.0.0.2", ["remote-user", "ada,root"])).status, 401)
  assert.strictEqual((await through(me, "127.0.0.2", [])).status, 401)

  const keys = `${served.baseUrl}/manage/v1/keys`
  // A change by an owner stays, even when the proxy names the person again.
  await proxied.run("UPDATE cabinet.person SET role = 'owner' WHERE issuer = 'proxy' AND subject = 'ada'")
  const send = (headers: ReadonlyArray<string>) =>
    through(
      keys,
      "127.0.0.2",
      ["Remote-User", "ada", "Content-Type", "application/json", ...headers],
      "POST",
      '{"name":"K"}',
    )
  assert.strictEqual((await send(["Sec-Fetch-Site", "cross-site"])).json.error.code, "cross_origin")
  assert.strictEqual((await send([])).json.error.code, "cross_origin")
  assert.strictEqual((await send(Object.entries(SAME_ORIGIN).flat())).status, 201)
  await served.stop("SIGTERM")
})
