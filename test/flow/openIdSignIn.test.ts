/**
 * Sign-in by OpenID Connect with a provider on the loopback. A person who returns with a foreign state, nonce or issuer, or
 * without a role, is not signed in.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import Provider from "oidc-provider"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { visitor } from "../support/browserSession.ts"
import { endAll, newHome, type Home, type ServerProcess } from "../support/cabinetProcess.ts"
import { forged } from "../support/forged.ts"
import { freePorts } from "../support/packed.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let home: Home
let served: ServerProcess
let issuer: string
let server: Server
/** The person that the provider signs in next, with their claims. */
let account: { readonly sub: string; readonly [claim: string]: unknown } = { sub: "none" }
/** The address of a cabinet behind a proxy that ends TLS, below a path. */
const PUBLIC = "https://cabinet.example/team"
/** Changes to the provider's responses on their way. */
let forge: (path: string, body: string) => string = (_path, body) => body

const begin = async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const provide = (...redirectUris: Array<string>) => {
  const configuration = {
    clients: [
      {
        client_id: "cabinet",
        client_secret: "hush-client",
        redirect_uris: redirectUris,
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], profile: ["name", "roles", "realm"] },
    findAccount: async (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ ...account, sub }),
    }),
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    ttl: { Session: 1, Grant: 60, AccessToken: 60, IdToken: 60, Interaction: 60, AuthorizationCode: 60 },
  }
  const provider = new Provider(issuer, configuration)
  provider.use(async (context: any, next: () => Promise<void>) => {
    await next()
    if (typeof context.body === "object" && context.body !== null) {
      context.body = forge(context.path, JSON.stringify(context.body))
    }
  })
  // Later steps are not reached.
  const answer = provider.callback()
  server.on("request", (request, response) => {
    if (!request.url!.startsWith("/interaction/")) return void answer(request, response)
    void (async () => {
      const details = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId: account.sub, clientId: "cabinet" })
      grant.addOIDCScope("openid profile")
      const grantId = await grant.save()
      const login = details.prompt.name === "login" ? { login: { accountId: account.sub, remember: false } } : {}
      await provider.interactionFinished(request, response, { ...login, consent: { grantId } })
    })()
  })
}

beforeAll(async () => {
  await begin()
  home = newHome()
  served = await home.serve([], {
    DATABASE_URL: database.url,
    CABINET_OIDC_ISSUER: issuer,
    CABINET_OIDC_CLIENT_ID: "cabinet",
    CABINET_OIDC_CLIENT_SECRET: "hush-client",
    CABINET_OIDC_NETWORKS: "127.0.0.0/8",
    CABINET_OIDC_ROLES: "cabinet-admins=owner,staff=viewer",
    CABINET_TRUSTED_PROXIES: "127.0.0.0/8",
  })
  provide(`${served.baseUrl}/console/sign-in/callback`, `${PUBLIC}/console/sign-in/callback`)
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await endAll()
})

let clients = 0
const browser = () => visitor(served.baseUrl, { "x-forwarded-for": `198.51.100.${++clients}` })

/** Follows the provider's redirects with its cookies, until one leads back. */
const atProvider = async (url: string, base = served.baseUrl): Promise<string> => {
  const cookies = new Map<string, string>()
  let next = url
  for (let hop = 0; hop < 10; hop++) {
    const response = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get("location")
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    next = new URL(location, next).href
    if (next.startsWith(base)) return next.slice(base.length)
  }
  throw new Error("the provider leads nowhere")
}

const away = async (who = browser(), to = "/console/me") => {
  const sent = await who.get(`/console/sign-in/provider?to=${encodeURIComponent(to)}`)
  assert.strictEqual(sent.status, 303, sent.text)
  return { who, url: sent.headers.get("location")!, cookie: sent.headers.get("set-cookie")! }
}

const ADA = { sub: "ada-1", name: "Ada Lovelace", roles: ["staff", "cabinet-admins"] }

it("a provider signs a person in, with PKCE and its role, and redirects to the requested screen", async () => {
  account = ADA
  const form = await browser().get("/console/sign-in?to=%2Fconsole%2Fme")
  assert.include(form.text, `sign-in/provider?to=%2Fconsole%2Fme`)
  const { who, url, cookie } = await away()
  const query = new URL(url).searchParams
  assert.strictEqual(query.get("code_challenge_method"), "S256")
  for (const name of ["state", "nonce", "code_challenge"]) assert.isAbove(query.get(name)!.length, 20, name)
  assert.match(cookie, /Max-Age=600; Path=\/console\/sign-in\/; HttpOnly; SameSite=Lax/)
  for (const name of ["state", "nonce"]) assert.notInclude(cookie, query.get(name)!)
  const back = await who.get(await atProvider(url))
  assert.deepStrictEqual([back.status, back.headers.get("location")], [303, "/console/me"], back.text)
  const me = await who.manage("GET", "me")
  assert.deepInclude(me.json, { kind: "person", name: "Ada Lovelace", role: "owner" })
  assert.strictEqual(me.json.session.method, "oidc")
  const [, subject] = /^(\S+ \S+)$/.exec(
    String((await database.run("SELECT subject FROM cabinet.person WHERE issuer = 'oidc'"))[0]!["subject"]),
  )!
  assert.strictEqual(subject, `${issuer} ada-1`)
})

it("the same subject is the same person, with the current role", async () => {
  account = { ...ADA, name: "Ada L.", roles: "staff" }
  const { who, url } = await away()
  assert.strictEqual((await who.get(await atProvider(url))).status, 303)
  assert.deepInclude((await who.manage("GET", "me")).json, { name: "Ada L.", role: "viewer" })
  assert.deepStrictEqual(await database.run("SELECT count(*)::int AS n FROM cabinet.person WHERE issuer = 'oidc'"), [
    { n: 1 },
  ])
})

it("without a known role, or once removed, a person is not signed in", async () => {
  for (const roles of [undefined, [], ["owner"], ["other"], 7]) {
    account = { sub: "eve", name: "Eve", roles }
    const { who, url } = await away()
    const back = await who.get(await atProvider(url))
    assert.deepStrictEqual([back.status, back.headers.get("set-cookie")], [403, null], String(roles))
  }
  await database.run("UPDATE cabinet.person SET removed_at = cabinet.now() WHERE issuer = 'oidc'")
  account = ADA
  const { who, url } = await away()
  assert.strictEqual((await who.get(await atProvider(url))).status, 403)
  await database.run("UPDATE cabinet.person SET removed_at = NULL WHERE issuer = 'oidc'")
  // What another process logs arrives by itself.
  await expect.poll(() => served.log()).toContain("no role is given to them")
})

it("a redirect back without the browser's cookie, with another state or issuer, or a second time, does not sign in", async () => {
  account = ADA
  const refused = async (who: ReturnType<typeof browser>, path: string, why: string) => {
    const back = await who.get(path)
    assert.deepStrictEqual([back.status, back.headers.get("set-cookie")], [403, null], why)
  }
  const one = await away()
  const path = await atProvider(one.url)
  await refused(browser(), path, "a link that somebody else was sent (login CSRF)")
  const other = await away()
  await refused(other.who, path, "another browser's state")
  const changes: ReadonlyArray<[why: string, change: (path: string) => string]> = [
    ["another issuer", (own) => own.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example")],
    ["no issuer, where the provider names itself", (own) => own.replace(/&iss=[^&]*/, "")],
    ["another code", (own) => own.replace(/code=[^&]*/, "code=forged")],
    ["denied", (own) => own.replace(/code=[^&]*/, "error=access_denied")],
  ]
  for (const [why, change] of changes) {
    const begun = await away()
    const own = await atProvider(begun.url)
    await refused(begun.who, change(own), why)
    // An attempt accepts one response, so the correct one is now too late.
    await refused(begun.who, own, `the right response after ${why}`)
  }
  const tampered = await away()
  tampered.who.cookie = forged(tampered.who.cookie!, tampered.who.cookie!.length - 4)
  await refused(tampered.who, await atProvider(tampered.url), "a changed cookie")
  for (const name of ["nonce", "code_challenge"]) {
    // The provider's token belongs to another attempt than the one that this browser began.
    const swapped = await away()
    const url = new URL(swapped.url)
    url.searchParams.set(name, "A".repeat(43))
    await refused(swapped.who, await atProvider(url.href), `another ${name}`)
  }
  const last = await away()
  const right = await atProvider(last.url)
  const { cookie } = last.who
  assert.strictEqual((await last.who.get(right)).status, 303)
  last.who.cookie = cookie
  await refused(last.who, right, "a code that was used")
})

it("an attempt that another host of the domain planted does not sign in (login CSRF)", async () => {
  account = ADA
  const port = String((await freePorts(1))[0])
  const behind = await home.serve(["--port", port, "--base-url", PUBLIC, "--no-delivery", "--no-poll"], {
    DATABASE_URL: database.url,
    CABINET_OIDC_ISSUER: issuer,
    CABINET_OIDC_CLIENT_ID: "cabinet",
    CABINET_OIDC_CLIENT_SECRET: "hush-client",
    CABINET_OIDC_NETWORKS: "127.0.0.0/8",
    CABINET_OIDC_ROLES: "cabinet-admins=owner,staff=viewer",
  })
  const ask = (path: string, cookie = "") =>
    fetch(`http://127.0.0.1:${port}/team${path}`, { redirect: "manual", headers: { cookie } })
  const sent = await ask("/console/sign-in/provider?to=%2Fconsole%2Fme")
  const [, name, sealed, attributes] = /^([^=]+)=([^;]+);(.*)$/.exec(sent.headers.get("set-cookie")!)!
  // Browsers take a name with this prefix only from the host itself: without a domain, with the path /, over TLS.
  assert.match(name!, /^__Host-cabinet-sign-in/)
  assert.strictEqual(attributes, " Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure")
  const path = await atProvider(sent.headers.get("location")!, PUBLIC)
  for (const planted of ["cabinet-sign-in", "__Secure-cabinet-sign-in", "__Secure-cabinet-sign-in-team"]) {
    const back = await ask(path, `${planted}=${sealed}`)
    assert.deepStrictEqual([back.status, back.headers.get("set-cookie")], [403, null], planted)
  }
  const back = await ask(path, `${name}=${sealed}`)
  assert.deepStrictEqual([back.status, back.headers.get("location")], [303, "/team/console/me"])
  assert.include(back.headers.getSetCookie(), `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure`)
  await behind.stop("SIGTERM")
})

it("an id token with another nonce, issuer, audience or signature does not sign in", async () => {
  account = ADA
  const changes: ReadonlyArray<(claims: any) => any> = [
    (claims) => ({ ...claims, nonce: "other" }),
    (claims) => ({ ...claims, iss: "https://evil.example" }),
    (claims) => ({ ...claims, aud: "other" }),
    (claims) => ({ ...claims, sub: "root" }),
  ]
  for (const change of changes) {
    const { who, url } = await away()
    const path = await atProvider(url)
    forge = (at, body) => {
      if (at !== "/token") return body
      const answer = JSON.parse(body) as { id_token: string }
      const [head, payload, signature] = answer.id_token.split(".")
      const claims = change(JSON.parse(Buffer.from(payload!, "base64url").toString()))
      const changed = Buffer.from(JSON.stringify(claims)).toString("base64url")
      return JSON.stringify({ ...answer, id_token: [head, changed, signature].join(".") })
    }
    const back = await who.get(path)
    forge = (_at, body) => body
    assert.deepStrictEqual([back.status, back.headers.get("set-cookie")], [403, null], String(change))
  }
  for (const secret of ["hush-client", "eyJ"]) assert.notInclude(served.log(), secret)
})

it("an address is redirected to the provider thirty times a minute, and a known browser in addition", async () => {
  account = ADA
  const address = { "x-forwarded-for": "198.51.100.250" }
  const known = await away(visitor(served.baseUrl, address))
  assert.strictEqual((await known.who.get(await atProvider(known.url))).status, 303)
  // A minute may end in the meantime, so up to twice as many are let through.
  const statuses = []
  for (let n = 0; n < 62; n++) {
    const sent = await visitor(served.baseUrl, address).get("/console/sign-in/provider")
    statuses.push(sent.status)
    if (sent.status !== 429) continue
    assert.match(sent.headers.get("retry-after")!, /^[1-9][0-9]?$/)
    assert.isNull(sent.headers.get("set-cookie"))
    assert.isNull(sent.headers.get("location"))
  }
  assert.deepStrictEqual([...new Set(statuses.slice(0, 29))], [303])
  assert.include(statuses, 429)
  known.who.isKnown = true
  await away(known.who)
  await away()
})

it("a sign-in begun more than ten minutes ago has expired", async () => {
  const { openAttempt, sealAttempt } = await import("@data-cabinet/core/person/SealedAttempt")
  const { CursorKey } = await import("@data-cabinet/core/pagination/CursorKey")
  const [key, other] = [new CursorKey(Buffer.alloc(32, 1)), new CursorKey(Buffer.alloc(32, 2))]
  const begun = { state: "s", nonce: "n", verifier: "v", to: "/console/" }
  const sealed = sealAttempt(key, begun, 1_000_000)
  assert.deepStrictEqual(openAttempt(key, sealed, 1_000_000 + 599_000), begun)
  assert.isNull(openAttempt(key, sealed, 1_000_000 + 600_000))
  assert.isNull(openAttempt(other, sealed, 1_000_000))
  for (const wrong of ["", "x", sealed.slice(1), `${sealed}AAAA`, sealed.slice(0, 60)])
    assert.isNull(openAttempt(key, wrong, 1_000_000))
})

it("a provider in a private network is reached only where that network is named", async () => {
  const env = { DATABASE_URL: database.url, CABINET_OIDC_ISSUER: issuer, CABINET_OIDC_CLIENT_ID: "cabinet" }
  const blind = await home.serve(["--no-delivery", "--no-poll"], { ...env, CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" })
  const sent = await visitor(blind.baseUrl).get("/console/sign-in/provider")
  assert.strictEqual(sent.status, 503)
  await blind.stop("SIGTERM")
  assert.include(blind.log(), "not a public address")
})
