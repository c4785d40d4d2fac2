/** Requests as their senders document them, over HTTP: signed ones become events, and others leave nothing. */
import { execFile } from "node:child_process"
import { createHmac } from "node:crypto"
import { gzipSync } from "node:zlib"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { VerificationChange } from "@data-cabinet/core/verification/Verification"
import { afterAll, assert, beforeAll, it, vi } from "@effect/vitest"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

const JSON_TYPE = { "content-type": "application/json" }

const post = async (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
  const response = await fetch(url, { method: "POST", body, headers: { ...JSON_TYPE, ...headers } })
  const type = response.headers.get("www-authenticate")
  return { status: response.status, type, ...((await response.json()) as Record<string, any>) } as Record<string, any>
}

/** Sends a request by curl, as senders document it. */
const curl = async (url: string, body: string, headers: Record<string, string>) => {
  const all = Object.entries({ ...JSON_TYPE, ...headers }).flatMap(([name, value]) => ["-H", `${name}: ${value}`])
  const args = ["-sS", "-X", "POST", ...all, "--data-binary", body, "-w", "\n%{http_code}", url]
  const output = await new Promise<string>((resolve, reject) => {
    execFile("curl", args, (error, stdout) => (error === null ? resolve(stdout) : reject(error)))
  })
  const end = output.lastIndexOf("\n")
  const answer = JSON.parse(output.slice(0, end)) as Record<string, any>
  return { status: Number(output.slice(end)), ...answer } as Record<string, any>
}

const hmac = (secret: string | Uint8Array, text: string | Uint8Array, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(encoding)

const change = (id: number, verify: VerificationChange | null) =>
  cabinet.run(Sources.use((sources) => sources.change(id, { verify })))

const github = (secret: string, body: string | Uint8Array) => ({
  "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
  "x-github-event": "issues",
})

const now = () => String(Math.floor(Date.now() / 1000))

interface Sent {
  readonly recipe: NonNullable<VerificationChange["recipe"]>
  readonly secret: string
  readonly headerFields?: ReadonlyArray<string>
  readonly body: string
  readonly headers: (secret: string, body: string) => Record<string, string>
  /** The column of the event's type, and the type. */
  readonly type: readonly [column: string, value: string]
}

const SENT: ReadonlyArray<Sent> = [
  {
    recipe: "github",
    secret: "It's a Secret to Everybody",
    headerFields: ["X-GitHub-Event"],
    body: '{"action":"opened","issue":{"url":"https://api.github.com/repos/octocat/Hello-World/issues/1347","number":1347}}',
    headers: (secret, body) => ({
      "user-agent": "GitHub-Hookshot/044aadd",
      accept: "*/*",
      "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "x-github-hook-id": "292430182",
      "x-github-hook-installation-target-id": "79929171",
      "x-github-hook-installation-target-type": "repository",
      "x-hub-signature": "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6",
      ...github(secret, body),
    }),
    type: ["x_github_event", "issues"],
  },
  {
    recipe: "stripe",
    secret: "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
    body: '{"id":"evt_1MqqbKLt4dXK03v5qaIbiNCC","object":"event","type":"customer.created","livemode":false}',
    headers: (secret, body) => {
      const time = now()
      return {
        "stripe-signature": `t=${time},v1=${hmac(secret, `${time}.${body}`)},v0=6ffbb59b2300aae63f272406069a9788`,
      }
    },
    type: ["type", "customer.created"],
  },
  {
    recipe: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&command=%2Fwebhook-collect&text=&user_name=roadrunner",
    headers: (secret, body) => {
      const time = now()
      return {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": time,
        "x-slack-signature": `v0=${hmac(secret, `v0:${time}:${body}`)}`,
      }
    },
    type: ["command", "/webhook-collect"],
  },
  {
    recipe: "shopify",
    secret: "hush",
    headerFields: ["X-Shopify-Topic"],
    body: '{"id":820982911946154508,"email":"jon@example.com","total_price":"409.94"}',
    headers: (secret, body) => ({
      "x-shopify-topic": "orders/create",
      "x-shopify-shop-domain": "example.myshopify.com",
      "x-shopify-api-version": "2026-10",
      "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
      "x-shopify-triggered-at": "2026-10-02T20:00:00.000000000Z",
      "x-shopify-hmac-sha256": hmac(secret, body, "base64"),
    }),
    type: ["x_shopify_topic", "orders/create"],
  },
]

it.each(SENT)("$recipe's request is an event whose type is a column, and a forged one leaves nothing", async (sent) => {
  const { recipe, secret, headerFields = [], body, headers, type } = sent
  const source = await cabinet.source(recipe, { headerFields, verify: { recipe, secret } })
  const url = cabinet.address(source)
  assert.deepInclude(await post(url, body, headers("another secret", body)), {
    status: 401,
    type: "Signature",
    ok: false,
    error: "bad_signature",
  })
  assert.deepInclude(await post(url, body, {}), { status: 401, error: "bad_signature" })
  assert.deepInclude(await post(url, `${body} `, headers(secret, body)), { status: 401, error: "bad_signature" })
  assert.deepInclude(await curl(url, body, headers(secret, body)), { status: 200, ok: true, duplicate: false })
  const items = await cabinet.feed(source.id)
  assert.strictEqual(items.length, 1)
  const rows = await database.run(`SELECT "${type[0]}" AS type FROM sources."${source.table!.name}"`)
  assert.deepStrictEqual(rows, [{ type: type[1] }])
  const kept = await database.run(`SELECT FROM cabinet.original_request WHERE source_id = ${source.id}`)
  assert.strictEqual(kept.length, 1)
})

it("the signed text is the body after its content encoding is decoded, also for a batch and a megabyte", async () => {
  const source = await cabinet.source("Coded", { verify: { recipe: "github", secret: "s" } })
  const url = cabinet.address(source)
  const batch = '[{"n":1},{"n":2}]'
  const coded = { ...github("s", batch), "content-encoding": "gzip" }
  assert.deepInclude(await post(url, new Uint8Array(gzipSync(batch)), coded), { status: 200, count: 2 })
  const long = JSON.stringify({ long: "x".repeat(1_048_576 - 11) })
  assert.deepInclude(await post(url, long, github("s", long)), { status: 200, ok: true })
  // The size is checked before the signature, and the format afterwards.
  assert.deepInclude(await post(url, `${long} `, github("wrong", long)), { status: 413, error: "too_large" })
  assert.deepInclude(await post(url, "{", github("wrong", "{")), { status: 401 })
  assert.deepInclude(await post(url, "{", github("s", "{")), { status: 400, error: "bad_json" })
  // Without a header, a sender may have signed the bytes as sent, or a proxy between has compressed what it signed.
  for (const n of [3, 4]) {
    const [text, bytes] = [`{"n":${n}}`, new Uint8Array(gzipSync(`{"n":${n}}`))]
    assert.deepInclude(await post(url, bytes, github("s", n === 3 ? bytes : text)), { status: 200, ok: true })
    assert.deepInclude(await post(url, bytes, github("wrong", n === 3 ? bytes : text)), { status: 401 })
  }
  const broken = { ...github("s", "not gzip"), "content-encoding": "gzip" }
  assert.deepInclude(await post(url, "not gzip", broken), { status: 400, error: "bad_encoding" })
  assert.strictEqual((await cabinet.feed(source.id)).length, 7)
})

it("square signs the public address, regardless of a request's Host", async () => {
  const square = await cabinet.source("Square", { verify: { recipe: "square", secret: "s" } })
  const publicUrl = `http://cabinet.test/webhook/${square.intakeSecret}`
  const signed = { "x-square-hmacsha256-signature": hmac("s", `${publicUrl}?a=%2B{}`, "base64") }
  assert.deepInclude(await post(`${cabinet.address(square)}?a=%2B`, "{}", signed), { status: 200 })
  const own = { "x-square-hmacsha256-signature": hmac("s", `${cabinet.address(square)}{}`, "base64") }
  assert.deepInclude(await post(cabinet.address(square), "{}", own), { status: 401 })
  const examined = () => cabinet.run(Diagnostics.use(({ examine }) => examine))
  // This database has no recorded base URL.
  const { signedAddresses, baseUrl } = await examined()
  assert.deepStrictEqual(
    [signedAddresses, baseUrl],
    [[{ sourceId: square.id, name: "Square", recipe: "square" }], null],
  )
  await change(square.id, null)
  assert.deepStrictEqual((await examined()).signedAddresses, [])
})

it("a secret is rotated without losing a request, and a change applies at once", async () => {
  const source = await cabinet.source("Rotated", { verify: { recipe: "github", secret: "first" } })
  const url = cabinet.address(source)
  let n = 0
  const status = async (secret: string) => {
    const body = `{"n":${++n}}`
    return (await post(url, body, github(secret, body)))["status"]
  }
  const both = async () => [await status("first"), await status("second")]
  assert.deepStrictEqual(await both(), [200, 401])
  assert.deepInclude((await change(source.id, { secret: "second", keepOldSecret: true })).verify, {
    keepsOldSecret: true,
  })
  assert.deepStrictEqual(await both(), [200, 200])
  // Other changes leave both secrets unchanged.
  await cabinet.run(Sources.use((sources) => sources.change(source.id, { name: "Renamed" })))
  await change(source.id, { recipe: "github" })
  assert.deepStrictEqual(await both(), [200, 200])
  await change(source.id, { keepOldSecret: false })
  assert.deepStrictEqual(await both(), [401, 200])
  await change(source.id, { secret: "third" })
  assert.deepStrictEqual(await both(), [401, 401])
  await change(source.id, { recipe: "bearer", secret: "first" })
  assert.deepInclude(await post(url, '{"b":1}', { authorization: "Bearer first" }), { status: 200 })
  assert.deepInclude(await post(url, '{"b":2}', { authorization: "Bearer third" }), { status: 401 })
  await change(source.id, null)
  assert.deepStrictEqual(await status("nobody's"), 200)
})

it("refused requests are counted by source for the operator, until the secret is changed", async () => {
  const source = await cabinet.source("Counted", {
    verify: { recipe: "hmac", secret: "s", hmac: { header: "X-Sig", timestampHeader: "X-Time", prefix: "v1=" } },
  })
  const url = cabinet.address(source)
  const signed = (time: string, body: string) => ({ "x-sig": `v1=${hmac("s", `${time}.${body}`)}`, "x-time": time })
  assert.deepInclude(await post(url, '{"n":1}', signed(now(), '{"n":1}')), { status: 200 })
  const old = String(Number(now()) - 400)
  const answer = await post(url, '{"n":2}', signed(old, '{"n":2}'))
  assert.deepInclude(answer, {
    status: 401,
    detail: "The signature is too old, or its time is too far ahead; nothing was saved",
  })
  // A forgery learns nothing about the time.
  assert.match((await post(url, '{"n":3}', signed(old, '{"n":2}')))["detail"], /^The signature does not match/)
  const refused = async () => {
    const { refusedSignatures } = await cabinet.run(Diagnostics.use(({ examine }) => examine))
    return refusedSignatures.filter(({ sourceId }) => sourceId === source.id)
  }
  const counted = `SELECT FROM cabinet.refused_signature WHERE source_id = ${source.id}`
  await vi.waitUntil(async () => (await database.run(counted)).length === 2, { timeout: 100_000, interval: 200 })
  const counts = (await refused()).map(({ reason, count, recipe }) => [reason, count, recipe])
  assert.sameDeepMembers(counts, [
    ["bad_signature", 1, "hmac"],
    ["old_timestamp", 1, "hmac"],
  ])
  await change(source.id, { secret: "t" })
  assert.deepStrictEqual(await refused(), [])
})

it("no secret is in the events, the requests, the audit log or any response", async () => {
  const secret = "hush-hush"
  const source = await cabinet.source("Told", {
    keepHeaders: ["X-Git*"],
    verify: { recipe: "gitlab", secret },
  })
  const { id } = await post(cabinet.address(source), '{"n":1}', { "x-gitlab-token": secret, "x-gitlab-event": "Push" })
  assert.isNumber(id)
  const shown = JSON.stringify(await cabinet.run(Sources.use((sources) => sources.reveal(source.id))))
  assert.include(shown, '"recipe":"gitlab"')
  const [tables] = await database.run(
    `SELECT (SELECT jsonb_agg(e) FROM cabinet.event e)::text || (SELECT jsonb_agg(o) FROM cabinet.original_request o)::text
       || coalesce((SELECT jsonb_agg(a) FROM cabinet.audit a)::text, '') AS text`,
  )
  for (const text of [shown, String(tables!["text"])]) assert.notInclude(text, secret)
  assert.include(payloadText((await cabinet.feed(source.id))[0]!), '"n":1')
})

it("a token in a header, the query or the body is stored nowhere, in either mode", async () => {
  const secret = "planted-token"
  const kept = { keepHeaders: ["X-Tok*"], headerFields: ["X-Token"], keepQuery: true }
  const form = { "content-type": "application/x-www-form-urlencoded" }
  const sent = [
    [{ header: "X-Token" }, "", '{"n":1}', { "x-token": secret }, '{"n":1}'],
    [{ query: "key" }, `?key=${secret}&b=2`, '{"n":1}', {}, '{"key":"***","b":"2","n":1}'],
    [{ field: "auth.key" }, "", `{"auth":{"key":"${secret}"},"n":1.0}`, {}, '{"auth":{"key":"***"},"n":1.0}'],
    [{ field: "key" }, "", `key=${secret}&n=1`, form, '{"key":"***","n":"1"}'],
  ] as const
  for (const mode of ["reject", "mark"] as const) {
    for (const [place, query, body, headers, payload] of sent) {
      const source = await cabinet.source("Token", { ...kept, verify: { recipe: "token", mode, secret, ...place } })
      const url = cabinet.address(source)
      assert.deepInclude(await post(`${url}${query}`, body, headers), { status: 200 })
      const forged = [query, body, ...Object.values(headers)].map((text) => text.replace(secret, "guess"))
      const guess = await post(`${url}${forged[0]}`, forged[1]!, {
        ...headers,
        ...("x-token" in headers ? { "x-token": "guess" } : {}),
      })
      assert.strictEqual(guess["status"], mode === "reject" ? 401 : 200)
      const items = await cabinet.feed(source.id)
      assert.strictEqual(items.length, mode === "reject" ? 1 : 2)
      assert.deepStrictEqual(
        items.map((item) => payloadText(item)),
        items.map(() => payload),
      )
    }
  }
  const [all] = await database.run(
    `SELECT (SELECT jsonb_agg(e) FROM cabinet.event e)::text || (SELECT jsonb_agg(o) FROM cabinet.original_request o)::text
       || (SELECT string_agg(encode(body, 'escape'), ' ') FROM cabinet.original_request) AS text`,
  )
  assert.notInclude(String(all!["text"]), secret)
  assert.include(String(all!["text"]), "key=***&b=2")
})

it("a mail service is verified by the fields of its body, as JSON and as a form", async () => {
  const source = await cabinet.source("Mail", { verify: { recipe: "mailgun", secret: "s" } })
  const url = cabinet.address(source)
  const at = now()
  const signed = { timestamp: at, token: "t0k", signature: hmac("s", `${at}t0k`) }
  assert.deepInclude(await post(url, JSON.stringify({ signature: signed, "event-data": { event: "opened" } }), {}), {
    status: 200,
  })
  const form = { "content-type": "application/x-www-form-urlencoded" }
  const fields = new URLSearchParams({ recipient: "a@b.c", ...signed })
  assert.deepInclude(await post(url, fields.toString(), form), { status: 200 })
  fields.set("token", "other")
  assert.deepInclude(await post(url, fields.toString(), form), { status: 401, error: "bad_signature" })
  assert.deepInclude(await post(url, "{}", {}), { status: 401 })
  assert.deepStrictEqual((await cabinet.feed(source.id)).length, 2)
})

it("a sender described by patterns is verified, and its description is shown as entered", async () => {
  const signs = { header: "X-Sig", value: "t={timestamp},v1={signature}", signed: "{url}|{timestamp}|{body}" }
  const source = await cabinet.source("Patterns", { verify: { recipe: "hmac", secret: "s", hmac: signs } })
  assert.deepInclude(source.verify!.hmac!, signs)
  const url = cabinet.address(source)
  const publicUrl = `http://cabinet.test/webhook/${source.intakeSecret}`
  const header = (body: string, at = now()) => ({ "x-sig": `t=${at},v1=${hmac("s", `${publicUrl}|${at}|${body}`)}` })
  assert.deepInclude(await post(url, '{"n":1}', header('{"n":1}')), { status: 200 })
  assert.deepInclude(await post(url, '{"n":2}', header('{"n":1}')), { status: 401 })
  assert.deepInclude(await post(url, '{"n":3}', header('{"n":3}', String(Number(now()) - 400))), { status: 401 })
  await change(source.id, { hmac: { signed: null } })
  const at = now()
  assert.deepInclude(await post(url, '{"n":4}', { "x-sig": `t=${at},v1=${hmac("s", `${at}.{"n":4}`)}` }), {
    status: 200,
  })
  const { signedAddresses } = await cabinet.run(Diagnostics.use(({ examine }) => examine))
  assert.notInclude(
    signedAddresses.map(({ sourceId }) => sourceId),
    source.id,
  )
  await change(source.id, { hmac: { signed: signs.signed } })
  const after = await cabinet.run(Diagnostics.use(({ examine }) => examine))
  assert.include(
    after.signedAddresses.map(({ sourceId }) => sourceId),
    source.id,
  )
})

it("a shop's unsigned ping gets a 200 and leaves nothing, and its signed requests are events", async () => {
  const source = await cabinet.source("Shop", { from: "woocommerce", verify: { secret: "s" } })
  assert.strictEqual(source.verify!.recipe, "woocommerce")
  const url = cabinet.address(source)
  const form = { "content-type": "application/x-www-form-urlencoded" }
  assert.deepStrictEqual(await post(url, "webhook_id=5", form), { status: 200, type: null, ok: true })
  assert.deepInclude(await post(url, "webhook_id=5&a=1", form), { status: 401, error: "bad_signature" })
  const body = '{"id":7}'
  const headers = { "x-wc-webhook-topic": "order.created", "x-wc-webhook-signature": hmac("s", body, "base64") }
  assert.deepInclude(await post(url, body, headers), { status: 200 })
  assert.strictEqual((await cabinet.feed(source.id)).length, 1)
})
