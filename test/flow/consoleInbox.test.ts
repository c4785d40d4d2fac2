/** The inbox in the console, without a browser. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let [editor, viewer]: ReadonlyArray<Visitor> = []
let form: { readonly id: number; readonly intakeUrl: string }
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 1)
  const roles = ["editor", "viewer"] as const
  ;[editor, viewer] = await Promise.all(roles.map(async (role) => visitor(cabinet.base, await cabinet.as(role))))
  form = await cabinet.cabinet.sources.create({ name: "Contact" })
})
afterAll(() => cabinet.close())

const sent = async (fields: Readonly<Record<string, unknown>>): Promise<number> => {
  const headers = { "content-type": "application/json" }
  const response = await fetch(form.intakeUrl, { method: "POST", headers, body: JSON.stringify(fields) })
  return ((await response.json()) as { readonly id: number }).id
}
const note = { name: "Ada", email: "ada@example.com", message: "Where is my order?" }
const list = (query = "") => `/console/inbox/${form.id}${query}`

it("the inbox section leads to a source once it looks like a form, and says before how to get one", async () => {
  assert.include((await viewer!.get("/console/inbox")).text, "No source looks like a contact form")
  await sent(note)
  const { headers } = await viewer!.get("/console/inbox")
  assert.strictEqual(headers.get("location"), `/data${list()}`)
  assert.include((await viewer!.get(list())).text, "Where is my order?")
})

it("a message is done and put back from the list with its filter, by an editor alone", async () => {
  const id = await sent({ ...note, message: "Is it done?" })
  const behind = { list: `inbox/${form.id}?mark=all` }
  const done = await editor!.post(`${list()}/${id}/done`, behind)
  assert.strictEqual(done.headers.get("location"), `/data${list("?mark=all")}`)
  assert.notInclude((await viewer!.get(list())).text, "Is it done?")
  assert.include((await viewer!.get(list("?mark=done"))).text, "Is it done?")
  assert.strictEqual((await viewer!.post(`${list()}/${id}/undone`, behind)).status, 403)
  assert.notInclude((await viewer!.get(`${list()}/${id}`)).text, "/undone")
  await editor!.post(`${list()}/${id}/undone`, { list: "https://example.com/" })
  assert.include((await viewer!.get(list())).text, "Is it done?")
})

it("without a script, a message that is done leads to the next one, and the last one to its list", async () => {
  const ids: Array<number> = []
  for (const message of ["first", "second", "third"]) ids.push(await sent({ ...note, message: `Walk ${message}` }))
  const [first, second, third] = ids
  const behind = `inbox/${form.id}?text=Walk`
  const own = (id: number) => `${list()}/${id}?list=${encodeURIComponent(behind)}`
  const act = async (id: number, name: string) => {
    const { text } = await editor!.get(own(id))
    const fields = /<form[^>]*\/done"[^>]*>(.*?)<\/form>/s.exec(text)![1]!.matchAll(/name="([^"]*)" value="([^"]*)"/g)
    const { headers } = await editor!.post(
      `${list()}/${id}/${name}`,
      Object.fromEntries([...fields].map((one) => one.slice(1))),
    )
    return decodeURIComponent(headers.get("location")!)
  }
  assert.strictEqual(await act(second!, "done"), `/data${decodeURIComponent(own(first!))}`)
  assert.strictEqual(await act(first!, "trash"), `/data${decodeURIComponent(own(third!))}`)
  assert.strictEqual(await act(third!, "done"), `/data/console/${behind}`)
})

it("a message goes to the trash and back", async () => {
  const id = await sent({ ...note, message: "Delete me" })
  assert.strictEqual((await editor!.post(`${list()}/${id}/trash`, {})).headers.get("location"), `/data${list()}`)
  assert.notInclude((await viewer!.get(list("?mark=all"))).text, "Delete me")
  assert.include((await editor!.get(`${list()}/${id}`)).text, "/restore")
  await editor!.post(`${list()}/${id}/restore`, {})
  assert.include((await viewer!.get(list())).text, "Delete me")
})

it("the fields that are chosen decide what the list shows", async () => {
  const id = await sent({ ...note, nick: "Countess", wish: "A card, please" })
  await editor!.post(`${list()}/fields`, { name: "nick", message: "wish", email: "", subject: "" })
  const { text } = await viewer!.get(list())
  assert.include(text, "Countess")
  assert.include(text, "A card, please")
  await editor!.post(`${list()}/fields`, { name: "", message: "", email: "", subject: "" })
  assert.include((await viewer!.get(`${list()}/${id}`)).text, "mailto:ada@example.com?")
})

it("a hostile message is shown as text, and its list stays small", async () => {
  const id = await sent({
    name: "<script>alert(1)</script>",
    email: "x@y.test?bcc=z@y.test",
    message: "m".repeat(900_000),
  })
  const { text } = await viewer!.get(list())
  assert.include(text, "&lt;script&gt;")
  assert.isBelow(text.length, 60_000)
  const { text: one } = await viewer!.get(`${list()}/${id}`)
  assert.notInclude(one, "<script>alert")
  assert.notInclude(one, "mailto:")
  const long = await sent({ ...note, email: `${"w".repeat(100_000)}@example.com` })
  const opened = await viewer!.get(`${list()}/${long}`)
  assert.strictEqual(opened.status, 200)
  assert.notInclude(opened.text, "?mark=all&amp;text=w")
})

it("the listed messages are exported whole, with the filter of the list", async () => {
  const message = `${"Long ".repeat(100)}“end”, =1+1`
  const id = await sent({ ...note, name: "=cmd", message })
  await editor!.post(`${list()}/${id}/done`, {})
  const { status, text, headers } = await viewer!.get(`${list()}/export.ndjson?mark=done&text=cmd`)
  assert.strictEqual(status, 200, text)
  assert.include(headers.get("content-disposition"), `inbox-${form.id}.ndjson`)
  const [line, ...others] = text.trim().split("\n")
  assert.deepStrictEqual(others, [])
  const { event, name, message: whole, done } = JSON.parse(line!) as Record<string, unknown>
  assert.deepStrictEqual([event, name, whole, done], [id, "=cmd", message, true])
  const csv = (await viewer!.get(`${list()}/export.csv?mark=done&text=cmd`)).text
  assert.include(csv, "event,received_at,name,email,subject,message,read,done\r\n")
  assert.include(csv, ",'=cmd,ada@example.com,")
  assert.strictEqual((await viewer!.get("/console/inbox/999/export.csv")).status, 404)
})
