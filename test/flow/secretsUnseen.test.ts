/**
 * Secrets that a cabinet was given or created: a viewer finds none in the management API or on a screen, an owner only on
 * request, and neither refusals nor the log contain any.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet, type Role } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { SCREENS } from "../browser/support/screenList.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: Cabinet
let server: Server
/** Redirects every request elsewhere, with its query. */
let elsewhere: Server
let base: string
const logged: Array<string> = []
const note = (message: string) => void logged.push(message)

/** A role that may change an address or a poll sees its whole URL. */
const IN_URLS = ["planted-address-query", "planted-poll-query"]
const secrets: Array<string> = [
  "planted-address-header",
  "planted-poll-header",
  "planted-verify-secret",
  "planted-challenge-secret",
  "planted-proof-secret",
]

const listen = async (created: Server) => {
  await new Promise<void>((resolve) => created.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(created.address() as AddressInfo).port}`
}

const tokens = new Map<Role, string>()

const ask = async (as: Role, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${base}/${path}`, {
    method,
    redirect: "manual",
    headers: {
      authorization: `Bearer ${tokens.get(as)}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: `${response.headers.get("location")} ${await response.text()}` }
}

const made = async (path: string, body?: unknown) => {
  const { status, text } = await ask("owner", "POST", `manage/v1/${path}`, body)
  assert.include([200, 201], status, text)
  return JSON.parse(text.slice(text.indexOf(" "))) as any
}

beforeAll(async () => {
  const log = { debug: note, info: note, warn: note, error: note }
  cabinet = await openCabinet({ databaseUrl: database.url, delivery: false, allowedNetworks: ["127.0.0.0/8"], log })
  server = createServer(cabinet.nodeHandler)
  base = await listen(server)
  elsewhere = createServer((request, response) => response.writeHead(308, { location: `/moved${request.url}` }).end())
  const other = await listen(elsewhere)
  for (const role of ["owner", "editor", "viewer"] as const) {
    const { token } = await cabinet.tokens.create({ name: role, role })
    tokens.set(role, token)
    secrets.push(token)
  }
  const source = await made("sources", {
    name: "Orders",
    verify: { recipe: "hmac", mode: "mark", secret: "planted-verify-secret", hmac: { header: "X-Sig" } },
    challenge: { provider: "meta", secret: "planted-challenge-secret" },
    proof: { kind: "turnstile", site_key: "0x4AAA", secret: "planted-proof-secret" },
  })
  const address = await made("addresses", {
    url: `${other}/hook?token=planted-address-query`,
    headers: [{ name: "X-Address", value: "planted-address-header" }],
  })
  await made("polls", {
    source_id: source.id,
    url: `${other}/items?key=planted-poll-query`,
    headers: [{ name: "X-Poll", value: "planted-poll-header" }],
  })
  const { key } = await made("keys", { name: "reader" })
  const { link } = await made("people", { name: "Ada", role: "editor" })
  secrets.push(source.intake_path.split("/").at(-1), address.secret, key, link.split("#")[1])
  await fetch(`${base}${source.intake_path}`, {
    method: "POST",
    body: new URLSearchParams({ customer: "Ada", total: "1" }),
  })
  assert.include((await made("addresses/1/ping")).failure, "a redirect to /moved/hook?…;")
  await made("polls/1/run")
  await made("polls/1/try", {})
})
afterAll(async () => {
  for (const one of [server, elsewhere]) one.close()
  await cabinet.close()
})

const assertUnseen = (text: string, sought: ReadonlyArray<string>, where: string) => {
  for (const secret of sought) assert.notInclude(text, secret, where)
}

it("no endpoint that reads shows a secret, or shows a viewer the query of an address or a poll", async () => {
  const { text } = await ask("owner", "GET", "manage/v1/openapi.json")
  const document = JSON.parse(text.slice(text.indexOf(" "))) as { readonly paths: Record<string, object> }
  const segments: Readonly<Record<string, string>> = { schema: "sources", name: "orders", column: "total" }
  const paths = Object.entries(document.paths).flatMap(([path, methods]) => ("get" in methods ? [path] : []))
  let read = 0
  for (const path of paths) {
    const filled = path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => segments[name] ?? "1")
    const query = path.endsWith("/facets") ? "?column=total" : ""
    for (const [role, sought] of [
      ["viewer", [...secrets, ...IN_URLS]],
      ["owner", secrets],
    ] as const) {
      const answer = await ask(role, "GET", `${filled}${query}`)
      if (answer.status === 200) read++
      assertUnseen(answer.text, sought, `${role} ${path}`)
    }
  }
  assert.isAbove(read, paths.length)
})

it("no screen shows a secret, or shows a viewer the query of an address or a poll", async () => {
  for (const path of SCREENS) {
    assertUnseen((await ask("viewer", "GET", `console/${path}`)).text, [...secrets, ...IN_URLS], path)
    assertUnseen((await ask("owner", "GET", `console/${path}`)).text, secrets, path)
  }
})

it("no refusal repeats a secret", async () => {
  const refused: ReadonlyArray<readonly [path: string, body: unknown]> = [
    ["addresses", { url: "http://ann:planted-password@127.0.0.1/?q=planted-address-query" }],
    ["addresses", { url: "ftp://127.0.0.1/?q=planted-address-query" }],
    ["addresses", { url: "http://10.1.2.3/?q=planted-address-query" }],
    [
      "addresses",
      { url: "http://127.0.0.1:9/", headers: [{ name: "X-A", value: "planted-address-header\r\nX-B: 1" }] },
    ],
    [
      "addresses",
      { url: "https://127.0.0.1/", client_identity: { certificate: "planted", key: "planted-client-key" } },
    ],
    ["polls", { source_id: 1, url: "http://127.0.0.1:9/", headers: [{ name: "Host", value: "planted-poll-header" }] }],
    ["polls", { source_id: 98_765, url: "http://127.0.0.1:9/?key=planted-poll-query" }],
    ["sources", { name: "x", verify: { recipe: "github", secret: "planted-verify-secret".repeat(500) } }],
    ["sources", { name: "x", verify: { recipe: "standard_webhooks", secret: "planted-verify-secret" } }],
    ["sources", { name: "x", challenge: { provider: "none", secret: "planted-challenge-secret" } }],
    ["sources", { name: "x", proof: { kind: "turnstile", site_key: "no key", secret: "planted-proof-secret" } }],
    ["me/password", { password: "planted-password", current: "planted-password" }],
  ]
  const sought = [...secrets, ...IN_URLS, "planted-password", "planted-client-key"]
  for (const [path, body] of refused) {
    const { status, text } = await ask("owner", "POST", `manage/v1/${path}`, body)
    assert.isAtLeast(status, 400, `${path} ${text}`)
    assertUnseen(text, sought, `${path} ${text}`)
  }
  const rows = JSON.stringify(await database.run("SELECT a::text AS entry FROM cabinet.audit a"))
  assertUnseen(rows, sought, "the audit log")
})

it("the log has no secret, even at the most detailed level", async () => {
  assert.isNotEmpty(logged)
  assertUnseen(logged.join("\n"), [...secrets, ...IN_URLS, "planted-password", "planted-client-key"], "the log")
})
