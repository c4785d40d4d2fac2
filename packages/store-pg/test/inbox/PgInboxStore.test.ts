import { appendEvents, type Channel, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Inbox, type InboxQuery } from "@data-cabinet/core/inbox/Inbox"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

const inbox = <A, E>(use: (service: Inbox["Service"]) => Effect.Effect<A, E>) => store.runPromise(Inbox.use(use))

/** A source with these messages, oldest first. */
const sourceWith = (name: string, ...messages: ReadonlyArray<Readonly<Record<string, string>>>) =>
  sourceFrom("webhook", name, ...messages)

const sourceFrom = async (
  channel: Channel,
  name: string,
  ...messages: ReadonlyArray<Readonly<Record<string, string>>>
) => {
  const { id } = await store.runPromise(Sources.use((sources) => sources.create({ name })))
  const ids: Array<number> = []
  for (const fields of messages) {
    const [receipt] = await store.runPromise(
      EventLog.use((log) =>
        appendEvents(log, {
          sourceId: id,
          sourceVersion: 1,
          channel,
          history: false,
          events: [fingerprintedEvent(new Map(Object.entries(fields)))],
          original: originalRequest("body"),
        }),
      ),
    )
    ids.push(receipt!.id)
  }
  return { id, ids }
}

const note = (n: number, email = `p${n}@example.com`) => ({ name: `Person ${n}`, email, message: `Message ${n}` })
const listed = async (source: number, query: Partial<InboxQuery>) =>
  (await inbox((all) => all.page(source, { mark: null, text: null, limit: 10, ...query }))).items
const idsOf = async (source: number, query: Partial<InboxQuery>) =>
  (await listed(source, query)).map(({ eventId }) => eventId)

it("Inbox.mark marks messages for every list, and does nothing twice", async () => {
  const { id, ids } = await sourceWith("Marks", note(1), note(2), note(3))
  const [one, two, three] = ids as [number, number, number]
  assert.strictEqual(await inbox((all) => all.mark(id, [one], { done: true })), 1)
  assert.strictEqual(await inbox((all) => all.mark(id, [two, two], { read: true })), 1)
  assert.strictEqual(await inbox((all) => all.mark(id, [one, two], { read: true })), 0)
  assert.deepStrictEqual(await idsOf(id, { mark: "open" }), [three, two])
  assert.deepStrictEqual(await idsOf(id, { mark: "unread" }), [three])
  assert.deepStrictEqual(await idsOf(id, { mark: "done" }), [one])
  assert.strictEqual(await inbox((all) => all.mark(id, [one, two, three], { read: false, done: false })), 2)
  assert.deepStrictEqual(await idsOf(id, { mark: "unread" }), [three, two, one])
  assert.deepInclude((await listed(id, {}))[2], { ...note(1), subject: null, read: false, done: false })
})

it("Inbox.mark changes nothing if a message belongs to another source or is in the trash", async () => {
  const { id, ids } = await sourceWith("Own", note(1), note(2))
  const other = await sourceWith("Other", note(3))
  await store.runPromise(Trash.use((trash) => trash.trash(id, [ids[1]!])))
  for (const wrong of [other.ids[0]!, ids[1]!]) {
    const refused = await inbox((all) => Effect.flip(all.mark(id, [ids[0]!, wrong], { done: true })))
    assert.strictEqual("code" in refused && refused.code, "no_such_event")
  }
  assert.deepStrictEqual(await idsOf(id, { mark: "done" }), [])
})

it("trash and erasure remove a message's marks", async () => {
  const { id, ids } = await sourceWith("Removed", note(1), note(2))
  await inbox((all) => all.mark(id, ids, { done: true }))
  await store.runPromise(Trash.use((trash) => trash.trash(id, [ids[0]!])))
  await store.runPromise(Trash.use((trash) => trash.purge([ids[1]!])))
  assert.deepStrictEqual(
    await database.run(`SELECT event_id FROM cabinet.inbox_mark WHERE event_id IN (${ids.join(", ")})`),
    [],
  )
})

it("Inbox.page pages without gaps, finds text, and leaves repeats, spam and the trash out", async () => {
  const { id, ids } = await sourceWith("Paged", ...Array.from({ length: 7 }, (_, n) => note(n)))
  await database.run(`UPDATE cabinet.event SET spam = 'honeypot' WHERE id = ${ids[1]}`)
  await store.runPromise(Trash.use((trash) => trash.trash(id, [ids[2]!])))
  const walked: Array<number> = []
  let cursor: string | undefined
  do {
    const page = await inbox((all) => all.page(id, { mark: "open", text: null, limit: 2, cursor }))
    walked.push(...page.items.map(({ eventId }) => eventId))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  assert.deepStrictEqual(
    walked,
    [6, 5, 4, 3, 0].map((n) => ids[n]),
  )
  assert.deepStrictEqual(await idsOf(id, { text: "message 4" }), [ids[4]])
})

it("Inbox.figures counts messages, unread ones and spam of four weeks by day", async () => {
  const { id, ids } = await sourceWith("Figures", ...Array.from({ length: 6 }, (_, n) => note(n)))
  await database.run(`UPDATE cabinet.event SET spam = 'honeypot' WHERE id = ${ids[0]}`)
  await database.run(`UPDATE cabinet.event SET spam = 'origin' WHERE id = ${ids[1]}`)
  // Days before the last event, so that midnight changes nothing.
  for (const [at, days] of [40, 2, 0].entries()) {
    await database.run(
      `UPDATE cabinet.event SET received_at = (SELECT received_at FROM cabinet.event WHERE id = ${ids[5]}) - interval '${days} days'
       WHERE id = ${ids[2 + at]}`,
    )
  }
  await inbox((all) => all.mark(id, [ids[4]!], { read: true }))
  const { days, since } = await inbox((all) => all.figures(id))
  assert.strictEqual(since, null)
  assert.strictEqual(days.length, 28)
  const sum = (of: "messages" | "unread" | "honeypot" | "origin") => days.reduce((all, day) => all + day[of], 0)
  assert.deepStrictEqual([sum("messages"), sum("unread"), sum("honeypot"), sum("origin")], [3, 2, 1, 1])
  assert.deepStrictEqual(days.filter(({ messages }) => messages > 0).length, 2)
})

it("Inbox.earlier counts only messages whose address is the same", async () => {
  const theirs = "ada@example.com"
  const { id, ids } = await sourceWith(
    "Earlier",
    note(1, theirs),
    note(2),
    { ...note(3), message: theirs },
    note(4, "ADA@example.com"),
  )
  const { message } = await inbox((all) => all.open(id, ids[3]!))
  assert.deepStrictEqual(await inbox((all) => all.earlier(id, message)), { count: 1, whole: true })
})

it("Inbox.forms has sources whose fields look like a form's, unless they are switched", async () => {
  const form = await sourceWith("Contact", note(1))
  const off = await sourceWith("Switched off", note(2))
  const orders = await sourceWith("Orders", { total: "12", email: "a@example.com" })
  const on = await sourceWith("Switched on", { total: "13" })
  // Its message comes after as many fields as are looked at.
  const answers = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`answer ${n}`, "1"]))
  const orderList = await sourceFrom("file", "Order list", note(4))
  const late = await sourceWith("Long questionnaire", { ...answers, ...note(3) })
  await store.runPromise(
    Sources.use((all) => Effect.andThen(all.change(off.id, { inbox: "off" }), all.change(on.id, { inbox: "on" }))),
  )
  const forms = (await inbox((all) => all.forms)).map(({ id }) => id)
  assert.deepStrictEqual(
    [form, off, orders, on, orderList, late].map(({ id }) => forms.includes(id)),
    [true, false, false, true, false, false],
  )
})
