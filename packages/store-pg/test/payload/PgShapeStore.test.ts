/** Shapes are learned from each event once, by several processes, and are the same when they are learned again. */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { learnEvents, shapeFollower } from "@data-cabinet/core/payload/LearnShapes"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { NoticeStore } from "@data-cabinet/core/notice/NoticeStore"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { SendNotices } from "@data-cabinet/core/notice/SendNotices"
import { ShapeStore } from "@data-cabinet/core/payload/ShapeStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, type ManagedRuntime, Option } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { randomJsonObject, seeded } from "../../../../test/support/random.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let here: ReturnType<typeof testCabinet>
let there: typeof here
type Store = typeof here extends ManagedRuntime.ManagedRuntime<infer R, infer _> ? R : never
const run = <A, E>(effect: Effect.Effect<A, E, Store>) => here.runPromise(effect)

beforeAll(() => {
  here = testCabinet(database.url)
  there = testCabinet(database.url)
})
afterAll(() => Promise.all([here.dispose(), there.dispose()]))

const newSource = async (name: string) => (await run(Sources.use((sources) => sources.create({ name })))).id
const accept = (sourceId: number, payload: string) =>
  run(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion: 1,
        channel: "webhook",
        history: false,
        events: [fingerprintedEvent(ownJson(payload) as JsonObject)],
        original: null,
      }),
    ),
  )
const learn = (events: number, bytes: number, by = here) =>
  by.runPromise(ShapeStore.use((store) => store.learn(learnEvents, { events, bytes }, null)))
const learnAll = async (events: number, bytes = 1_000_000) => {
  while (await learn(events, bytes));
}
const stored = () => database.run("SELECT source_id::int, fields FROM cabinet.shape ORDER BY 1")
const again = async () => {
  await database.run("DELETE FROM cabinet.shape")
  await database.run("UPDATE cabinet.follower SET epoch = 0, xid = 0, event_id = 0 WHERE kind = 'shapes'")
}

it("learns from each event once, however the work is divided, and the same from the start", async () => {
  const sources = [await newSource("Orders"), await newSource("Letters")]
  for (let n = 0; n < 60; n++) {
    await accept(sources[n % 2]!, randomJsonObject(seeded(n), n))
    if (n % 5 === 0) await Promise.all([learn(2, 1_000_000), learn(3, 40, there), learn(1, 1, there)])
  }
  await learnAll(4)
  const divided = await stored()
  assert.lengthOf(divided, 2)
  await again()
  await learnAll(1_000)
  assert.deepStrictEqual(await stored(), divided)
  const { events } = await run(Shapes.use((shapes) => shapes.fields(sources[0]!)))
  assert.strictEqual(events, 30)
})

it("a reader sees what was just sent, and erased events are passed over", async () => {
  const source = await newSource("Forms")
  await accept(source, '{"name":"Ann"}')
  const [{ id } = { id: 0 }] = await database.run("SELECT max(id)::int AS id FROM cabinet.event")
  await database.run(`UPDATE cabinet.event SET payload = '{}', purged_at = cabinet.now() WHERE id = ${id as number}`)
  await accept(source, '{"total":1e400}')
  const { fields } = await run(Shapes.use((shapes) => shapes.fields(source)))
  expect(fields).toMatchObject([{ path: "total", count: 1, share: 1, kinds: [{ kind: "number" }] }])
  const types = await run(Shapes.use((shapes) => shapes.types(source)))
  assert.include(types, "readonly total: number | string")
  const refused = await run(Effect.flip(Shapes.use((shapes) => shapes.schema(999))))
  expect(refused).toMatchObject({ code: "no_such_source" })
})

it("the AsyncAPI document has a message for each source that is not archived", async () => {
  const [kept, archived] = [await newSource("Kept"), await newSource("Archived")]
  await accept(kept, '{"total":12.50}')
  await run(Sources.use((sources) => sources.archive(archived)))
  const document = await run(Shapes.use((shapes) => shapes.asyncApi("https://data.example.com")))
  assert.include(document, '"Kept":{"title":"Kept","type":"object","properties":{"total":{"type":"number"}}')
  assert.include(document, '"examples":[{"total":12.50}]')
  assert.notInclude(document, '"Archived')
})

it("a process that lost the follower learns nothing", async () => {
  const source = await newSource("Lost")
  await accept(source, '{"a":1}')
  const held = Option.getOrThrow(await run(FollowerStore.use((followers) => followers.claim("shapes"))))
  await database.run("UPDATE cabinet.follower SET lease = lease + 1 WHERE kind = 'shapes'")
  assert.strictEqual(await run(shapeFollower.turn(held)), "lost")
  const current = { ...held, lease: held.lease + 1 }
  assert.strictEqual(await run(shapeFollower.turn(current)), "more")
  assert.strictEqual(await run(shapeFollower.turn(current)), "end")
})

const days = (count: number) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${count} days'`)
const notices = async () => {
  const { source } = await run(Notices.use((all) => all.show))
  const sent = await run(NoticeStore.use((store) => store.latest(source!.id, 20)))
  return sent.filter(({ kind }) => kind === "fields.changed").map(({ message }) => message)
}

it("each day's changes of what a source sends are one notice, sent once, however many there are", async () => {
  const source = await newSource("Drifting")
  await run(Notices.use((all) => all.switchOn()))
  const send = (by = here) => by.runPromise(SendNotices.use((all) => all.send))
  for (const n of [1, 2]) await accept(source, `{"total":${n},"note":"x"}`)
  await days(8)
  const names = Array.from({ length: 150 }, (_, n) => `"g${"xyz"[n % 3]}${"h".repeat(n)}":1`)
  await accept(source, `{"total":"1",${names.join()}}`)
  await accept(source, '{"total":2,"late":1}')
  await Promise.all([send(), send(there), send()])
  const first = [expect.stringContaining("(Drifting) sends changed on 2")]
  expect(await notices()).toEqual(first)
  expect((await notices())[0]).toContain(". 1 field not seen for 7 days: note.")
  await days(2)
  await Promise.all([send(), send(there), send()])
  const once = await notices()
  expect(once).toEqual([
    expect.stringMatching(/ 101 new fields: gx, gyh, .*, …; 1 field with a new kind of value: total\.$/),
    ...first,
  ])
  await Promise.all([send(), send(there)])
  assert.deepStrictEqual(await notices(), once)
})
