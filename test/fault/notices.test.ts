/**
 * Each cause of a notice, produced for real: it gives one notice, however many processes run and whatever happens to them, and
 * none to the address that would carry it. Days pass on the cabinet's clock.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { verifyDelivery } from "@data-cabinet/core/delivery/VerifyDelivery"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { NOTICE_KINDS } from "@data-cabinet/core/notice/Notice"
import type { DiskFact } from "@data-cabinet/core/notice/NoticeFacts"
import { NoticeStore } from "@data-cabinet/core/notice/NoticeStore"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { SendNotices, DiskSpace } from "@data-cabinet/core/notice/SendNotices"
import { Sources } from "@data-cabinet/core/source/Sources"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { layer as loop } from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import * as HttpCourier from "@data-cabinet/delivery/delivery/HttpCourier"
import * as PinnedAddressCheck from "@data-cabinet/delivery/delivery/PinnedAddressCheck"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import * as PgReceiverCertificates from "@data-cabinet/store-pg/delivery/PgReceiverCertificates"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { makeCertificates } from "../../packages/delivery/test/outgoing/hostileReceivers.ts"
import { Authority, type Issued } from "../support/certificates.ts"
import { fileOf, importCabinet } from "../support/importCabinet.ts"
import { pollCabinet } from "../support/pollCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { testCabinet, testCabinetLayer } from "../support/testCabinet.ts"
import { sendingLayer } from "./deliveryLayers.ts"
import { whileAccepting } from "./openAccept.ts"
import type { NewAddress } from "@data-cabinet/core/delivery/NewAddress"

const database = withDatabase()

let room: DiskFact | null = null
const disk = Layer.succeed(DiskSpace, DiskSpace.of({ look: Effect.sync(() => room) }))
const cabinetOf = () => {
  const cabinet = testCabinetLayer(database.url, { delivers: true, override: Layer.merge(sendingLayer(), disk) })
  return ManagedRuntime.make(Layer.provideMerge(loop({ pollMillis: 100 }), cabinet))
}
let here: ReturnType<typeof cabinetOf>
/** A second process's connections, without deliveries. */
let there: ReturnType<typeof testCabinet>
let subscriber: Receiver
/** A receiver with a response that tests set. */
let failing: Server
let status = 500
let failingUrl: string

beforeAll(async () => {
  here = cabinetOf()
  there = testCabinet(database.url)
  subscriber = await startReceiver()
  failing = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end()
  })
  await new Promise<void>((done) => failing.listen(0, "127.0.0.1", done))
  failingUrl = `http://127.0.0.1:${(failing.address() as AddressInfo).port}/hook?token=secret`
})
afterAll(async () => {
  await here.dispose()
  await there.dispose()
  await subscriber.close()
  failing.close()
})

const send = () => here.runPromise(SendNotices.use((notices) => notices.send))
/** Runs rounds in two processes at the same time, each twice. Those about a day depend on the hour, and are not counted. */
const tellByAll = async () => {
  const daily = async () => (await sentNotices("fields.changed")).length
  const before = await daily()
  const all = [send(), send(), ...[1, 2].map(() => there.runPromise(SendNotices.use((notices) => notices.send)))]
  const sent = (await Promise.all(all)).reduce((sum, count) => sum + count, 0)
  return sent - ((await daily()) - before)
}
const addressOf = (address: NewAddress) => here.runPromise(Addresses.use((all) => all.create(address)))
const newSource = (name: string) => here.runPromise(Sources.use((sources) => sources.create({ name })))
const accept = async (sourceId: number, fields: Readonly<Record<string, unknown>>) =>
  (await here.runPromise(Intake.use((intake) => intake.accept(sourceId, fields)))).id
/** A delivery that is still to be sent, or to be recorded, would be late at once. */
const LATE_AFTER_IT = `SELECT FROM cabinet.delivery d JOIN cabinet.address a ON a.id = d.address_id
  WHERE d.state = 'due' AND d.due_at <= cabinet.now() AND a.failing_since IS NULL AND a.paused_at IS NULL AND a.removed_at IS NULL`
const pass = async (interval: string) => {
  await vi.waitFor(async () => assert.lengthOf(await database.run(LATE_AFTER_IT), 0), { timeout: 120_000 })
  await database.run(`UPDATE cabinet.clock SET shift = shift + interval '${interval}'`)
  await database.run(
    "SELECT cabinet.make_partitions(p::regclass) FROM unnest('{cabinet.attempt_delivered,cabinet.attempt_failed,cabinet.original_request,cabinet.audit}'::text[]) p",
  )
}
const sentNotices = async (kind: string): Promise<ReadonlyArray<any>> =>
  (
    await database.run(
      `SELECT e.payload::text, e.id::int FROM cabinet.event e JOIN cabinet.notice_source n ON n.source_id = e.source_id
       WHERE e.payload->>'kind' = '${kind}' ORDER BY e.id`,
    )
  ).map(({ payload, id }) => ({ ...(JSON.parse(payload as string) as object), id }))
const sentTo = (addressId: number) =>
  database.run(
    `SELECT e.payload->>'kind' AS kind, e.payload->>'address_id' AS about FROM cabinet.delivery_all d
     JOIN cabinet.event e ON e.id = d.event_id JOIN cabinet.notice_source n ON n.source_id = e.source_id
     WHERE d.address_id = ${addressId} ORDER BY e.id`,
  )
const fails = (id: number) =>
  vi.waitUntil(
    async () => (await database.run(`SELECT failing_since FROM cabinet.address WHERE id = ${id}`))[0]!["failing_since"],
    { timeout: 100_000, interval: 50 },
  )

let orders: number
let notices: number
let carrier: number
let secret: string

it("is off at first, and switched on once by any number of callers; no sender can send to its source", async () => {
  orders = (await newSource("Orders")).id
  await accept(orders, { before: 1 })
  assert.strictEqual(await send(), 0)
  const states = await Promise.all(
    [here, there, here, there].map((cabinet) => cabinet.runPromise(Notices.use((all) => all.switchOn()))),
  )
  notices = states[0]!.source!.id
  for (const { on, source } of states) {
    assert.isTrue(on)
    assert.deepStrictEqual(source, { id: notices, name: "Notices", table: { schema: "sources", name: "notices" } })
  }
  const { intakeSecret } = await here.runPromise(Sources.use((sources) => sources.reveal(notices)))
  const found = await here.runPromise(Sources.use((sources) => sources.bySecret(intakeSecret)))
  assert.strictEqual(found._tag, "None")
  const address = await addressOf({ url: subscriber.url, sources: [notices] })
  carrier = address.id
  secret = address.secret
  // Earlier causes give no notice.
  assert.strictEqual(await tellByAll(), 0)
})

it("an address that fails for an hour leaves one notice, which is delivered to another address, signed", async () => {
  const { id } = await addressOf({ url: failingUrl, sources: [orders] })
  await accept(orders, { total: 1 })
  await fails(id)
  assert.strictEqual(await send(), 1, "the new column")
  assert.strictEqual(await send(), 0)
  await pass("61 minutes")
  assert.strictEqual(await tellByAll(), 1)
  const [notice, ...more] = await sentNotices("address.failing")
  assert.lengthOf(more, 0)
  assert.deepInclude(notice, { version: 1, subject: `address ${id}`, stage: "1h", address_id: id, status: 500 })
  assert.notInclude(JSON.stringify(notice), "token=secret")
  const isIt = ({ body }: { readonly body: Buffer }) => body.includes('"address.failing"')
  await subscriber.until((all) => all.some(isIt))
  const { body, signature } = subscriber.received.find(isIt)!
  assert.isTrue(verifyDelivery(body, signature, secret, { nowSeconds: Number(/t=(\d+)/.exec(signature)![1]) } as never))
  assert.deepInclude(JSON.parse(body.toString()).data.source, { id: notices, name: "Notices" })
  await pass("23 hours")
  assert.strictEqual(await tellByAll(), 1)
  await pass("6 days")
  assert.strictEqual(await tellByAll(), 1)
  assert.deepStrictEqual(
    (await sentNotices("address.failing")).map(({ stage }) => stage),
    ["1h", "1d", "5d"],
  )
  status = 204
  await here.runPromise(Addresses.use((all) => all.ping(id)))
  assert.strictEqual(await tellByAll(), 1)
  assert.deepInclude((await sentNotices("address.recovered"))[0], { address_id: id, since: notice.since })
  assert.strictEqual(await tellByAll(), 0)
  status = 500
  await here.runPromise(Addresses.use((all) => all.remove(id)))
})

it("a process that is killed before or after the commit leaves one notice", async () => {
  for (const [n, step] of ["before", "after"].entries()) {
    await accept(orders, { [`killed_${step}`]: 1 })
    const program = fileURLToPath(new URL("noticeWorker.ts", import.meta.url))
    const ended = spawnSync(process.execPath, ["--conditions=source", program, database.url, step], {
      encoding: "utf8",
    })
    assert.strictEqual(ended.signal, "SIGKILL", ended.stderr)
    assert.strictEqual(await tellByAll(), step === "before" ? 1 : 0)
    assert.lengthOf(await sentNotices("column.created"), 2 + n)
  }
})

it("a failing carrier of notices leaves no notice, and an address of all sources gets none about itself", async () => {
  const [one] = await database.run(`SELECT count(*)::int AS events FROM cabinet.event WHERE source_id = ${notices}`)
  const broken = await addressOf({ url: failingUrl, sources: [notices] })
  const every = await addressOf({ url: failingUrl, sources: "all" })
  await accept(orders, { about_all: 1 })
  assert.strictEqual(await send(), 1)
  await fails(broken.id)
  await fails(every.id)
  await pass("2 hours")
  assert.strictEqual(await tellByAll(), 1)
  assert.deepInclude((await sentNotices("address.failing")).at(-1), { address_id: every.id })
  assert.deepStrictEqual(await sentTo(every.id), [{ kind: "column.created", about: null }])
  assert.deepInclude(await sentTo(carrier), { kind: "address.failing", about: String(every.id) })
  assert.deepInclude(await sentTo(broken.id), { kind: "address.failing", about: String(every.id) })
  const [last] = await database.run(`SELECT max(id)::int AS id FROM cabinet.event WHERE source_id = ${notices}`)
  const whyNot = async (id: number) => {
    const { reasons } = await here.runPromise(Addresses.use((all) => all.test(id, last!["id"] as number)))
    return reasons.map(({ code }) => code)
  }
  assert.deepStrictEqual([await whyNot(every.id), await whyNot(broken.id)], [["about_it"], []])
  for (let n = 0; n < 4; n++) assert.strictEqual(await tellByAll(), 0)
  const [other] = await database.run(`SELECT count(*)::int AS events FROM cabinet.event WHERE source_id = ${notices}`)
  assert.strictEqual(other!["events"], (one!["events"] as number) + 2)
  // Its columns, its silence and its filters give none either.
  await database.run(
    `UPDATE cabinet.address SET filters = '[{"fc":"kind","fo":"eq","fv":"address.paused"}]' WHERE id = ${carrier}`,
  )
  await database.run(`UPDATE cabinet.source SET version = version + 1 WHERE id = ${notices}`)
  for (const { id } of [broken, every]) await here.runPromise(Addresses.use((all) => all.remove(id)))
})

it("a paused address gives a notice that names the person, or the reason of an automatic pause", async () => {
  const { id } = await addressOf({ url: failingUrl, sources: [orders], pauseOnGone: true })
  const ada: Actor = { kind: "person", id: 1, name: "Ada", role: "owner", from: null, requestId: null }
  await here.runPromise(
    Effect.provideService(
      Addresses.use((all) => all.pause(id)),
      CurrentActor,
      ada,
    ),
  )
  assert.strictEqual(await tellByAll(), 1)
  await here.runPromise(Addresses.use((all) => all.resume(id)))
  status = 410
  await accept(orders, { total: 2 })
  await vi.waitUntil(
    async () =>
      (await database.run(`SELECT paused_because FROM cabinet.address WHERE id = ${id}`))[0]!["paused_because"],
    { timeout: 60_000, interval: 50 },
  )
  status = 500
  assert.strictEqual(await tellByAll(), 1)
  assert.deepStrictEqual(
    (await sentNotices("address.paused")).map(({ reason, by }) => [reason, by]),
    [
      ["person", "Ada"],
      ["gone", null],
    ],
  )
  assert.lengthOf(
    (await sentTo(carrier)).filter(({ kind }) => kind === "address.paused"),
    2,
  )
  await here.runPromise(Addresses.use((all) => all.remove(id)))
})

it("new columns and new types give notices that name the event that brought them", async () => {
  const event = await accept(orders, { Größe: "M", colour: "red", total: 3 })
  const other = await accept(orders, { total: "three" })
  assert.strictEqual(await tellByAll(), 2)
  assert.deepInclude((await sentNotices("column.created")).at(-1), {
    event_id: event,
    count: 2,
    type: "text",
    source_id: orders,
  })
  const [type] = await sentNotices("type.created")
  assert.deepInclude(type, { event_id: other, column: "total_text", field: "total", type: "text" })
  // Many causes at the same time, accepted in batches: one of the checking processes reports each.
  for (let n = 0; n < 60; n++) await accept(orders, { [`many_${n}`]: n })
  assert.strictEqual(await tellByAll(), 60)
  const brought = (await sentNotices("column.created"))
    .map(({ column }) => column)
    .filter((name) => name.startsWith("many_"))
  assert.sameMembers(
    brought,
    Array.from({ length: 60 }, (_, n) => `many_${n}`),
  )
  assert.strictEqual(await tellByAll(), 0)
})

it("a failing poll gives one notice until it works", async () => {
  const polls = pollCabinet(database.url)
  const source = await newSource("Polled")
  const { id } = await polls.add({ sourceId: source.id, url: failingUrl })
  await polls.run(id)
  await polls.run(id)
  assert.strictEqual(await tellByAll(), 1)
  assert.deepInclude((await sentNotices("poll.failing"))[0], {
    poll_id: id,
    source_id: source.id,
    status: 500,
    count: 2,
  })
  await database.run(`UPDATE cabinet.poll SET failures = 0, failing_since = NULL WHERE id = ${id}`)
  await polls.run(id)
  assert.strictEqual(await tellByAll(), 1)
  await polls.polls((all) => all.remove(id))
  await polls.close()
})

it("an import that fails while its rows are accepted gives a notice", async () => {
  const imports = importCabinet(database.url)
  await database.run(`
    CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.payload LIKE '%poison%' THEN NEW.payload := repeat('[', 700) || repeat(']', 700); END IF; RETURN NEW;
    END $$`)
  await database.run(
    "CREATE TRIGGER spoil BEFORE INSERT ON cabinet.staged_row FOR EACH ROW EXECUTE FUNCTION public.spoil()",
  )
  const source = await newSource("Imported")
  await imports.file(source.id, fileOf("items.ndjson", '{"a":"poison"}'))
  assert.strictEqual(await tellByAll(), 1)
  const [notice] = await sentNotices("import.failed")
  assert.deepInclude(notice, { source_id: source.id, name: "items.ndjson", count: 0, of: 1 })
  assert.include(notice.failure, "internal error")
  await imports.close()
})

it("deliveries that no process sends give a notice, and another when they pile up again", async () => {
  const { id } = await there.runPromise(
    Addresses.use((all) => all.create({ url: "https://1.1.1.1/", sources: [orders], rate: 1 })),
  )
  // It is not due before its time.
  const pile = (count: number) =>
    database.run(
      `INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at, claimed_at, leased_until)
       SELECT ${id}, (SELECT max(id) FROM cabinet.event), cabinet.now(), cabinet.now() + interval '1 hour', NULL, NULL
       FROM generate_series(1, ${count})`,
    )
  await pile(999)
  assert.strictEqual(await tellByAll(), 0)
  await pile(1)
  assert.strictEqual(await tellByAll(), 1)
  assert.deepInclude((await sentNotices("deliveries.waiting"))[0], { address_id: id, reason: "many", count: 1000 })
  await database.run(
    `DELETE FROM cabinet.delivery WHERE id IN (SELECT id FROM cabinet.delivery WHERE address_id = ${id} LIMIT 400)`,
  )
  assert.strictEqual(await tellByAll(), 0)
  await pile(400)
  assert.strictEqual(await tellByAll(), 0, "it is the same pile")
  await database.run(`DELETE FROM cabinet.delivery WHERE address_id = ${id}`)
  assert.strictEqual(await tellByAll(), 0)
  await pile(1_000)
  assert.strictEqual(await tellByAll(), 1)
  await there.runPromise(Addresses.use((all) => all.remove(id)))
  assert.strictEqual(await tellByAll(), 0)
})

it("a held feed gives a notice that names the session", async () => {
  const waits = Effect.promise(() =>
    vi.waitUntil(async () => (await tellByAll()) === 1, { timeout: 100_000, interval: 500 }),
  )
  await there.runPromise(whileAccepting(orders, "slow", waits))
  const [notice, ...more] = await sentNotices("feed.held")
  assert.lengthOf(more, 0)
  assert.strictEqual(notice.subject, "feed")
  assert.isAtLeast(notice.seconds, 10)
  assert.include(notice.by, "data-cabinet")
})

it("a source that usually receives gives one notice for each silence", async () => {
  const { id } = await newSource("Daily")
  const count = () => here.runPromise(ActivityStore.use((store) => store.countEvents(10_000, null)))
  for (let day = 0; day < 8; day++) {
    await accept(id, day < 7 ? { day: 1 } : { day: 1, added: true })
    await count()
    await pass("1 day")
  }
  const ofIt = async () => (await sentNotices("source.quiet")).filter(({ source_id }) => source_id === id)
  await tellByAll()
  assert.lengthOf(await ofIt(), 0)
  for (let n = 0; n < 3; n++) {
    await pass("1 day")
    await tellByAll()
    assert.lengthOf(await ofIt(), 1)
  }
  assert.deepInclude((await ofIt())[0], { source_name: "Daily", usual_seconds: 86_400 })
  const changed = (await sentNotices("fields.changed")).filter(({ source_id }) => source_id === id)
  expect(changed).toMatchObject([{ new: ["added"], kind_changed: [], missing: [], count: 1 }])
  assert.lengthOf(
    (await sentNotices("source.quiet")).filter(({ source_id }) => source_id === notices),
    0,
  )
})

it("a filling disk gives a notice, and another if it fills again after it had space", async () => {
  const look = async (percent: number) => {
    room = { path: "/var/lib/postgresql", freeBytes: percent * 1e9, totalBytes: 100e9 }
    return send()
  }
  const counts = []
  for (const percent of [50, 9, 8, 11, 9, 13, 9]) counts.push(await look(percent))
  room = null
  assert.deepStrictEqual(counts, [0, 1, 0, 0, 0, 0, 1])
  assert.deepInclude((await sentNotices("disk.filling"))[0], {
    subject: "disk",
    free_percent: 9,
    path: "/var/lib/postgresql",
  })
})

it("one of many processes checks each minute, and none while notices are off", async () => {
  const claim = () =>
    Promise.all([here, there, here, there].map((one) => one.runPromise(NoticeStore.use((store) => store.claimRound))))
  await pass("1 minute")
  expect((await claim()).filter(Boolean)).toHaveLength(1)
  expect((await claim()).filter(Boolean)).toHaveLength(0)
  await pass("-1 hour")
  expect((await claim()).filter(Boolean)).toHaveLength(1)
  const { on, source, latest } = await here.runPromise(Notices.use((all) => all.switchOff()))
  assert.deepStrictEqual([on, source?.id, latest.length], [false, notices, 20])
  await pass("5 minutes")
  expect((await claim()).filter(Boolean)).toHaveLength(0)
  await accept(orders, { while_off: 1 })
  assert.strictEqual(await tellByAll(), 0)
  const again = await there.runPromise(Notices.use((all) => all.switchOn()))
  assert.deepStrictEqual([again.on, again.source?.id, again.addresses], [true, notices, [carrier]])
  assert.strictEqual(await tellByAll(), 0)
  expect((await claim()).filter(Boolean)).toHaveLength(1)
})

it("a receiver's certificate that expires soon gives one notice, and none if no address uses it", async () => {
  const { ca, key, cert } = makeCertificates()
  const receiver = createSecureServer({ key, cert }, (request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done))
  const dir = mkdtempSync(join(tmpdir(), "dc-hosts-"))
  writeFileSync(join(dir, "hosts"), "127.0.0.1 good.test\n")
  const sending = Layer.merge(HttpCourier.layer(), PinnedAddressCheck.layer).pipe(
    Layer.provide(PinnedClient.layer({ allowedNetworks: [parseNetwork("127.0.0.0/8")!], ca: [ca] })),
    Layer.provide(NameLookup.layer({ hostsFile: join(dir, "hosts") })),
    Layer.provide(PgReceiverCertificates.layer),
  )
  const cabinet = testCabinet(database.url, { override: sending })
  // It is valid on this machine's clock, whatever the cabinet's clock shows.
  await database.run("UPDATE cabinet.clock SET shift = '0'")
  const url = `https://good.test:${(receiver.address() as AddressInfo).port}/hook`
  const { id } = await cabinet.runPromise(Addresses.use((all) => all.create({ url, sources: [orders] })))
  const { status: got } = await cabinet.runPromise(Addresses.use((all) => all.ping(id)))
  assert.strictEqual(got, 204)
  await vi.waitUntil(async () => (await tellByAll()) === 1, { timeout: 100_000, interval: 200 })
  const [notice] = await sentNotices("certificate.ending")
  assert.deepInclude(notice, { address_id: id, url, days_left: 1 })
  await cabinet.runPromise(Addresses.use((all) => all.ping(id)))
  assert.strictEqual(await tellByAll(), 0)
  await cabinet.runPromise(Addresses.use((all) => all.remove(id)))
  await cabinet.dispose()
  receiver.close()
  rmSync(dir, { recursive: true })
})

it("each client certificate that expires soon gives one notice, except one of a carrier of notices", async () => {
  const authority = new Authority("clients")
  const [soon, later, next] = [1, 40, 1].map((to) => authority.issue(`until ${to}`, { to }))
  authority.remove()
  const identityOf = ({ cert, key }: Issued) => ({ clientIdentity: { certificate: cert, key } })
  const url = "https://127.0.0.1:9/hook"
  const create = (issued: Issued, ...sources: ReadonlyArray<number>) =>
    addressOf({ url, sources, ...identityOf(issued) })
  const set = (id: number, issued: Issued) => here.runPromise(Addresses.use((all) => all.set(id, identityOf(issued))))
  /** The addresses of all notices, after every process has checked. */
  const about = async () => {
    await tellByAll()
    return (await sentNotices("client_certificate.ending")).map(({ address_id }) => address_id as number)
  }
  const [ending, lasting] = [await create(soon!), await create(later!)]
  const carrying = await create(soon!, notices)
  assert.deepStrictEqual(await about(), [ending.id])
  const [notice] = await sentNotices("client_certificate.ending")
  const { subject, fingerprint } = ending.clientCertificate!
  assert.deepInclude(notice, { address_id: ending.id, certificate: subject, fingerprint, days_left: 0 })
  assert.deepStrictEqual(await about(), [ending.id])
  // Another certificate is a cause of its own, even if it expires at the same time. A valid certificate gives no notice.
  await set(ending.id, next!)
  assert.deepStrictEqual(await about(), [ending.id, ending.id])
  await set(ending.id, later!)
  assert.deepStrictEqual(await about(), [ending.id, ending.id])
  await pass("30 days")
  assert.sameMembers(await about(), [ending.id, ending.id, ending.id, lasting.id])
  await database.run("UPDATE cabinet.clock SET shift = '0'")
  for (const { id } of [ending, lasting, carrying]) await here.runPromise(Addresses.use((all) => all.remove(id)))
})

it("each notice is a row of the table, and this test caused every kind", async () => {
  // A row waits while its table cannot be altered.
  const kinds = () => database.run("SELECT DISTINCT kind FROM sources.notices ORDER BY kind")
  await expect.poll(kinds).toEqual(NOTICE_KINDS.toSorted().map((kind) => ({ kind })))
})
