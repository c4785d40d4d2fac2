/** The body of an address on the console: chosen, previewed without being saved, and refused with line and column. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let id: number

beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  id = (await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })).id
  await cabinet.cabinet.addresses.pause(id)
  const sent = { method: "POST", body: new URLSearchParams({ name: "Ada <b>" }) }
  await (await fetch(cabinet.source.intakeUrl, sent)).text()
})
afterAll(() => cabinet.close())

const TEMPLATE = '{"who": "{{payload.name}}",\r\n "sum": "{{payload.sum|0}}"}'
const fields = { body_kind: "template", body_template: TEMPLATE, body_method: "PUT", body_content_type: "" }
const bodyNow = async () => (await cabinet.cabinet.addresses.get(id)).body

it("a preview shows event, template and request of the form, and saves nothing", async () => {
  const { status, text } = await editor.post(`/console/addresses/${id}/preview`, { ...fields, preview_event: "" })
  assert.strictEqual(status, 200)
  const panes = [...text.matchAll(/<\/h3><pre class="text"[^>]*>\n([^<]*)<\/pre>/g)].map(([, shown]) => shown!)
  assert.lengthOf(panes, 3)
  assert.include(panes[0]!.replaceAll("&quot;", '"'), '"name":"Ada &lt;b&gt;"')
  assert.include(panes[1], "{{payload.name}}")
  assert.include(panes[2]!.replaceAll("&quot;", '"'), 'PUT\nContent-Type: application/json\n\n{"who": "Ada &lt;b&gt;"')
  assert.include(text, '<option value="template" selected>')
  assert.strictEqual((await bodyNow()).kind, "standard")
})

it("the form of a body saves it, and a kind without a template leaves one aside", async () => {
  await editor.post(`/console/addresses/${id}/body`, fields)
  assert.deepStrictEqual(await bodyNow(), {
    kind: "template",
    template: TEMPLATE.replace("\r\n", "\n"),
    method: "PUT",
    contentType: null,
  })
  await editor.post(`/console/addresses/${id}/body`, { ...fields, body_kind: "slack" })
  assert.deepStrictEqual(await bodyNow(), { kind: "slack", template: null, method: "POST", contentType: null })
})

it("a template that is not valid is shown again with line and column", async () => {
  const wrong = { ...fields, body_template: '{\r\n "who": "{{paylod.name}}"}' }
  const { text } = await editor.post(`/console/addresses/${id}/body`, {
    ...wrong,
    form_at: `/console/addresses/${id}`,
  })
  assert.include(text, "not with paylod, at line 2, column 10")
  assert.strictEqual((await bodyNow()).kind, "slack")
})

it("a new address is added with its body", async () => {
  await editor.post("/console/addresses", {
    url: `${cabinet.base}/new`,
    scope: "all",
    ...fields,
    body_kind: "form",
    body_template: "",
  })
  const all = await cabinet.cabinet.addresses.list()
  assert.deepInclude(all.at(-1)!.body, { kind: "form", template: null, method: "PUT" })
})
