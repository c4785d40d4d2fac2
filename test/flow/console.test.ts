/**
 * The console over HTTP, without a browser. A table's screen shows, cell for cell, what the API returns for the same query
 * string, and refuses what the API refuses. Roles hold, and nothing that senders sent runs.
 */
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { type ConsoleCabinet, consoleCabinet, DIGITS } from "../browser/support/consoleCabinet.ts"
import { Authority } from "../support/certificates.ts"
import { withDatabase } from "../support/postgres.ts"
import { randomOf, seeded } from "../support/random.ts"

const database = withDatabase()
const clients = new Authority("clients")
const client = clients.issue("cabinet")
clients.remove()
let cabinet: ConsoleCabinet
let viewer: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 300)
  viewer = await cabinet.as("viewer")
})
afterAll(() => cabinet.close())

const see = (path: string, init: RequestInit = {}) =>
  fetch(`${cabinet.base}/console/${path}`, { redirect: "manual", ...init, headers: { ...viewer, ...init.headers } })

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#10": "\n" }
const plain = (html: string) => html.replace(/&(#?\w+);/g, (all, name: string) => ENTITIES[name] ?? all)

/** Parses JSON with every number as a marked text of its token. */
const readTokens = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? `#${context!.source}` : value,
  )

const shownValue = (value: unknown): string | null => {
  if (value === null) return null
  if (typeof value === "string") return value.replace(/^#(?=[-\d])/, "")
  if (typeof value === "boolean") return String(value)
  return JSON.stringify(value).replaceAll(/"#([-\d][^"]*)"/g, "$1")
}

/** The cells of a screen, without the cell that opens a row. */
const cellsOf = (html: string): ReadonlyArray<ReadonlyArray<string | null>> =>
  [...html.matchAll(/^<tr>(.*)<\/tr>$/gm)].map(([, line]) =>
    [...line!.matchAll(/<td([^>]*)>(.*?)<\/td>/g)]
      .filter(([, attributes]) => !attributes!.includes('class="o"'))
      .map(([, attributes, inside]) => {
        if (/ class="z( p)?"/.test(attributes!)) return null
        const text = plain(/^<(?:time datetime="|i>)([^"<]*)/.exec(inside!)?.[1] ?? inside!)
        // A structure's white space is PostgreSQL's own.
        return /^[[{]/.test(text) ? shownValue(readTokens(text)) : text
      }),
  )

/** The same cells from the API's JSON, with numbers by their tokens. */
const cellsOfApi = (text: string): ReadonlyArray<ReadonlyArray<string | null>> => {
  const { data, columns } = readTokens(text) as {
    data: ReadonlyArray<Record<string, unknown>>
    columns: ReadonlyArray<{ name: string }>
  }
  return data.map((row) => columns.map(({ name }) => shownValue(row[name])))
}

const COLUMNS = ["_event_id", "_received_at", "order_no", "customer", "total", "paid", "note", "items", "nothing"]
const CONDITIONS = ["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty", "like"]
const VALUES = ["Ada", "10", "", "true", "<b>", "4.5", "2026-11-24", "'", "Иван"]

const selection = (seed: number): string => {
  const random = seeded(seed)
  const pick = (items: ReadonlyArray<string>) => randomOf(random, items)
  const pairs: Array<[string, string]> = []
  const maybe = (chance: number, ...more: ReadonlyArray<[string, string]>) => {
    if (random(100) < chance) pairs.push(...more)
  }
  maybe(30, ["q", pick(VALUES)])
  for (let filter = 0; filter < 2; filter++) {
    maybe(35, ["fc", pick(COLUMNS)], ["fo", pick(CONDITIONS)], ["fv", pick(VALUES)])
  }
  maybe(20, ["per", pick(["_received_at", "total"])], ["from", pick(["2020-01-01", "nonsense"])])
  maybe(50, ["sort", pick(COLUMNS)])
  maybe(40, ["dir", pick(["asc", "desc", "up"])])
  maybe(20, ["hide", pick(COLUMNS)])
  maybe(15, ["order", pick(COLUMNS)])
  maybe(15, ["col", pick(COLUMNS)])
  maybe(30, ["limit", pick(["1", "7", "1000", "0"])])
  maybe(5, ["cursor", "nonsense"])
  maybe(5, ["unknown", "1"])
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")
}

it("300 random selections are shown as the API returns them, and refused with its code", async () => {
  let refused = 0
  for (let seed = 1; seed <= 300; seed++) {
    // A token may make 300 requests a minute.
    if (seed % 100 === 0) viewer = await cabinet.as("viewer")
    const query = selection(seed)
    const api = await fetch(`${cabinet.base}/api/v1/tables/sources/orders/rows?${query}`, {
      headers: { "x-api-key": cabinet.key },
    })
    const screen = await see(`tables/sources/orders?${query}`)
    const [json, html] = [await api.text(), await screen.text()]
    assert.strictEqual(screen.status, api.status, query)
    if (api.status === 200) assert.deepStrictEqual(cellsOf(html), cellsOfApi(json), query)
    else {
      refused++
      assert.include(html, `<code>${(JSON.parse(json) as any).error.code}</code>`, query)
    }
  }
  assert.isAbove(refused, 30)
  assert.isBelow(refused, 270)
})

it("a number of 40 digits is on the screen as sent, and in the opened row", async () => {
  const sent = `${DIGITS.slice(0, 36)}0007`
  const html = await (await see(`tables/sources/orders?fc=order_no&fo=eq&fv=${sent}`)).text()
  assert.include(html, `<td class="n">${sent}</td>`)
  const path = /<a href="[^"]*\/console\/([^"]*\/row\?[^"]*)"/.exec(html)![1]!
  assert.include(await (await see(plain(path))).text(), `>${sent}</span>`)
})

it("pages are linked, and every row is on one of them", async () => {
  const seen: Array<string> = []
  let path: string | undefined = "tables/sources/orders?limit=70&sort=customer"
  while (path !== undefined) {
    const html: string = await (await see(path)).text()
    seen.push(...cellsOf(html).map(([id]) => id!))
    const next: string | undefined = /<a rel="next" href="[^"]*\/console\/([^"]*)"/.exec(html)?.[1]
    path = next === undefined ? undefined : plain(next)
  }
  assert.strictEqual(seen.length, 300)
  assert.strictEqual(new Set(seen).size, 300)
})

it("the screen's form submits to the address of the selection, and to nothing else", async () => {
  const form =
    "q=&fc=total&fo=ge&fv=10&fc=&fo=eq&fv=&per=_received_at&from=&to=&sort=total&show=total&show=customer&show=_event_id&show=_received_at&show=order_no&show=paid&show=note"
  const answer = await see(`tables/sources/orders/select?${form}`)
  assert.strictEqual(answer.status, 303)
  const leads = new URL(answer.headers.get("location")!, cabinet.base)
  assert.strictEqual(leads.pathname, "/data/console/tables/sources/orders")
  assert.strictEqual(leads.search, "?fc=total&fo=ge&fv=10&sort=total&hide=items")
})

it("a form of another origin changes nothing", async () => {
  const send = (headers: Record<string, string>) =>
    see("me", { method: "POST", body: new URLSearchParams({ language: "ru" }), headers })
  assert.strictEqual((await send({})).status, 403)
  assert.strictEqual((await send({ origin: "https://elsewhere.example" })).status, 403)
  assert.strictEqual((await send({ "sec-fetch-site": "cross-site", origin: new URL(cabinet.base).origin })).status, 403)
  assert.strictEqual((await send({ "sec-fetch-site": "same-site" })).status, 403)
  const own = await send({ "sec-fetch-site": "same-origin" })
  assert.strictEqual(own.status, 303)
  assert.match(own.headers.get("set-cookie")!, /^cabinet-language=ru; Path=\/data\/console; .*HttpOnly; SameSite=Lax$/)
  assert.strictEqual((await send({ origin: new URL(cabinet.base).origin })).status, 303)
})

it("a screen runs only the console's own script, and is never cached", async () => {
  const { headers } = await see("tables/sources/orders")
  const policy = headers.get("content-security-policy")!
  for (const rule of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"]) {
    assert.include(policy, rule)
  }
  assert.notInclude(policy, "unsafe")
  assert.strictEqual(headers.get("cache-control"), "no-store")
  const html = await (await see("tables/sources/orders")).text()
  assert.notMatch(html, / style="| on[a-z]+="|<script>|javascript:/)
  assert.notInclude(html, "<b>&amp;</td>")
})

it("an unknown table, an insufficient role and a wrong method are reported with their status", async () => {
  assert.strictEqual((await see("tables/sources/nothing")).status, 404)
  assert.strictEqual((await see("tables/cabinet/event")).status, 404)
  assert.strictEqual((await see("tables", { headers: await cabinet.as("uploader") })).status, 403)
  assert.strictEqual((await see("tables", { headers: { authorization: "Bearer dco_wrong" } })).status, 401)
  assert.strictEqual((await see("tables", { headers: { authorization: "" } })).status, 303)
  const put = await see("tables", { method: "PUT" })
  assert.strictEqual(put.status, 405)
  assert.strictEqual(put.headers.get("allow"), "GET")
})

it("an event is shown with every digit, and its original is never a page", async () => {
  const html = await (await see("events/8")).text()
  assert.include(html, `<span class="value mono">${DIGITS.slice(0, 36)}0007</span>`)
  assert.include(html, "0.10000000000000000001")
  const original = await see("events/8/original")
  assert.strictEqual(original.headers.get("content-type"), "application/octet-stream")
  assert.match(original.headers.get("content-disposition")!, /^attachment/)
  assert.match(original.headers.get("content-security-policy")!, /^sandbox/)
  assert.strictEqual((await see("events/999999")).status, 404)
  assert.strictEqual((await see("events/x")).status, 404)
})

it("a body of invalid JSON is shown with the position of the error", async () => {
  const headers = { "content-type": "application/json" }
  const sent = await fetch(cabinet.source.intakeUrl, {
    method: "POST",
    headers,
    body: '{"a": <script>alert(1)</script>}',
  })
  const { id } = (await sent.json()) as { id: number }
  const html = await (await see(`events/${id}`)).text()
  assert.include(html, "{&quot;a&quot;: <mark>&lt;</mark>script&gt;alert(1)")
  assert.notInclude(html, "<script>alert")
})

it("events are listed newest first, by text and by number", async () => {
  const ids = async (query: string) =>
    [...(await (await see(`events?${query}`)).text()).matchAll(/<th scope="row"><a href="[^"]*">#(\d+)</g)].map(
      ([, id]) => Number(id),
    )
  const all = await ids("state=row")
  assert.deepStrictEqual(
    all,
    all.toSorted((one, other) => other - one),
  )
  assert.strictEqual(all.length, 50)
  assert.deepStrictEqual(await ids(`text=${DIGITS.slice(0, 36)}0007`), [8])
  assert.deepStrictEqual(await ids("text=%238"), [8])
  assert.deepStrictEqual(await ids("text=nothing+has+this"), [])
})

it("a whole selection is exported to the last digit, and a refused one with its status", async () => {
  const csv = await see(
    "tables/sources/orders/export.csv?fc=total&fo=lt&fv=9&sort=total&col=order_no&col=customer&col=note",
  )
  assert.strictEqual(csv.headers.get("content-type"), "text/csv; charset=utf-8; header=present")
  const digits = DIGITS.slice(0, 36)
  const expected = ["order_no,customer,note", `${digits}0000,Иван <b>&,`, `${digits}0001,Ada,""`]
  assert.deepStrictEqual((await csv.text()).split("\r\n").slice(0, 3), expected)
  const ndjson = await (await see("tables/sources/orders/export.ndjson?fc=order_no&fo=notempty&limit=7")).text()
  assert.strictEqual(ndjson.trimEnd().split("\n").length, 300)
  assert.include(ndjson, `"order_no":${digits}0299`)
  assert.strictEqual((await see("tables/sources/orders/export.csv?sort=nothing")).status, 400)
  assert.strictEqual((await see("tables/sources/nothing/export.csv")).status, 404)
})

const press = (path: string, form: Readonly<Record<string, string>>, as: Readonly<Record<string, string>>) =>
  see(path, {
    method: "POST",
    body: new URLSearchParams(form),
    headers: { ...as, "sec-fetch-site": "same-origin" },
  })

it("a client that reads nothing of its export blocks no other client, and gets no second export meanwhile", async () => {
  await cabinet.cabinet.sql(`CREATE TABLE public.large (n int PRIMARY KEY, t text);
    INSERT INTO public.large SELECT n, repeat(md5(n::text), 300) FROM generate_series(1, 4000) n`)
  const [hostile, honest] = [await cabinet.as("viewer"), await cabinet.as("viewer")]
  const get = (as: Readonly<Record<string, string>>, init: RequestInit = {}) =>
    fetch(`${cabinet.base}/console/tables/public/large/export.ndjson`, { ...init, headers: as })
  const leaving = new AbortController()
  const stalled = await get(hostile, { signal: leaving.signal })
  assert.strictEqual(stalled.status, 200)
  const second = await get(hostile)
  assert.strictEqual(second.status, 409)
  assert.include(await second.text(), "Your export before this one is still being sent.")
  const whole = await (await get(honest)).text()
  assert.strictEqual(whole.split("\n").length, 4_001)
  leaving.abort()
  await vi.waitUntil(
    async () => {
      const again = await get(hostile)
      await again.body?.cancel()
      return again.status === 200
    },
    { timeout: 120_000 },
  )
})

it("a key is shown once, works immediately, and is refused after it was revoked", async () => {
  const editor = await cabinet.as("editor")
  const issued = await press("keys", { name: "<b>Warehouse</b>" }, editor)
  assert.strictEqual(issued.status, 200)
  const html = await issued.text()
  assert.strictEqual(issued.headers.get("content-encoding"), null)
  assert.notInclude(html, "<b>Warehouse")
  const [key] = /dck_[\w-]{43}/.exec(html)!
  const reads = async () => (await fetch(`${cabinet.base}/api/v1/tables`, { headers: { "x-api-key": key! } })).status
  assert.strictEqual(await reads(), 200)
  const later = await (await see("integrations")).text()
  assert.notInclude(later, key!)
  const revoking = [...(await (await see("integrations", { headers: editor })).text()).matchAll(/(keys\/\d+\/revoke)/g)]
  assert.strictEqual((await press(revoking.at(-1)![1]!, {}, editor)).status, 303)
  assert.strictEqual(await reads(), 401)
})

it("the login for reports is shown only to owners, and refused with a message when the database listens on no port", async () => {
  const owner = await cabinet.as("owner")
  assert.include(await (await see("integrations", { headers: owner })).text(), "set CABINET_POSTGRES_PORT")
  assert.notInclude(await (await see("integrations")).text(), "Reports in SQL")
  const issued = await press("report-login", {}, owner)
  assert.strictEqual(issued.status, 409)
  assert.include(await issued.text(), "The database listens on no TCP port")
  for (const path of ["report-login", "report-login/revoke"]) {
    assert.strictEqual((await press(path, {}, viewer)).status, 403, path)
  }
})

it("a viewer is offered no actions, and each of them is refused", async () => {
  for (const path of ["sources", `sources/${cabinet.source.id}`, "integrations"]) {
    assert.notInclude(await (await see(path)).text(), 'method="post"', path)
  }
  const acts = ["reveal", "rotate", "change", "archive", "restore", "delete"]
  for (const act of acts) {
    assert.strictEqual((await press(`sources/${cabinet.source.id}/${act}`, {}, viewer)).status, 403, act)
  }
  for (const path of ["keys", "addresses", "addresses/1/ping", "addresses/1/resend", "sources"]) {
    assert.strictEqual((await press(path, { name: "x" }, viewer)).status, 403, path)
  }
})

it("a source is added, shows its address on request, accepts events, and is deleted only by typing its name", async () => {
  const owner = await cabinet.as("owner")
  const added = await press("sources", { name: "Letters" }, owner)
  assert.strictEqual(added.status, 303)
  const path = /console\/(sources\/\d+)$/.exec(added.headers.get("location")!)![1]!
  assert.notMatch(await (await see(path, { headers: owner })).text(), /webhook\/[\w-]{20}/)
  const shown = await (await press(`${path}/reveal`, {}, owner)).text()
  const address = /value="(http[^"]*\/webhook\/[\w-]+)"/.exec(shown)![1]!
  assert.strictEqual((await fetch(address, { method: "POST", body: new URLSearchParams({ a: "1" }) })).status, 200)
  const settings = {
    encoding: "windows-1251",
    thanks_url: "",
    header_fields: "X-Topic x-id",
    keep_query: "on",
    nest_brackets: "on",
  }
  await press(`${path}/change`, { name: "Post", keep_headers: "X-Hub-*,Stripe-Signature", ...settings }, owner)
  const changed = await (await see(path, { headers: owner })).text()
  assert.include(changed, '<option value="windows-1251" selected>')
  assert.include(changed, 'value="X-Hub-*, Stripe-Signature"')
  assert.include(changed, 'value="X-Topic, x-id"')
  assert.include(changed, 'name="keep_query" value="on" checked')
  assert.include(changed, 'name="nest_brackets" value="on" checked')
  const wide = await press(`${path}/change`, { name: "Post", keep_headers: "X-*" }, owner)
  assert.strictEqual(wide.status, 400)
  assert.include(await wide.text(), "<code>bad_keep_headers</code>")
  const verify = {
    recipe: "hmac",
    secret: "hush-hush",
    header: "X-Sig",
    algorithm: "sha1",
    encoding: "hex",
    prefix: "",
    tolerance: "60",
  }
  await press(`${path}/verify`, verify, owner)
  const verified = await (await see(path, { headers: owner })).text()
  for (const part of [
    "<option selected>hmac</option>",
    'value="X-Sig"',
    "<option selected>sha1</option>",
    'value="60"',
  ]) {
    assert.include(verified, part)
  }
  assert.notInclude(verified, "hush")
  assert.strictEqual((await fetch(address, { method: "POST", body: "b=1" })).status, 401)
  for (const recipe of ["github", "nonsense"]) {
    const response = await press(`${path}/verify`, { ...verify, recipe, secret: "" }, owner)
    assert.match(await response.text(), /<code>bad_verify(_secret)?<\/code>/)
  }
  assert.strictEqual((await fetch(address, { method: "POST", body: "b=1" })).status, 401)
  await press(`${path}/verify`, { ...verify, mode: "mark", secret: "" }, owner)
  assert.include(
    await (await see(path, { headers: owner })).text(),
    '<option value="mark" selected>are kept and marked</option>',
  )
  const unsigned = (await (await fetch(address, { method: "POST", body: "b=3" })).json()) as { id: number }
  const marked = await (await see(`events/${unsigned.id}`, { headers: owner })).text()
  assert.include(marked, "<dt>Sender</dt><dd>not verified by hmac: there was no signature</dd>")
  const list = await (await see("events?state=unverified", { headers: owner })).text()
  assert.include(list, `events/${unsigned.id}`)
  assert.match(list, /badge[^>]*>unverified</)
  assert.include(marked, `/console/events/${unsigned.id}/verify"`)
  const unchecked = await press(`events/${unsigned.id}/verify`, { deliver: "yes" }, owner)
  assert.match(await unchecked.text(), /Not checked: it was not signed, or the source did not keep the headers/)
  await press(`${path}/challenge`, { provider: "x", secret: "hush-hush" }, owner)
  const answering = await (await see(path, { headers: owner })).text()
  assert.include(answering, "<option selected>x</option>")
  assert.notInclude(answering, "hush-hush")
  assert.include(await (await fetch(`${address}?crc_token=abc`)).text(), "response_token")
  const unsecret = await press(`${path}/challenge`, { provider: "meta", secret: "" }, owner)
  assert.include(await unsecret.text(), "<code>bad_challenge</code>")
  await press(`${path}/challenge`, { provider: "" }, owner)
  assert.strictEqual((await fetch(`${address}?crc_token=abc`)).status, 405)
  const unproven = await press(`${path}/proof`, { kind: "turnstile", site_key: "0x4", secret: "" }, owner)
  assert.include(await unproven.text(), "<code>bad_proof</code>")
  await press(`${path}/proof`, { kind: "turnstile", site_key: "0x4AAA", secret: "hush-hush" }, owner)
  const demanding = await (await see(path, { headers: owner })).text()
  assert.include(demanding, '<option value="turnstile" selected>')
  assert.notInclude(demanding, "hush-hush")
  await press(`${path}/proof`, { kind: "altcha", site_key: "0x4AAA", secret: "" }, owner)
  const forms = await (await press(`${path}/reveal`, {}, owner)).text()
  assert.include(forms, "/proof.js&quot; defer&gt;&lt;/script&gt;")
  assert.match(forms, /<pre class="text">script-src http:\S+; connect-src http/)
  assert.notInclude(forms, "curl http")
  assert.strictEqual((await fetch(`${address}/challenge`)).status, 200)
  const robot = (await (await fetch(address, { method: "POST", body: "b=4" })).json()) as { id: number }
  assert.include(
    await (await see(`events/${robot.id}`, { headers: owner })).text(),
    "it came without a proof of a person",
  )
  await press(`${path}/proof`, { kind: "" }, owner)
  const patterns = { value: "t={timestamp},v1={signature}", signed: "{timestamp}.{body}" }
  await press(`${path}/verify`, { ...verify, ...patterns }, owner)
  const described = await (await see(path, { headers: owner })).text()
  for (const pattern of Object.values(patterns)) assert.include(described, `value="${pattern}"`)
  await press(`${path}/verify`, { ...verify, header: "", field: "sig" }, owner)
  assert.include(await (await see(path, { headers: owner })).text(), 'name="field" maxlength="200" value="sig"')
  const token = { recipe: "token", secret: "hush-hush", place: "query", place_name: "key" }
  await press(`${path}/verify`, token, owner)
  const placed = await (await see(path, { headers: owner })).text()
  for (const part of ["<option selected>token</option>", '<option value="query" selected>', 'value="key"'])
    assert.include(placed, part)
  assert.strictEqual((await fetch(`${address}?key=hush-hush`, { method: "POST", body: "b=1" })).status, 200)
  // An empty name keeps the current place.
  await press(`${path}/verify`, { ...token, secret: "", place: "header", place_name: "" }, owner)
  assert.strictEqual((await fetch(`${address}?key=guess`, { method: "POST", body: "b=1" })).status, 401)
  const nowhere = await press(`${path}/verify`, { ...token, place: "field", place_name: "a\u0001" }, owner)
  assert.include(await nowhere.text(), "<code>bad_verify</code>")
  await press(`${path}/verify`, { recipe: "" }, owner)
  const rules = { name: "Post", honeypot: "website", allow_origins: "" }
  await press(`${path}/change`, { ...rules, allow_origins: "https://a.example.com/form" }, owner)
  await press(`${path}/change`, { ...settings, ...rules, keep_headers: "X-Hub-*,Stripe-Signature" }, owner)
  const form = await (await press(`${path}/reveal`, {}, owner)).text()
  assert.include(form, "&lt;input name=&quot;website&quot; tabindex=&quot;-1&quot;")
  const trapped = (await (await fetch(address, { method: "POST", body: "website=x" })).json()) as { id: number }
  const spam = await (await see(`events/${trapped.id}`, { headers: owner })).text()
  assert.include(spam, "This event was classified as spam: a field was filled that people leave empty.")
  const spamList = await (await see("events?state=spam", { headers: owner })).text()
  assert.include(spamList, `events/${trapped.id}`)
  assert.include(spamList, "spam: hidden field filled")
  await press(`events/${trapped.id}/restore`, {}, owner)
  assert.notInclude(await (await see(`events/${trapped.id}`, { headers: owner })).text(), "classified as spam")
  const kept = { "x-hub-signature-256": "sha256=00ff", "x-topic": "<orders>", cookie: "hush=1" }
  const sent = await fetch(`${address}?shop=%D1%8F`, { method: "POST", body: "b=2", headers: kept })
  const event = await (await see(`events/${((await sent.json()) as { id: number }).id}`, { headers: owner })).text()
  assert.include(event, "<dt>x-hub-signature-256</dt><dd>sha256=00ff</dd>")
  assert.include(event, '<dt>X-Topic</dt><dd><span class="value">&lt;orders&gt;</span></dd>')
  assert.include(event, "<dd>shop=%D1%8F</dd>")
  assert.notInclude(event, "hush")
  assert.strictEqual((await press(`${path}/change`, { name: "" }, owner)).status, 400)
  await press(`${path}/archive`, {}, owner)
  assert.strictEqual((await fetch(address, { method: "POST", body: "x" })).status, 404)
  assert.strictEqual((await press(`${path}/delete`, { table: "drop", confirm: "post" }, owner)).status, 400)
  assert.strictEqual((await press(`${path}/delete`, { table: "drop", confirm: "Post" }, owner)).status, 303)
  assert.strictEqual((await see(path)).status, 404)
})

it("a delivery address is pinged, paused, and resends deliveries after counting them", async () => {
  const editor = await cabinet.as("editor")
  const refused = await press("addresses", { url: "http://10.0.0.5/hook?token=secret", scope: "all" }, editor)
  assert.strictEqual(refused.status, 400)
  assert.include(await refused.text(), "<code>not_public</code>")
  const added = await press("addresses", { url: `${cabinet.base}/nowhere?token=secret`, scope: "all" }, editor)
  const path = /console\/(addresses\/\d+)$/.exec(added.headers.get("location")!)![1]!
  assert.notInclude(await (await see(path)).text(), "token=secret")
  assert.notMatch(
    await (await see(path, { headers: editor })).text(),
    /whsec_|(?<!name="form_id" )value="[\w+/=-]{32,}"/,
  )
  const checked = await (await press(`${path}/ping`, {}, editor)).text()
  assert.match(checked, /class="box error" role="status">.*404/)
  const listed = await (await see("integrations")).text()
  assert.match(
    listed,
    /nowhere(?:(?!<\/tr>).)*<span class="badge warn">404<\/span>(?:(?!<\/tr>).)*0 delivered · 1 failed attempt"/,
  )
  await press(`${path}/pause`, {}, editor)
  assert.include(await (await see(path)).text(), ">paused<")
  const range = { from: "2020-01-01T00:00", to: "2040-01-01T00:00", only: "all" }
  assert.include(await (await press(`${path}/resend`, range, editor)).text(), "This sends 0 deliveries again.")
  const url = `${cabinet.base}/nowhere?token=secret`
  await press(`${path}/change`, { url, scope: "all", fc: "customer", fo: "eq", fv: "<nobody>" }, editor)
  assert.include(plain(await (await see(path)).text()), "<dd>customer is <nobody></dd>")
  // A form without filters leaves the filters unchanged.
  await press(`${path}/change`, { url, scope: "all" }, editor)
  const sending = {
    header_name: "Authorization",
    header_value: "Bearer hush",
    rate: "20",
    timeout_seconds: "",
    give_up_after_seconds: "7d",
    pause_on_gone: "on",
  }
  await press(`${path}/change`, { url, scope: "all", ...sending }, editor)
  const limited = await (await see(path, { headers: editor })).text()
  for (const part of ['<dd class="mono">Authorization</dd>', "<dd>20</dd>", 'name="rate" type="number"']) {
    assert.include(limited, part)
  }
  for (const part of ["<dd>7 days</dd>", 'name="pause_on_gone" value="on" checked>']) {
    assert.include(limited, part)
  }
  assert.notInclude(limited, "hush")
  const two = { header_name: "X-Tenant", header_value: "hush" }
  await press(`${path}/headers`, two, editor)
  const both = await (await see(path, { headers: editor })).text()
  assert.include(both, '<dd class="mono">Authorization, X-Tenant</dd>')
  assert.include(both, '<button aria-label="Remove: X-Tenant">Remove</button>')
  assert.notInclude(both, "hush")
  assert.notInclude(await (await see(path)).text(), "X-Tenant</bdi>")
  await press(`${path}/headers`, { remove: "Authorization" }, editor)
  const typed = { url, scope: "all", headers: "keep", header_name: "Authorization", header_value: "Bearer hush" }
  await press(`${path}/change`, typed, editor)
  const again = await (await see(path, { headers: editor })).text()
  assert.include(again, '<dd class="mono">X-Tenant, Authorization</dd>')
  const unfit = await press(`${path}/headers`, { header_name: "Host", header_value: "hush" }, editor)
  assert.include(await unfit.text(), "<code>bad_header</code>")
  assert.strictEqual((await press(`${path}/headers`, two, viewer)).status, 403)
  const moved = await press(`${path}/change`, { url: "http://127.0.0.1:9/", scope: "all", headers: "keep" }, editor)
  assert.include(await moved.text(), "<code>headers_needed</code>")
  assert.strictEqual((await press(`${path}/change`, { url, scope: "all", rate: "a" }, editor)).status, 400)
  await press(`${path}/change`, { url, scope: "all", headers: "replace", rate: "", timeout_seconds: "7" }, editor)
  const freed = await (await see(path, { headers: editor })).text()
  assert.notInclude(freed, "Authorization</dd>")
  assert.include(freed, "<dd>7</dd>")
  const pair = { client_identity_certificate: client.cert, client_identity_key: client.key }
  const secure = url.replace("http:", "https:")
  await press(`${path}/change`, { url: secure, scope: "all", ...pair }, editor)
  const identified = await (await see(path, { headers: editor })).text()
  assert.match(
    identified,
    /<dt>Client certificate<\/dt><dd><bdi>CN=cabinet<\/bdi><\/dd><dt>Issued by<\/dt><dd><bdi>CN=clients</,
  )
  for (const line of pair.client_identity_key.split("\n").slice(1, 3)) assert.notInclude(identified, line)
  assert.notInclude(await (await see(path)).text(), "client-certificate/remove")
  const moving = await press(
    `${path}/change`,
    { url, scope: "all", client_identity_certificate: "", client_identity_key: "" },
    editor,
  )
  assert.include(await moving.text(), "<code>certificate_needed</code>")
  const alone = await press(
    `${path}/change`,
    { url: secure, scope: "all", client_identity_certificate: client.cert },
    editor,
  )
  assert.include(await alone.text(), "<code>bad_client_key</code>")
  assert.strictEqual((await press(`${path}/client-certificate/remove`, {}, viewer)).status, 403)
  assert.strictEqual((await press(`${path}/client-certificate/remove`, {}, editor)).status, 303)
  assert.notInclude(await (await see(path, { headers: editor })).text(), "CN=cabinet")
  await press(`${path}/change`, { url, scope: "all" }, editor)
  const tested = await (await press(`${path}/test`, { event: "1" }, viewer)).text()
  assert.match(tested, /class="box error" role="status">.*The event would not be sent\..*does not hold, with/s)
  assert.strictEqual((await press(`${path}/test`, { event: "0" }, viewer)).status, 404)
  const wrong = { url, scope: "all", fc: "customer", fo: "like", fv: "x" }
  assert.strictEqual((await press(`${path}/change`, wrong, editor)).status, 400)
  assert.strictEqual((await press(`${path}/resend`, { ...range, from: "never" }, editor)).status, 400)
  assert.strictEqual((await press(`${path}/remove`, {}, editor)).status, 303)
  assert.strictEqual((await see(path)).status, 404)
})

it("a source gets a new address while the old one is kept, and shows the requests refused because of a rate", async () => {
  const editor = await cabinet.as("editor")
  const added = await press("sources", { name: "Moving" }, editor)
  const path = /console\/(sources\/(\d+))$/.exec(added.headers.get("location")!)!
  const unread = await press(`${path[1]}/rotate`, { keep_old: "a day" }, editor)
  assert.deepStrictEqual([unread.status, /<code>bad_expiry</.test(await unread.text())], [400, true])
  const rotated = await (await press(`${path[1]}/rotate`, { keep_old: "24h" }, editor)).text()
  assert.match(rotated, /The address before this one works until/)
  assert.notInclude(await (await see(path[1]!)).text(), "were refused")
  await database.run(
    `INSERT INTO cabinet.limited_requests (source_id, count, since, last_at) VALUES (${path[2]}, 7, cabinet.now(), cabinet.now())`,
  )
  assert.include(await (await see(path[1]!)).text(), "7 requests were refused, because they exceeded the rate limit:")
  await press(`${path[1]}/rotate`, {}, editor)
  assert.notInclude(await (await see(path[1]!)).text(), "works until")
})

it("an exported CSV runs no formulas in a spreadsheet, unless its texts are to stay unchanged", async () => {
  const source = await cabinet.cabinet.sources.create({ name: "Formulas" })
  await cabinet.cabinet.intake(source.id, { fields: { note: "=1+1", total: -5 } })
  const path = "tables/sources/formulas"
  assert.strictEqual(await (await see(`${path}/export.csv?col=note&col=total`)).text(), "note,total\r\n'=1+1,-5\r\n")
  assert.strictEqual(await (await see(`${path}/export.tsv?col=note`)).text(), "note\r\n'=1+1\r\n")
  assert.strictEqual(await (await see(`${path}/export.csv?col=note&unchanged=1`)).text(), "note\r\n=1+1\r\n")
  assert.strictEqual(await (await see(`${path}/export.ndjson?col=note`)).text(), '{"note":"=1+1"}\n')
  assert.include(await (await see(path)).text(), "export.csv?unchanged=1")
})
