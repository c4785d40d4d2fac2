/** People, tokens, sessions and the audit log in the console, without a browser. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let owner: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  owner = visitor(cabinet.base, await cabinet.as("owner"))
})
afterAll(() => cabinet.close())

const idOfPerson = async (name: string): Promise<string> =>
  new RegExp(`people/(\\d+)">${name}<`).exec((await owner.get("/console/people")).text)![1]!

/** Invites a person on the screen, and signs them in by the shown link. */
const invited = async (name: string, role: string): Promise<Visitor> => {
  const shown = await owner.post("/console/people", { name, role })
  assert.strictEqual(shown.status, 200, shown.text)
  const link = /value="([^"]*\/console\/welcome#dcl_[\w-]{43})"/.exec(shown.text)![1]!
  assert.notInclude((await owner.get("/console/people")).text, link)
  const who = visitor(cabinet.base)
  assert.strictEqual((await who.post("/console/welcome", { link })).status, 303)
  return who
}

it("an invited person signs in once by the link that is shown once, and acts by their role", async () => {
  const grace = await invited("Grace", "viewer")
  assert.strictEqual((await grace.get("/console/tables")).status, 200)
  for (const path of ["people", "people/1", "tokens", "audit"]) {
    assert.strictEqual((await grace.get(`/console/${path}`)).status, 403, path)
  }
  assert.notInclude((await grace.get("/console/tables")).text, "/console/people")
  const id = await idOfPerson("Grace")
  for (const path of ["people", `people/${id}/change`, `people/${id}/link`, `people/${id}/remove`, "tokens"]) {
    assert.strictEqual((await grace.post(`/console/${path}`, { name: "x", role: "owner" })).status, 403, path)
  }
  await owner.post(`/console/people/${id}/change`, { name: "Grace Hopper", role: "editor" })
  assert.include((await grace.get("/console/me")).text, "Grace Hopper")
  assert.strictEqual((await owner.post(`/console/people/${id}/change`, { name: "Grace", role: "queen" })).status, 400)
})

it("a person is removed only by typing the name, and the last owner stays", async () => {
  const who = await invited("Edsger", "owner")
  const id = await idOfPerson("Edsger")
  assert.strictEqual((await owner.post(`/console/people/${id}/remove`, { confirm: "edsger" })).status, 400)
  const last = await owner.post(`/console/people/${id}/remove`, { form_at: `/console/people/${id}`, confirm: "Edsger" })
  assert.strictEqual(last.status, 409)
  assert.include(last.text, "<code>last_owner</code>")
  assert.match(last.text, /name="confirm"[^>]*value="Edsger"/)
  await invited("Barbara", "owner")
  assert.strictEqual((await owner.post(`/console/people/${id}/remove`, { confirm: "Edsger" })).status, 303)
  assert.strictEqual((await who.get("/console/tables")).status, 303)
  assert.strictEqual((await owner.get(`/console/people/${id}`)).status, 404)
})

it.each(["sessions", "people/1"])("the sessions of %s have pages, newest first", async (screen) => {
  await database.run(`INSERT INTO cabinet.session (person_id, fingerprint, method)
    SELECT 1, sha256(n::text::bytea), 'link' FROM generate_series(1, 120) n`)
  const ids: Array<number> = []
  let pages = 0
  for (let next: string | undefined = `/console/${screen}`; next !== undefined; pages++) {
    const { text }: { readonly text: string } = await owner.get(next)
    for (const [, id] of text.matchAll(/action="[^"]*\/console\/sessions\/(\d+)\/end"/g)) ids.push(Number(id))
    const [, after] = /<a rel="next" href="[^"]*\?after=(\d+)/.exec(text) ?? []
    next = after === undefined ? undefined : `/console/${screen}?after=${after}`
    if (screen === "people/1") assert.include(text, " is signed out of all sessions ")
  }
  assert.isAtLeast(pages, 2)
  assert.isAtLeast(ids.length, 120)
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => b - a),
  )
  await database.run(
    "DELETE FROM cabinet.session WHERE fingerprint IN (SELECT sha256(n::text::bytea) FROM generate_series(1, 120) n)",
  )
})

it("people see and end only their own sessions", async () => {
  const alan = await invited("Alan", "viewer")
  const kurt = await invited("Kurt", "viewer")
  const own = await kurt.get("/console/sessions")
  assert.include(own.text, ">this one<")
  assert.notInclude(own.text, "Alan")
  const ends = (text: string) =>
    [...text.matchAll(/action="[^"]*(\/console\/sessions\/\d+\/end)"/g)].map(([, at]) => at!)
  const [alans] = ends((await alan.get("/console/sessions")).text)
  assert.strictEqual((await kurt.post(alans!, {})).status, 404)
  assert.strictEqual((await alan.get("/console/tables")).status, 200)
  assert.isAtLeast(ends((await owner.get("/console/sessions")).text).length, 2)
  assert.strictEqual((await owner.post(alans!, {})).status, 303)
  assert.strictEqual((await alan.get("/console/tables")).status, 303)
  const [kurts] = ends(own.text)
  assert.strictEqual((await kurt.post(kurts!, {}, {})).status, 403)
  assert.strictEqual((await kurt.post(kurts!, {})).status, 303)
  assert.strictEqual((await kurt.get("/console/tables")).status, 303)
})

it("a token is shown once, is valid until it expires, and is refused after it was revoked", async () => {
  const issued = await owner.post("/console/tokens", { name: "<script>x</script>", role: "viewer", lifetime: "30d" })
  assert.strictEqual(issued.status, 200)
  assert.notInclude(issued.text, "<script>x")
  const token = /dco_[\w-]{43}/.exec(issued.text)![0]
  const me = () => fetch(`${cabinet.base}/manage/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.strictEqual((await me()).status, 200)
  const list = (await owner.get("/console/tokens")).text
  assert.notInclude(list, token)
  const id = [...list.matchAll(/tokens\/(\d+)\/revoke/g)].at(-1)![1]
  await owner.post(`/console/tokens/${id}/revoke`, {})
  assert.strictEqual((await me()).status, 401)
  const bad = await owner.post("/console/tokens", { name: "x", role: "viewer", lifetime: "for ever" })
  assert.include(bad.text, "<code>bad_expiry</code>")
})

it("a reader's token is limited to the marked objects, and no other role's is", async () => {
  await cabinet.cabinet.sources.create({ name: "Letters" })
  const screen = (await owner.get("/console/tokens")).text
  assert.deepStrictEqual(
    [...screen.matchAll(/name="only" value="([^"]+)"/g)].map(([, name]) => name),
    ["sources.letters", "sources.orders"],
  )
  assert.include(screen, ">source Letters<")
  const issued = await owner.post("/console/tokens", { name: "Narrow", role: "reader", only: "sources.letters" })
  const headers = { authorization: `Bearer ${/dcr_[\w-]{43}/.exec(issued.text)![0]}` }
  const tables = (await (await fetch(`${cabinet.base}/api/v1/tables`, { headers })).json()) as any
  assert.deepStrictEqual(
    tables.data.map(({ name }: any) => name),
    ["letters"],
  )
  assert.match((await owner.get("/console/tokens")).text, /Narrow<small[^]*sources\.letters/)
  const elsewhere = ["GET console/", "GET console/tables", "GET console/live", "GET manage/v1/me", "POST upload/1"]
  for (const place of elsewhere) {
    const [method, path] = place.split(" ") as [string, string]
    const { status } = await fetch(`${cabinet.base}/${path}`, { method, headers })
    assert.strictEqual(status, 403, place)
  }
  for (const [role, only, code] of [
    ["viewer", "sources.letters", "bad_only"],
    ["reader", "sources.nothing<i>", "no_such_table"],
  ] as const) {
    const refused = await owner.post("/console/tokens", { name: "Wide", role, only })
    assert.include(refused.text, `<code>${code}</code>`)
    assert.notInclude(refused.text, "<i>")
  }
})

it("a token's list shows current names, wherever its objects were moved, without dropped ones", async () => {
  for (const statement of [
    "CREATE SCHEMA shop",
    "GRANT USAGE ON SCHEMA shop TO PUBLIC",
    "CREATE VIEW public.totals AS SELECT 1 AS one",
    "GRANT SELECT ON public.totals TO PUBLIC",
  ]) {
    await database.run(statement)
  }
  const { id: source } = await cabinet.cabinet.sources.create({ name: "Moving" })
  const body = new URLSearchParams([
    ["name", "Mover"],
    ["role", "reader"],
    ["lifetime", "30d"],
    ["only", "public.totals"],
    ["only", "sources.moving"],
  ])
  const sent = { ...(await cabinet.as("owner")), "sec-fetch-site": "same-origin" }
  const issued = await (await fetch(`${cabinet.base}/console/tokens`, { method: "POST", headers: sent, body })).text()
  const headers = { authorization: `Bearer ${/dcr_[\w-]{43}/.exec(issued)![0]}` }
  const read = async (table: string) => (await fetch(`${cabinet.base}/api/v1/tables/${table}/rows`, { headers })).status
  const shown = async () => {
    const [, line] = /<tr><th scope="row">Mover([^]*?)<\/tr>/.exec((await owner.get("/console/tokens")).text)!
    const names = [...line!.matchAll(/<small class="mono">([^<…]+)<\/small>/g)].map(([, name]) => name)
    return { line: line!, names }
  }
  assert.deepStrictEqual((await shown()).names, ["public.totals", "sources.moving"])
  assert.match((await shown()).line, /data-label="Valid until"><time/)
  await database.run("ALTER VIEW public.totals SET SCHEMA shop")
  await database.run("ALTER VIEW shop.totals RENAME TO sums")
  await database.run("CREATE VIEW public.totals AS SELECT 2 AS secret")
  await database.run("GRANT SELECT ON public.totals TO PUBLIC")
  assert.deepStrictEqual((await shown()).names, ["shop.sums", "sources.moving"])
  assert.deepStrictEqual([await read("shop/sums"), await read("public/totals")], [200, 404])
  await cabinet.cabinet.sources.remove(source, { dropTable: true })
  assert.deepStrictEqual((await shown()).names, ["shop.sums"])
  await database.run("DROP VIEW shop.sums")
  const { line, names } = await shown()
  assert.deepStrictEqual(names, [])
  assert.include(line, "Nothing: all listed objects were dropped.")
  assert.strictEqual(await read("public/totals"), 404)
})

it("the audit log has every action with actor, object and outcome, by filters, page after page", async () => {
  const first = await owner.get("/console/audit")
  assert.include(first.text, ">person.add<")
  const narrowed = await owner.get("/console/audit?who=owner&action=person.remove")
  assert.include(narrowed.text, ">last_owner<")
  assert.include(narrowed.text, ">done<")
  assert.notInclude(narrowed.text, ">person.add<")
  assert.include((await owner.get("/console/audit?who=%00nobody")).text, "No entry matches")
  for (let sources = 0; sources < 52; sources++) await cabinet.cabinet.sources.create({ name: `S${sources} <u>` })
  const page = await owner.get("/console/audit?action=source.create")
  assert.notInclude(page.text, "<u>")
  const next = /<a rel="next" href="[^"]*(\/console\/audit\?[^"]*)"/.exec(page.text)![1]!.replaceAll("&amp;", "&")
  const rest = await owner.get(next)
  const entries = (text: string) => text.split(">source.create<").length - 1
  assert.strictEqual(entries(page.text), 50)
  assert.isAtLeast(entries(rest.text), 2)
})
