/** The trash, single deliveries and the sources of an address in the console, without a browser. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let [owner, editor, viewer]: ReadonlyArray<Visitor> = []
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 20)
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook?token=secret`, sources: "all" })
  const roles = ["owner", "editor", "viewer"] as const
  ;[owner, editor, viewer] = await Promise.all(roles.map(async (role) => visitor(cabinet.base, await cabinet.as(role))))
})
afterAll(() => cabinet.close())

const rowOf = async (id: number) =>
  (
    await fetch(`${cabinet.base}/api/v1/tables/sources/orders/rows?fc=_event_id&fo=eq&fv=${id}`, {
      headers: { "x-api-key": cabinet.key },
    }).then((answer) => answer.json() as Promise<any>)
  ).data.length as number

/** Several values of one field. */
const marked = async (who: Visitor, act: string, events: ReadonlyArray<number>, more = "") => {
  const form = [...events.map((id) => `event=${cabinet.source.id}.${id}`), more].join("&")
  return fetch(`${cabinet.base}/console/events/${act}`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(form),
    headers: { ...(await as(who)), "sec-fetch-site": "same-origin" },
  })
}
const as = async (who: Visitor) => cabinet.as(who === owner ? "owner" : who === editor ? "editor" : "viewer")

it("an event is moved to the trash with its row, names the actor, and is restored", async () => {
  assert.strictEqual(await rowOf(3), 1)
  assert.strictEqual(
    (await editor!.post("/console/events/3/trash", {})).headers.get("location"),
    "/data/console/events/3",
  )
  assert.strictEqual(await rowOf(3), 0)
  const screen = (await editor!.get("/console/events/3")).text
  assert.include(screen, "This event is in the trash by editor")
  assert.notInclude(screen, "/events/3/purge")
  assert.notInclude(screen, "/orders/row?")
  const trash = (await viewer!.get("/console/trash")).text
  assert.include(trash, ">#3<")
  assert.notInclude(trash, 'method="post"')
  assert.strictEqual((await editor!.post("/console/events/3/restore", {})).status, 303)
  assert.strictEqual(await rowOf(3), 1)
  assert.include((await viewer!.get("/console/trash")).text, "The trash is empty")
})

it("selected events are trashed and restored together, and an empty selection is reported", async () => {
  assert.strictEqual((await marked(editor!, "trash", [4, 5, 6])).status, 303)
  assert.deepStrictEqual(await Promise.all([4, 5, 6, 7].map(rowOf)), [0, 0, 0, 1])
  assert.strictEqual((await marked(editor!, "restore", [4, 6])).headers.get("location"), "/data/console/trash")
  assert.deepStrictEqual(await Promise.all([4, 5, 6].map(rowOf)), [1, 0, 1])
  assert.strictEqual((await marked(editor!, "trash", [])).status, 400)
  assert.strictEqual((await marked(editor!, "trash", [7, 999_999])).status, 404)
  assert.strictEqual(await rowOf(7), 1)
})

it("only an owner can erase permanently, and only after confirmation", async () => {
  await marked(editor!, "trash", [8, 9])
  assert.strictEqual((await marked(editor!, "purge", [8], "confirm=1")).status, 403)
  assert.strictEqual((await editor!.post("/console/events/8/purge", { confirm: "8" })).status, 403)
  assert.strictEqual((await owner!.post("/console/events/8/purge", { confirm: "9" })).status, 400)
  assert.strictEqual((await marked(owner!, "purge", [8, 9], "confirm=1")).status, 400)
  assert.notInclude((await owner!.get("/console/events/8")).text, "was erased")
  assert.strictEqual((await marked(owner!, "purge", [8], "confirm=1")).status, 303)
  const erased = (await owner!.get("/console/events/8")).text
  assert.include(erased, "This event was erased")
  assert.notInclude(erased, "Ada")
  assert.strictEqual((await owner!.post("/console/events/9/purge", { confirm: "9" })).status, 303)
  assert.include((await owner!.get("/console/events/9")).text, "This event was erased")
})

it("these actions are neither offered nor allowed to a viewer or a page of another origin", async () => {
  for (const path of ["events", "events/3", "trash"]) {
    assert.notInclude((await viewer!.get(`/console/${path}`)).text, 'method="post"', path)
  }
  // A role that sees an address may test its filter, which changes nothing.
  const forms = (await viewer!.get("/console/addresses/1")).text.match(/action="[^"]*"/g)
  assert.deepStrictEqual(forms, ['action="/data/console/addresses/1/test"'])
  const acts = [
    "events/trash",
    "events/restore",
    "events/purge",
    "events/3/trash",
    "events/3/restore",
    "events/3/purge",
  ]
  for (const path of [...acts, "deliveries/1/resend", "deliveries/1/cancel", "addresses/1/change"]) {
    assert.strictEqual((await viewer!.post(`/console/${path}`, { event: "1.3" })).status, 403, path)
    assert.strictEqual(
      (await owner!.post(`/console/${path}`, {}, { "sec-fetch-site": "cross-site" })).status,
      403,
      path,
    )
  }
})

/** An event with a delivery. */
const told = async (): Promise<{ readonly event: number; readonly delivery: string }> => {
  const sent = await fetch(cabinet.source.intakeUrl, {
    method: "POST",
    body: new URLSearchParams({ a: String(Math.random()) }),
  })
  const event = ((await sent.json()) as { id: number }).id
  const { text } = await editor!.get(`/console/events/${event}`)
  return { event, delivery: /deliveries\/(\d+)\/resend/.exec(text)![1]! }
}

it("a delivery is cancelled and resent from its event, with its state shown", async () => {
  const { event, delivery } = await told()
  const stopped = await editor!.post(`/console/deliveries/${delivery}/cancel`, { from: "event" })
  assert.strictEqual(stopped.headers.get("location"), `/data/console/events/${event}`)
  assert.include((await viewer!.get(`/console/events/${event}`)).text, ">cancelled<")
  assert.notInclude((await viewer!.get(`/console/deliveries/${delivery}`)).text, "token=secret")
  const again = await editor!.post(`/console/deliveries/${delivery}/resend`, { from: "delivery" })
  assert.strictEqual(again.headers.get("location"), `/data/console/deliveries/${delivery}`)
  assert.include((await viewer!.get(`/console/deliveries/${delivery}`)).text, ">to be sent<")
  assert.strictEqual((await editor!.post("/console/deliveries/999999/resend", {})).status, 404)
})

it("an address is subscribed to the chosen sources, and an empty choice is refused", async () => {
  const other = await cabinet.cabinet.sources.create({ name: "Letters <b>" })
  const url = `${cabinet.base}/hook?token=secret`
  const change = (form: Readonly<Record<string, string>>) =>
    editor!.post("/console/addresses/1/change", { url, ...form })
  assert.strictEqual((await change({ scope: "some", source: String(other.id) })).status, 303)
  const card = (await viewer!.get("/console/addresses/1")).text
  assert.match(card, /<dt>Receives events of<\/dt><dd>Letters &lt;b&gt;<\/dd>/)
  assert.strictEqual((await change({ scope: "some" })).status, 400)
  assert.strictEqual((await change({})).status, 400)
  assert.strictEqual((await change({ scope: "some", source: "999" })).status, 404)
  const refused = await editor!.post("/console/addresses/1/change", { scope: "all", url: "http://10.0.0.5/" })
  assert.include(refused.text, "<code>not_public</code>")
  assert.include((await viewer!.get("/console/addresses/1")).text, "Letters")
  assert.strictEqual((await editor!.post("/console/addresses", { url })).status, 400)
  const added = await editor!.post("/console/addresses", { url, scope: "some", source: String(other.id) })
  assert.match((await viewer!.get(added.headers.get("location")!.slice("/data".length))).text, /<dd>Letters/)
})
