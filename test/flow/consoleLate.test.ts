/** A console screen verifies the stored events of a source: it first counts, and delivers once. */
import { createHmac } from "node:crypto"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
let source: { readonly id: number; readonly intakeUrl: string }
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  source = await cabinet.cabinet.sources.create({
    name: "GitHub",
    keepHeaders: ["x-hub-signature-256"],
    verify: { recipe: "github", mode: "mark", secret: "wrong" },
  })
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: [source.id] })
  for (const [n, secret] of ["right", "right", "forged", null].entries()) {
    const body = `{"n":${n}}`
    const signature =
      secret === null
        ? {}
        : { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` }
    const headers = { "content-type": "application/json", ...signature }
    assert.strictEqual((await fetch(source.intakeUrl, { method: "POST", headers, body })).status, 200)
  }
})
afterAll(() => cabinet.close())

/** The fields of the form with this act. */
const fieldsOf = (screen: string, act: string): Readonly<Record<string, string>> => {
  const form = screen.split("<form").find((one) => one.includes(`name="act" value="${act}"`)) ?? ""
  return Object.fromEntries(
    [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  )
}

const verifiedEvents = async () => {
  const rows = await database.run(
    `SELECT count(*) FILTER (WHERE verified)::int AS verified FROM cabinet.event WHERE source_id = ${source.id}`,
  )
  return rows[0]!["verified"]
}

const late = () => `/console/sources/${source.id}/late`

it("a late verification first counts its effects without changing anything, then verifies and delivers once", async () => {
  const link = `href="/data${late()}"`
  assert.include((await editor.get(`/console/sources/${source.id}`)).text, link)
  await cabinet.cabinet.sources.change(source.id, { verify: { secret: "right" } })
  const counted = await editor.post(late(), { act: "count", deliver: "yes" })
  assert.strictEqual(counted.status, 200)
  assert.include(counted.text, "4 events examined; nothing is changed yet.")
  assert.match(
    counted.text,
    /the sender&#39;s<\/span><\/th><td class="n">2 events<|the sender's<\/span><\/th><td class="n">2 events</,
  )
  assert.include(counted.text, "the signature does not match")
  assert.include(counted.text, "it was not signed")
  assert.strictEqual(await verifiedEvents(), 0)
  const body = { deliver: true, dry_run: true }
  const tried = await editor.manage("POST", `sources/${source.id}/verify`, body)
  assert.deepStrictEqual(
    tried.json.verdicts.map(({ outcome }: { readonly outcome: string }) => outcome),
    ["verified", "verified", "refused", "unchecked"],
  )
  assert.deepStrictEqual([await verifiedEvents(), tried.json.deliveries], [0, 0])
  const library = await cabinet.cabinet.events.verifySource(source.id, { deliver: true, dryRun: true })
  assert.deepStrictEqual(library.verdicts, tried.json.verdicts)
  const fields = fieldsOf(counted.text, "verify")
  assert.strictEqual(fields["deliver"], "yes")
  const done = await editor.post(late(), fields)
  assert.include(done.text, "2 deliveries made.")
  assert.strictEqual(await verifiedEvents(), 2)
  assert.include((await editor.post(late(), fields)).text, "0 deliveries made.")
})

it("an unfinished walk continues where the last form ended, with its counts", async () => {
  const { next_cursor: cursor } = (
    await editor.manage("POST", `sources/${source.id}/verify`, { dry_run: true, limit: 3 })
  ).json
  const form = { act: "count", cursor, seen: "3", found: "refused bad_signature 7", deliveries: "0" }
  const shown = (await editor.post(late(), form)).text
  assert.include(shown, "4 events examined; nothing is changed yet.")
  assert.include(shown, "7 events")
  assert.notInclude(shown, 'name="cursor"')
  assert.notInclude(shown, 'value="verify"')
  const strange = await editor.post(late(), { ...form, cursor: "strange" })
  assert.strictEqual(strange.status, 400)
  assert.include(strange.text, "<code>bad_cursor</code>")
})

it("a source without a recipe says why it cannot be verified, and a viewer is refused", async () => {
  const shown = await editor.post(`/console/sources/${cabinet.source.id}/late`, { act: "count" })
  assert.strictEqual(shown.status, 409)
  assert.include(shown.text, "<code>not_checkable</code>")
  assert.strictEqual((await editor.get("/console/sources/999/late")).status, 404)
  assert.strictEqual((await viewer.get(late())).status, 403)
  assert.strictEqual((await viewer.post(late(), { act: "verify" })).status, 403)
  assert.notInclude((await viewer.get(`/console/sources/${source.id}`)).text, "/late")
})
